// Hosts and nodes in the engine `embedded` (SY4): all collective operations, messages both ways,
// partitions with hosts and without, other orders, other threads. tests/process/host_test.cc runs the
// same exercise under the daemons.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/engines/embedded.h"
#include "tests/support/host_exercise.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

// Runs the exercise in each partition; what was wrong first.
std::string Exercise(const EmbeddedOptions& options) {
  Embedded machine(options);
  std::mutex mutex;
  std::string wrong;
  uint32_t ran = 0;
  const Embedded::NodeMain main = [&](vcm5_port& port) {
    Node node(port);
    const std::string said = HostExercise(node).Run();
    const std::lock_guard<std::mutex> lock(mutex);
    ++ran;
    if (wrong.empty()) wrong = said;
  };
  const std::vector<Embedded::NodeMain> mains(std::max<size_t>(options.partitions.size(), 1), main);
  for (const absl::Status& status : machine.RunPartitions(mains)) {
    if (!status.ok() && wrong.empty()) wrong = std::string(status.message());
  }
  if (ran != machine.nodes() && wrong.empty()) wrong = "some member did not come to the end";
  return wrong;
}

EmbeddedOptions MachineOf(uint32_t nodes) {
  EmbeddedOptions options;
  options.spec.nodes = nodes;
  options.spec.data_fifo_depth = 8;
  options.spec.link_depth = 4;
  options.hosts = true;
  return options;
}

// Not on the nodes' stacks, which are not unwound when a program is ended.
class NodesOfARunThatIsEnded {
 public:
  Node& Make(vcm5_port& port) { return nodes_.emplace_back(port); }

 private:
  std::deque<Node> nodes_;
};

TEST(Host, TakesPartInEverything) {
  for (const uint32_t nodes : {1, 2, 3, 4, 7, 16, 31, 64}) {
    EXPECT_EQ(Exercise(MachineOf(nodes)), "") << nodes << " nodes";
  }
}

TEST(Host, TakesPartWhateverTheOrder) {
  ForEachSeed(20, [](uint64_t seed) {
    EmbeddedOptions options = MachineOf(static_cast<uint32_t>(1 + seed % 9));
    options.random_schedule = true;
    options.seed = options.spec.seed = seed;
    EXPECT_EQ(Exercise(options), "");
  });
}

TEST(Host, TakesPartOnSeveralThreads) {
  EmbeddedOptions options = MachineOf(9);
  options.threads = 2;
  EXPECT_EQ(Exercise(options), "");
}

TEST(Host, EachPartitionHasItsOwn) {
  ForEachSeed(5, [](uint64_t seed) {
    EmbeddedOptions options = MachineOf(64);
    std::vector<uint32_t> nodes(64);
    std::iota(nodes.begin(), nodes.end(), 0u);
    const std::vector<uint32_t> sizes = {16, 5, 3};
    options.partitions = PlacePartitions(sizes, nodes).value();
    options.spec.control_processors = 3;
    options.random_schedule = seed != 1;
    options.seed = options.spec.seed = seed;
    EXPECT_EQ(Exercise(options), "");
  });
}

// A host that stops receiving holds up its own partition, and what others say to their hosts; not what
// their nodes say to each other, and not the control network.
TEST(Host, AJamAtOneReachesNoNodesOfOthers) {
  EmbeddedOptions options = MachineOf(64);
  std::vector<uint32_t> nodes(64);
  std::iota(nodes.begin(), nodes.end(), 0u);
  const std::vector<uint32_t> sizes = {16, 16};
  options.partitions = PlacePartitions(sizes, nodes).value();
  options.spec.control_processors = 2;
  uint32_t ended = 0;
  options.should_stop = [&ended] { return ended == 17; };
  Embedded machine(options);
  uint32_t refused = 0;
  const auto jam = [&refused](vcm5_port& port) {
    for (uint32_t turn = 0;; ++turn) {
      const uint32_t word = 1;
      const int half = static_cast<int>(turn % VCM5_HALVES);
      if (!vcm5_port_is_host(&port) &&
          vcm5_port_send(&port, half, port.partition_size, 0, &word, 1)) {
        continue;
      }
      ++refused;
      vcm5_port_miss(&port);
    }
  };
  const auto ring = [&](vcm5_port& port) {
    Node node(port);
    // Until nobody of the other partition can send any more.
    node.PollUntil([&] { return refused > 1000; });
    for (uint32_t round = 0; round < 50; ++round) {
      if (!node.is_host()) {
        node.Send((node.self() + 1) % node.size(), 1, round);
        EXPECT_EQ(node.Receive().As<uint32_t>(), round);
      }
      EXPECT_EQ(node.Reduce(kAdd, 1u), 17u);
    }
    ++ended;
  };
  const std::vector<absl::Status> statuses = machine.RunPartitions({jam, ring});
  EXPECT_EQ(statuses[0].code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(statuses[1].ok()) << statuses[1];
  EXPECT_EQ(ended, 17u);
}

TEST(Host, IsMissedInAPartitionWithoutOne) {
  EmbeddedOptions options = MachineOf(4);
  options.hosts = false;
  Embedded machine(options);
  NodesOfARunThatIsEnded nodes;
  const absl::Status status = machine.Run([&nodes](vcm5_port& port) {
    Node& node = nodes.Make(port);
    EXPECT_FALSE(node.has_host());
    EXPECT_FALSE(node.is_host());
    EXPECT_EQ(node.host(), 4u);
    const uint32_t word = 1;
    if (port.self == 0) vcm5_port_send(&port, VCM5_LEFT, node.host(), 0, &word, 1);
    node.Barrier();
    for (;;) node.Poll();
  });
  EXPECT_EQ(status.message(), "node 0: sent a message on the left data network to node 4, which is "
                              "outside the partition (0 to 3)");
}

// Errors name it.
TEST(Host, IsNamedInReports) {
  Embedded machine(MachineOf(4));
  absl::Status status = machine.Run([](vcm5_port& port) {
    const uint32_t word = 1;
    if (vcm5_port_is_host(&port)) vcm5_port_send(&port, VCM5_RIGHT, 7, 0, &word, 1);
    for (;;) vcm5_port_miss(&port);
  });
  EXPECT_EQ(status.message(), "host: sent a message on the right data network to node 7, which is "
                              "outside the partition (0 to 4)");
  EmbeddedOptions options = MachineOf(4);
  int asked = 0;
  options.should_stop = [&asked] { return ++asked > 3; };
  Embedded waiting(options);
  NodesOfARunThatIsEnded nodes;
  status = waiting.Run([&nodes](vcm5_port& port) {
    Node& node = nodes.Make(port);
    if (!node.is_host()) node.Barrier();
    for (;;) node.Poll();
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  const std::vector<std::string> lines = waiting.Waiting();
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.front(),
            "nodes 0-3 wait in a synchronous OR operation for host, which has not entered it");
}

TEST(Host, MeetsNodesThatDoSomethingElse) {
  Embedded machine(MachineOf(4));
  NodesOfARunThatIsEnded nodes;
  const absl::Status status = machine.Run([&nodes](vcm5_port& port) {
    Node& node = nodes.Make(port);
    if (node.is_host()) {
      node.ScanForward(kAdd, 1);
    } else {
      node.Reduce(kAdd, 1);
    }
  });
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("a forward scan with signed addition of host"), std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace vcm5
