// Messages of the system on whole machines (NI8, NI9): between partitions and their hosts, while
// programs run; and while the users of the machine are taken out of it and put back.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "daemons/driver/node_wake.h"
#include "netif/wire/data_packet.h"
#include "runtime/base/prng.h"
#include "runtime/engines/embedded.h"
#include "runtime/engines/saved_machine.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

EmbeddedOptions ThreePartitions(uint64_t seed) {
  EmbeddedOptions options;
  options.partitions = {{0, 1, 2, 3}, {4, 5, 6}, {16, 17, 18, 19, 20}};
  options.hosts = true;
  options.spec.nodes = 32;
  options.spec.control_processors = 3;
  options.spec.data_fifo_depth = 4;
  options.spec.link_depth = 4;
  options.seed = options.spec.seed = seed;
  return options;
}

// As PlaceHosts gives them: the control processors follow the nodes.
const std::vector<uint32_t> kMembers = {0, 1, 2, 3, 4, 5, 6, 16, 17, 18, 19, 20, 32, 33, 34};

// A message round the ring of the node's own partition.
void Ring(vcm5_port& port, int half, uint32_t round) {
  const uint32_t size = port.page->addresses;
  while (!vcm5_port_send(&port, half, (port.self + 1) % size, round % kFirstSystemTag, &round, 1)) {
    vcm5_port_miss(&port);
  }
  while (!vcm5_port_receive_ok(&port, half)) {
  }
  // Perhaps of another round: messages may overtake each other.
  const uint32_t tag = vcm5_port_receive_tag(&port, half);
  EXPECT_EQ(tag, vcm5_port_receive_word(&port, half) % kFirstSystemTag);
}

class SystemMessagesOfThreads : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Threads, SystemMessagesOfThreads, ::testing::Values(1u, 3u));

TEST_P(SystemMessagesOfThreads, ReachAllNodesAndHostsOfAllPartitions) {
  EmbeddedOptions options = ThreePartitions(1);
  options.threads = GetParam();
  Embedded machine(options);
  ASSERT_EQ(machine.nodes(), kMembers.size());
  constexpr uint32_t kRounds = 24;
  const auto size = static_cast<uint32_t>(kMembers.size());
  std::vector<uint32_t> came(size);  // each the node's own
  auto main_of = [&](uint32_t first_member, uint32_t host) {
    return [&, first_member, host](vcm5_port& port) {
      const uint32_t self =
          port.self == port.partition_size ? host : first_member + port.self;
      Supervisor supervisor = machine.supervisor(kMembers[self]);
      auto receive = [&] {
        vcm5_system_message message;
        for (int half = 0; half < VCM5_HALVES; ++half) {
          while (supervisor.ReceiveMessage(half, &message)) {
            EXPECT_EQ(message.address, kMembers[self]);
            EXPECT_EQ((message.words[0] + message.words[1]) % size, self);
            EXPECT_EQ(VCM5_SYSTEM_TAG_OF(message.control), 14 + message.words[1] % 2);
            ++came[self];
          }
        }
      };
      for (uint32_t round = 0; round < kRounds; ++round) {
        const uint32_t words[] = {self, round};
        while (!supervisor.SendMessage(static_cast<int>(round % 2), kMembers[(self + round) % size],
                                       14 + round % 2, words)) {
          vcm5_port_miss(&port);
        }
        Ring(port, static_cast<int>(round / 2 % 2), round);
        receive();
      }
      while (came[self] < kRounds) {
        vcm5_port_miss(&port);
        receive();
      }
    };
  };
  for (const absl::Status& status :
       machine.RunPartitions({main_of(0, 12), main_of(4, 13), main_of(7, 14)})) {
    EXPECT_EQ(status, absl::OkStatus());
  }
  EXPECT_EQ(came, std::vector<uint32_t>(size, kRounds));
}

