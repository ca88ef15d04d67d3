// Supervisors, asynchronous-OR interrupts and errors on an embedded machine.
#include "netif/port/supervisor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/engines/embedded.h"
#include "vcm5/node.hpp"

namespace vcm5 {
namespace {

constexpr uint32_t kNodes = 9;

EmbeddedOptions Options(unsigned threads = 1) {
  EmbeddedOptions options;
  options.spec.nodes = kNodes;
  options.threads = threads;
  return options;
}

class SupervisorTest : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Threads, SupervisorTest, ::testing::Values(1u, 3u));

TEST_P(SupervisorTest, AnInterruptBroadcastReachesNodesThatWait) {
  Embedded machine(Options(GetParam()));
  ASSERT_TRUE(machine.supervisor(4).Interrupt(1001));
  std::vector<uint32_t> words(kNodes);
  const absl::Status status = machine.Run([&](vcm5_port& port) {
    Node node(port);
    uint32_t* word = &words[node.self()];
    node.OnInterrupt([word](uint32_t came) { *word = came; });
    node.Barrier();
    if (node.self() == 0) {
      while (!machine.supervisor(4).Interrupt(1002)) node.Poll();
    }
    while (*word != 1002) node.Poll();
    node.Barrier();
  });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(words, std::vector<uint32_t>(kNodes, 1002));
}

TEST_P(SupervisorTest, SupervisorBroadcastsPassOperationsThatWait) {
  Embedded machine(Options(GetParam()));
  Supervisor listener = machine.supervisor(7);
  listener.Listen(VCM5_BROADCAST_SUPERVISOR);
  listener.Listen(VCM5_BROADCAST_UTILITY);
  const absl::Status status = machine.Run([&](vcm5_port& port) {
    Node node(port);
    if (node.self() != 0) {
      EXPECT_EQ(node.Reduce(kAdd, 1), int{kNodes});
      return;
    }
    // All others wait in the reduction meanwhile.
    Supervisor supervisor = machine.supervisor(0);
    for (uint32_t i = 0; i < 50; ++i) {
      const uint32_t words[] = {i, i + 1, i + 2, i + 3};
      while (!supervisor.Broadcast(std::span(words).first(1 + i % 4))) node.Poll();
      while (!supervisor.UtilityBroadcast({words, 1})) node.Poll();
      std::vector<uint32_t> message;
      while ((message = listener.Receive(VCM5_BROADCAST_SUPERVISOR)).empty()) node.Poll();
      EXPECT_EQ(message, std::vector<uint32_t>(words, words + 1 + i % 4));
      while ((message = listener.Receive(VCM5_BROADCAST_UTILITY)).empty()) node.Poll();
      EXPECT_EQ(message, std::vector<uint32_t>{i});
    }
    node.Reduce(kAdd, 1);
  });
  ASSERT_TRUE(status.ok()) << status;
}

TEST_P(SupervisorTest, TheAsynchronousOrInterruptsAsItRises) {
  Embedded machine(Options(GetParam()));
  const absl::Status status = machine.Run([&](vcm5_port& port) {
    Node node(port);
    int rises = 0;
    node.OnAsyncOr([&rises] { ++rises; });
    for (int round = 1; round <= 5; ++round) {
      node.Barrier();
      if (node.self() == static_cast<uint32_t>(round)) node.SetAsyncOr(true);
      while (rises < round) node.Poll();
      node.Barrier();
      node.SetAsyncOr(false);
      while (node.AsyncOr()) node.Poll();
    }
    EXPECT_EQ(rises, 5);
    EXPECT_FALSE(machine.supervisor(node.self()).AsyncOr());
    node.OnAsyncOr(nullptr);
    node.Barrier();
  });
  ASSERT_TRUE(status.ok()) << status;
}

TEST_P(SupervisorTest, TheSupervisorsAsynchronousOrAndHardErrors) {
  Embedded machine(Options(GetParam()));
  machine.supervisor(3).SetAsyncOr(true);
  machine.supervisor(5).SetHardError(true);
  const absl::Status status = machine.Run([&](vcm5_port& port) {
    Node node(port);
    while (!node.network_error().hard_error) node.Poll();
    while (!machine.supervisor(node.self()).AsyncOr()) node.Poll();
    EXPECT_FALSE(node.AsyncOr());
    EXPECT_EQ(machine.supervisor(node.self()).async_or_rises(), 1u);
    EXPECT_EQ(node.network_error().report, 0u);
    node.Barrier();
    if (node.self() == 5) machine.supervisor(5).SetHardError(false);
    while (node.network_error().hard_error) node.Poll();
  });
  ASSERT_TRUE(status.ok()) << status;
}

TEST_P(SupervisorTest, AProgramThatTriesAPrivilegedKindEndsItsJob) {
  Embedded machine(Options(GetParam()));
  // No objects on these stacks: nodes that are abandoned destroy none.
  const absl::Status status = machine.Run([](vcm5_port& port) {
    if (port.self == 6) {
      vcm5_port_control_first(&port, VCM5_FIFO_BROADCAST, VCM5_ENTRY_KIND(VCM5_BROADCAST_UTILITY),
                              1, 1);
    }
    for (;;) vcm5_port_miss(&port);
  });
  EXPECT_EQ(status.message(),
            "node 6: tried a privileged operation (a broadcast of a kind that only the supervisor "
            "may send); the port is closed");
}

TEST_P(SupervisorTest, DifferentOperationsEndTheJobByName) {
  Embedded machine(Options(GetParam()));
  const absl::Status status = machine.Run([](vcm5_port& port) {
    vcm5_port_combine_first(&port, port.self == 2 ? VCM5_MAX : VCM5_OR, VCM5_REDUCE, 1, 1);
    for (;;) vcm5_port_miss(&port);
  });
  // Who meets whom first depends on who comes first, but node 2 and node 3 have a parent in common.
  EXPECT_EQ(
      status.message(),
      "node 2: the control network signals: different operations met: a reduction with maximum "
      "of node 2, and a reduction with OR of node 3");
}

}  // namespace
}  // namespace vcm5
