// Several programs at once on one machine, each in a partition of its own (DN9).
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <string>
#include <vector>

#include "switches/topology/link_fault.h"
#include "tests/sim/embedded/traffic.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

// A machine with a partition for each size.
EmbeddedOptions MachineOf(const std::vector<uint32_t>& sizes, uint64_t seed, unsigned threads) {
  EmbeddedOptions options;
  std::vector<uint32_t> nodes(1024);
  std::iota(nodes.begin(), nodes.end(), 0u);
  options.partitions = PlacePartitions(sizes, nodes).value();
  options.spec.nodes = PlacedNodes(options.partitions);
  options.spec.data_fifo_depth = 8;
  options.spec.link_depth = 4;
  options.seed = options.spec.seed = seed;
  options.threads = threads;
  return options;
}

// Adds up the addresses of the partition again and again, and sends them round a ring on the way.
// What is wrong goes to *wrong.
void SumAndRing(vcm5_port& port, uint32_t rounds, std::string* wrong) {
  const uint32_t size = port.partition_size;
  for (uint32_t round = 0; round < rounds && wrong->empty(); ++round) {
    const int half = round % 2 == 0 ? VCM5_LEFT : VCM5_RIGHT;
    const uint32_t word = 1000 * round + port.self;
    while (!vcm5_port_send(&port, half, (port.self + 1) % size, 3, &word, 1)) vcm5_port_miss(&port);
    while (!vcm5_port_receive_ok(&port, half)) {
    }
    if (vcm5_port_receive_word(&port, half) != 1000 * round + (port.self + size - 1) % size) {
      *wrong = "a message that is not the neighbour's";
    }
    vcm5_port_combine_first(&port, VCM5_ADD, VCM5_REDUCE, 1, port.self);
    while (!vcm5_port_control_receive_ok(&port, VCM5_FIFO_COMBINE)) {
    }
    if (vcm5_port_control_receive_word(&port, VCM5_FIFO_COMBINE) != size * (size - 1) / 2) {
      *wrong = "a sum that is not the partition's";
    }
  }
}

// Sends as much as it can to everybody, and never receives.
void Flood(vcm5_port& port) {
  for (uint32_t to = port.self;; to = (to + 1) % port.partition_size) {
    for (int half = 0; half < VCM5_HALVES; ++half) {
      if (!vcm5_port_send(&port, half, to, 0, &to, 1)) vcm5_port_miss(&port);
    }
  }
}

TEST(Partitions, RunProgramsOfTheirOwnAtTheSameTime) {
  ForEachSeed(12, [](uint64_t seed) {
    Prng prng(seed);
    const std::vector<uint32_t> sizes = {1 + prng.Below(20), 1 + prng.Below(20), 1 + prng.Below(5)};
    EmbeddedOptions options = MachineOf(sizes, seed, 1 + static_cast<unsigned>(seed % 2));
    options.random_schedule = prng.Chance(1, 2);
    options.should_stop = StopAHang();
    Embedded machine(std::move(options));
    std::vector<std::string> wrong(sizes.size());
    std::vector<Embedded::NodeMain> mains;
    for (std::string& of : wrong) {
      mains.emplace_back([&of](vcm5_port& port) { SumAndRing(port, 20, &of); });
    }
    for (const absl::Status& status : machine.RunPartitions(mains)) EXPECT_TRUE(status.ok()) << status;
    for (const std::string& of : wrong) EXPECT_EQ(of, "");
  });
}

// Packets on the links of the chips above the partitions.
uint64_t TrafficAbove(const Embedded& machine, unsigned level) {
  uint64_t sum = 0;
  for (const FabricStat& stat : machine.Stats()) {
    const std::string name = "level " + std::to_string(level);
    if (stat.is_link && stat.name.find(name) != std::string::npos) sum += stat.value;
  }
  return sum;
}

TEST(Partitions, AFloodAndADeadlockReachNobodyElse) {
  for (const unsigned threads : {1u, 2u}) {
    EmbeddedOptions options = MachineOf({16, 16, 4}, 1, threads);
    std::atomic<int> looks{0};
    std::atomic<bool> calm_over{false};
    // The flood would last for ever: it is ended some time after the calm program.
    options.should_stop = [&] { return calm_over && ++looks > 3; };
    Embedded machine(std::move(options));
    std::string wrong;
    std::atomic<uint32_t> calm_nodes{16};
    const std::vector<absl::Status> statuses = machine.RunPartitions(
        {[](vcm5_port& port) { Flood(port); },
         [&](vcm5_port& port) {
           SumAndRing(port, 200, &wrong);
           if (--calm_nodes == 0) calm_over = true;
         },
         [](vcm5_port& port) {
           // A barrier that one node never enters.
           if (port.self == 0) return;
           vcm5_port_control_first(&port, VCM5_FIFO_SYNC_OR, 0, 1, 0);
           while (!vcm5_port_control_receive_ok(&port, VCM5_FIFO_SYNC_OR)) {
           }
         }});
    EXPECT_TRUE(absl::IsDeadlineExceeded(statuses[0])) << statuses[0];
    EXPECT_TRUE(statuses[1].ok()) << statuses[1];
    EXPECT_EQ(wrong, "");
    EXPECT_TRUE(absl::IsDeadlineExceeded(statuses[2])) << statuses[2];
    EXPECT_GT(TrafficAbove(machine, 2), 0u);
    EXPECT_EQ(TrafficAbove(machine, 3), 0u) << "a packet left its partition's subtree";
  }
}

