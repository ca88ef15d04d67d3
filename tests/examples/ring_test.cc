#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "tests/examples/run_example.h"

namespace vcm5 {
namespace {

class RingTest : public testing::TestWithParam<MachineChoice> {};

TEST_P(RingTest, TokenVisitsEveryNode) {
  const uint64_t nodes = GetParam().nodes;
  const Outcome once = RunExample(GetParam(), "ring", {});
  EXPECT_EQ(once.status, 0) << once.err;
  EXPECT_EQ(once.out, std::to_string(nodes) + " nodes, 1 trip: the token is " +
                          std::to_string(nodes * (nodes - 1) / 2) + "\n");
  const Outcome often = RunExample(GetParam(), "ring", {"--trips", "50"});
  EXPECT_EQ(often.status, 0) << often.err;
  EXPECT_EQ(often.out, std::to_string(nodes) + " nodes, 50 trips: the token is " +
                           std::to_string(50 * (nodes * (nodes - 1) / 2)) + "\n");
}

INSTANTIATE_TEST_SUITE_P(Machines, RingTest, testing::ValuesIn(kMachines), NameOf);

}  // namespace
}  // namespace vcm5
