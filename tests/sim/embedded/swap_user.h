// The user of a partition who can be taken out at any moment: a register program of every member.
#ifndef VCM5_TESTS_SIM_EMBEDDED_SWAP_USER_H_
#define VCM5_TESTS_SIM_EMBEDDED_SWAP_USER_H_

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/base/prng.h"
#include "tests/support/register_program.h"

namespace vcm5 {

using Programs = std::vector<RegisterProgram>;
using Answers = std::vector<std::array<uint64_t, VCM5_CONTROL_FIFOS>>;

// A program of every node, and what it must answer.
struct User {
  User(uint64_t seed, uint32_t nodes, const RegisterPlan::Options& options)
      : plan(seed, nodes, options) {
    for (uint32_t i = 0; i < nodes; ++i) programs.emplace_back(DeriveSeed(seed, i), i);
  }
  bool Done(uint32_t node) const { return programs[node].Done(plan); }
  bool Done() const {
    for (uint32_t node = 0; node < plan.nodes(); ++node) {
      if (!Done(node)) return false;
    }
    return true;
  }
  Answers Answer() const {
    Answers answers;
    for (const RegisterProgram& program : programs) {
      EXPECT_EQ(program.wrong(), RegisterProgram::kNothing);
      answers.push_back(program.answer());
    }
    return answers;
  }
  RegisterPlan plan;
  Programs programs;
};

inline RegisterPlan::Options RandomPlan(Prng& prng) {
  RegisterPlan::Options options;
  options.combines = prng.Below(20);
  options.syncs = prng.Below(20);
  options.broadcasts = prng.Below(8);
  options.epochs = prng.Below(4);
  options.messages = prng.Below(60);
  return options;
}

}  // namespace vcm5

#endif  // VCM5_TESTS_SIM_EMBEDDED_SWAP_USER_H_
