// Runs an example on a machine of its own, as a user does.
#ifndef VCM5_TESTS_EXAMPLES_RUN_EXAMPLE_H_
#define VCM5_TESTS_EXAMPLES_RUN_EXAMPLE_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace vcm5 {

struct MachineChoice {
  const char* engine;
  uint32_t nodes;
};

inline void PrintTo(const MachineChoice& choice, std::ostream* out) {
  *out << choice.nodes << " nodes, " << choice.engine;
}
std::string NameOf(const testing::TestParamInfo<MachineChoice>& info);

inline const MachineChoice kMachines[] = {{"embedded", 1},  {"embedded", 2}, {"embedded", 7},
                                          {"embedded", 16}, {"daemons", 1},  {"daemons", 2},
                                          {"daemons", 7},   {"daemons", 16}};

struct Outcome {
  int status;  // exit status; 128 + n after signal n
  std::string out;
  std::string err;
};

// `vcm5 run` with the example's name and its arguments; `input` is its standard input, `options` are
// further ones of vcm5.
Outcome RunExample(const MachineChoice& machine, const std::string& example,
                   const std::vector<std::string>& arguments, const std::string& input = "",
                   const std::vector<std::string>& options = {});

// A file of examples/data, and what is in it.
std::string DataPath(const std::string& name);
std::string ReadFile(const std::string& path);
// Writes a file for this test; returns its path.
std::string WriteTemporary(const std::string& name, const std::string& content);

}  // namespace vcm5

#endif  // VCM5_TESTS_EXAMPLES_RUN_EXAMPLE_H_
