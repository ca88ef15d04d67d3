// What a campaign found: a row for each kind of fault.
#ifndef VCM5_TESTS_CAMPAIGN_TABLE_H_
#define VCM5_TESTS_CAMPAIGN_TABLE_H_

#include <array>
#include <cstdint>
#include <string>

#include "tests/campaign/scenario.h"

namespace vcm5::campaign {

// A run, or the sum of several; without pointers, so that it can cross a pipe.
struct Row {
  uint64_t runs = 0;
  uint64_t messages = 0;   // delivered
  uint64_t cuts = 0;       // all-fall-downs
  uint64_t captured = 0;   // messages, by them
  uint64_t faults = 0;     // times that a fault struck
  uint64_t struck = 0;     // runs in which one did
  uint64_t detected = 0;   // runs, as the following
  uint64_t localised = 0;
  uint64_t bad = 0;        // messages and results
  uint64_t lost = 0;       // messages, unnoticed
  uint64_t doubled = 0;    // the same
  uint64_t alarms = 0;
  uint64_t hangs = 0;      // runs
  uint64_t failed = 0;     // runs

  void Add(const Row& other);
  bool operator==(const Row&) const = default;
};

class Table {
 public:
  void Add(Kind kind, const Row& row) { rows_[static_cast<unsigned>(kind)].Add(row); }
  const Row& row(Kind kind) const { return rows_[static_cast<unsigned>(kind)]; }
  Row Total() const;

  std::string Text() const;
  // {"rows": [{"kind": "lose", "runs": 12, ...}, ...], "total": {...}}
  std::string Json(uint64_t seed) const;

  bool operator==(const Table&) const = default;

 private:
  std::array<Row, kKinds> rows_ = {};
};

// A run alone: its row, and what went wrong in it.
struct Result {
  Row row;
  Kind kind = Kind::kNothing;
  std::string why;
};
Result RunOne(const Scenario& scenario);

}  // namespace vcm5::campaign

#endif  // VCM5_TESTS_CAMPAIGN_TABLE_H_