// What a program has in the machine is all of its own: the system's messages are not saved with it,
// and stay when another's state takes its place.
TEST(SystemMessagesOfUsersWhoCome, AreNeitherSavedNorLost) {
  uint64_t cuts = 0;
  uint64_t captured = 0;  // of users
  ForEachSeed(10, [&](uint64_t seed) {
    Prng prng(seed);
    EmbeddedOptions options = ThreePartitions(seed);
    std::unique_ptr<Embedded> machine;
    std::vector<uint32_t> came;  // by id: how often
    std::vector<uint32_t> under_way(2 * kMembers.size());
    uint32_t arrived = 0;
    auto supervise = [&] {
      const auto from = prng.Below(static_cast<uint32_t>(kMembers.size()));
      const auto to = prng.Below(static_cast<uint32_t>(kMembers.size()));
      const int half = static_cast<int>(prng.Below(VCM5_HALVES));
      const auto id = static_cast<uint32_t>(came.size());
      if (id < 400 && under_way[2 * to + half] < VCM5_SYSTEM_DEPTH &&
          machine->supervisor(kMembers[from]).SendMessage(half, kMembers[to], 15, {&id, 1})) {
        came.push_back(0);
        ++under_way[2 * to + half];
      }
      vcm5_system_message message;
      while (machine->supervisor(kMembers[to]).ReceiveMessage(half, &message)) {
        ASSERT_LT(message.words[0], came.size());
        ++came[message.words[0]];
        ++arrived;
        --under_way[2 * to + half];
      }
    };
    auto cut = [&] {
      ++cuts;
      ASSERT_EQ(machine->Freeze(), absl::OkStatus());
      const absl::StatusOr<SavedMachine> saved = machine->Save();
      ASSERT_TRUE(saved.ok()) << saved.status();
      for (const SavedPartition& partition : saved->partitions) {
        for (const auto& half : partition.captured) {
          for (const SavedMessage& message : half) {
            ASSERT_FALSE(data_header::IsSystem(message.packet.header));
            ++captured;
          }
        }
      }
      ASSERT_EQ(machine->Restore(*saved), absl::OkStatus());
      ASSERT_EQ(machine->Resume(), absl::OkStatus());
    };
    bool running = false;
    options.on_switch = [&](uint32_t node, bool entering) {
      if (entering || !running || ::testing::Test::HasFatalFailure()) return;
      // Cuts and supervisors are no reason for a node to wait.
      vcm5_store_relaxed(&machine->page(kMembers[node])->node_control.waiting, NodeWake::kAwake);
      supervise();
      if (prng.Chance(1, 60)) cut();
    };
    machine = std::make_unique<Embedded>(options);
    // Programs receive so seldom that messages of both kinds wait in the network.
    auto node_main = [&](vcm5_port& port) {
      uint32_t sent = 0;
      uint32_t received = 0;
      for (uint32_t turn = 0; sent < 60 || received < 60; ++turn) {
        const auto half = static_cast<int>(turn % 2);
        const uint32_t to = (port.self + 1) % port.page->addresses;
        if (sent < 60 && vcm5_port_send(&port, half, to, 3, &turn, 1)) ++sent;
        if (turn % 12 < 2 && vcm5_port_peek(&port, half) != nullptr) {
          EXPECT_EQ(vcm5_port_receive_tag(&port, half), 3u);
          vcm5_port_receive_word(&port, half);
          vcm5_port_flush_half(&port, half);
          ++received;
        }
        vcm5_port_miss(&port);
      }
      for (int turn = 0; turn < 2000 && arrived < 400; ++turn) vcm5_port_miss(&port);
    };
    running = true;
    const auto statuses = machine->RunPartitions({node_main, node_main, node_main});
    for (const absl::Status& status : statuses) ASSERT_EQ(status, absl::OkStatus());
    ASSERT_EQ(arrived, 400u);
    ASSERT_EQ(came, std::vector<uint32_t>(400, 1));
  });
  if (std::getenv("VCM5_TEST_SEED") != nullptr) return;
  EXPECT_GT(cuts, 100u);
  EXPECT_GT(captured, 100u);
}

}  // namespace
}  // namespace vcm5