TEST(Partitions, AnErrorEndsOnlyThePartitionOfItsNode) {
  Embedded machine(MachineOf({16, 20}, 1, 1));
  std::string wrong;
  const std::vector<absl::Status> statuses = machine.RunPartitions(
      {[&](vcm5_port& port) { SumAndRing(port, 300, &wrong); },
       [](vcm5_port& port) {
         // Relative address 20 is nobody's, though the machine has that node.
         const uint32_t word = 0;
         if (port.self == 7) vcm5_port_send(&port, VCM5_LEFT, 20, 0, &word, 1);
         for (;;) vcm5_port_miss(&port);
       }});
  EXPECT_TRUE(statuses[0].ok()) << statuses[0];
  EXPECT_EQ(wrong, "");
  EXPECT_TRUE(absl::IsFailedPrecondition(statuses[1])) << statuses[1];
  EXPECT_NE(statuses[1].message().find("node 1:7: "), std::string::npos) << statuses[1];
  EXPECT_NE(statuses[1].message().find("to node 20, which is outside"), std::string::npos) << statuses[1];
}

LinkFault FaultOf(uint32_t leaf, LinkFault::Kind kind) {
  LinkFault fault;
  fault.half = VCM5_LEFT;
  fault.from = LeafEnd(leaf);
  fault.kind = kind;
  fault.bit = 100;
  return fault;
}

// CN8: all nodes of the partition hear of the damage before it ends; nobody else does.
TEST(Partitions, DamageIsToldToThePartitionWhoseMessagesPassThere) {
  ForEachSeed(12, [](uint64_t seed) {
    const unsigned threads = 1 + static_cast<unsigned>(seed % 2);
    EmbeddedOptions options = MachineOf({16, 20}, seed, threads);
    options.random_schedule = seed % 3 == 0;
    options.should_stop = StopAHang();
    options.spec.link_faults.push_back(
        FaultOf(options.partitions[1][7], LinkFault::Kind::kFlip));
    Embedded machine(std::move(options));
    std::string wrong;
    std::atomic<uint32_t> heard{0};
    const std::vector<absl::Status> statuses = machine.RunPartitions(
        {[&](vcm5_port& port) {
           SumAndRing(port, 300, &wrong);
           if (vcm5_port_hard_error(&port)) wrong = "heard of a hard error elsewhere";
         },
         [&](vcm5_port& port) {
           const uint32_t word = 0;
           if (port.self == 7) vcm5_port_send(&port, VCM5_LEFT, 3, 0, &word, 1);
           while (!vcm5_port_hard_error(&port)) vcm5_port_miss(&port);
           ++heard;
           for (;;) vcm5_port_miss(&port);
         }});
    EXPECT_TRUE(statuses[0].ok()) << statuses[0];
    EXPECT_EQ(wrong, "");
    EXPECT_TRUE(absl::IsFailedPrecondition(statuses[1])) << statuses[1];
    EXPECT_EQ(statuses[1].message(),
              "left data network: a message was damaged on the link from leaf 71 to level 1 chip 17 "
              "port 3");
    // With several threads rounds are no measure of what another one has done.
    if (threads == 1) {
      EXPECT_EQ(heard, 20u);
    }
  });
}

TEST(Partitions, ALossIsOneOfThePartitionWhoseMessagesPassThere) {
  EmbeddedOptions options = MachineOf({16, 20}, 1, 1);
  options.spec.link_faults.push_back(FaultOf(3, LinkFault::Kind::kLose));
  Embedded machine(std::move(options));
  std::string wrong;
  const std::vector<absl::Status> statuses = machine.RunPartitions(
      {[](vcm5_port& port) {
         const uint32_t word = 0;
         if (port.self == 3) vcm5_port_send(&port, VCM5_LEFT, 5, 0, &word, 1);
       },
       [&](vcm5_port& port) { SumAndRing(port, 10, &wrong); }});
  EXPECT_TRUE(absl::IsDataLoss(statuses[0])) << statuses[0];
  EXPECT_TRUE(statuses[1].ok()) << statuses[1];
  EXPECT_EQ(wrong, "");
}

// The way to the second partition's host, a leaf far away, passes above the first.
TEST(Partitions, OnlyWhoHasAHostIsConcernedByTheWayToIt) {
  for (const bool of_host : {false, true}) {
    EmbeddedOptions options = MachineOf({16, 20}, 1, 1);
    options.spec.control_processors = 1;
    const uint32_t host = options.spec.nodes;
    options.partitions[1].push_back(host);
    options.spec.link_faults.push_back(FaultOf(of_host ? host : 3, LinkFault::Kind::kLose));
    Embedded machine(std::move(options));
    const auto one_sends = [](uint32_t sender) {
      return [sender](vcm5_port& port) {
        const uint32_t word = 0;
        if (port.self == sender) vcm5_port_send(&port, VCM5_LEFT, 1, 0, &word, 1);
      };
    };
    const std::vector<absl::Status> statuses = machine.RunPartitions({one_sends(3), one_sends(20)});
    EXPECT_EQ(absl::IsDataLoss(statuses[0]), !of_host) << statuses[0];
    EXPECT_EQ(absl::IsDataLoss(statuses[1]), of_host) << statuses[1];
    EXPECT_TRUE(statuses[of_host ? 0 : 1].ok());
  }
}

TEST(Partitions, AreRefusedWhereTheyShareChips) {
  EmbeddedOptions options;
  options.spec.nodes = 32;
  options.partitions = {{0, 1, 2}, {3, 4}};
  EXPECT_DEATH(Embedded{options}, "share chips");
}

}  // namespace
}  // namespace vcm5
