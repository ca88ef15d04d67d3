#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "tests/examples/run_example.h"

namespace vcm5 {
namespace {

// SplitMix64 and the table and reads that the example makes of it.
uint64_t Mix(uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::string Expected(uint64_t entries, uint64_t reads, uint64_t seed) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < reads; ++i) {
    sum += Mix((Mix(seed * 0x9e3779b9 + i) % entries) ^ 0x5eed);
  }
  return std::to_string(reads) + " reads of " + std::to_string(entries) + " entries: sum " +
         std::to_string(sum) + ", 0 wrong\n";
}

class FetchTest : public testing::TestWithParam<MachineChoice> {};

TEST_P(FetchTest, ReadsWhatIsThere) {
  const Outcome outcome = RunExample(GetParam(), "fetch", {"--reads=30000", "--seed=3"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, Expected(65536, 30000, 3));
}

TEST_P(FetchTest, FewEntriesAreHotSpots) {
  const Outcome outcome = RunExample(GetParam(), "fetch", {"--reads=20000", "--entries=2"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, Expected(2, 20000, 1));
}

INSTANTIATE_TEST_SUITE_P(Machines, FetchTest, testing::ValuesIn(kMachines), NameOf);

}  // namespace
}  // namespace vcm5
