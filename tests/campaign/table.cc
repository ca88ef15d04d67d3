#include "tests/campaign/table.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/campaign/judge.h"
#include "tests/campaign/run.h"

namespace vcm5::campaign {
namespace {

struct Column {
  const char* name;   // of the field
  const char* title;  // of two lines
  const char* below;
  uint64_t Row::*value;
};
constexpr Column kColumns[] = {
    {"runs", "", "runs", &Row::runs},
    {"messages", "", "messages", &Row::messages},
    {"cuts", "all-fall-", "downs", &Row::cuts},
    {"captured", "messages", "captured", &Row::captured},
    {"faults", "faults", "struck", &Row::faults},
    {"struck", "runs", "struck", &Row::struck},
    {"detected", "", "detected", &Row::detected},
    {"localised", "", "localised", &Row::localised},
    {"bad", "delivered", "bad", &Row::bad},
    {"lost", "lost,", "unnoticed", &Row::lost},
    {"duplicated", "doubled,", "unnoticed", &Row::doubled},
    {"false_alarms", "false", "alarms", &Row::alarms},
    {"hangs", "", "hangs", &Row::hangs},
    {"failed", "runs", "failed", &Row::failed},
};
constexpr int kWidth = 11;

std::string Line(const std::string& name, const Row& row) {
  std::string line = absl::StrFormat("%-26s", name);
  for (const Column& column : kColumns) absl::StrAppendFormat(&line, "%*d", kWidth, row.*column.value);
  return line + "\n";
}

std::string JsonOf(const char* kind, const Row& row) {
  std::string text = absl::StrCat("{\"kind\": \"", kind, "\"");
  for (const Column& column : kColumns) {
    absl::StrAppend(&text, ", \"", column.name, "\": ", row.*column.value);
  }
  return text + "}";
}

}  // namespace

void Row::Add(const Row& other) {
  for (const Column& column : kColumns) this->*column.value += other.*column.value;
}

Row Table::Total() const {
  Row total;
  for (const Row& row : rows_) total.Add(row);
  return total;
}

std::string Table::Text() const {
  std::string text = absl::StrFormat("%-26s", "");
  for (const Column& column : kColumns) absl::StrAppendFormat(&text, "%*s", kWidth, column.title);
  absl::StrAppendFormat(&text, "\n%-26s", "kind of fault");
  for (const Column& column : kColumns) absl::StrAppendFormat(&text, "%*s", kWidth, column.below);
  text += "\n";
  for (unsigned kind = 0; kind < kKinds; ++kind) {
    text += Line(KindName(static_cast<Kind>(kind)), rows_[kind]);
  }
  return text + Line("all", Total());
}

std::string Table::Json(uint64_t seed) const {
  std::string text = absl::StrCat("{\"seed\": ", seed, ",\n \"rows\": [");
  for (unsigned kind = 0; kind < kKinds; ++kind) {
    absl::StrAppend(&text, kind == 0 ? "\n  " : ",\n  ",
                    JsonOf(KindName(static_cast<Kind>(kind)), rows_[kind]));
  }
  return absl::StrCat(text, "],\n \"total\": ", JsonOf("all", Total()), "}\n");
}

Result RunOne(const Scenario& scenario) {
  const Observed observed = Carry(scenario);
  const Verdict verdict = Judge(scenario, observed);
  Result result;
  result.kind = scenario.kind;
  result.why = verdict.why;
  Row& row = result.row;
  row.runs = 1;
  row.messages = observed.messages;
  row.cuts = observed.cuts;
  row.captured = observed.captured;
  row.faults = observed.struck.all();
  row.struck = row.faults != 0 ? 1 : 0;
  row.detected = verdict.detected ? 1 : 0;
  row.localised = verdict.localised ? 1 : 0;
  row.bad = verdict.bad;
  row.lost = verdict.lost;
  row.doubled = verdict.doubled;
  row.alarms = verdict.alarms;
  row.hangs = verdict.hang ? 1 : 0;
  row.failed = verdict.why.empty() ? 0 : 1;
  return result;
}

}  // namespace vcm5::campaign
