// What users have in a machine, as words, and what is said of words that are nothing of the kind.
#include "runtime/engines/saved_machine.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "netif/wire/crc32c.h"
#include "runtime/base/prng.h"
#include "runtime/engines/embedded.h"

namespace vcm5 {
namespace {

EmbeddedOptions TwoNodes(uint32_t data_fifo_depth = 16) {
  EmbeddedOptions options;
  options.spec.nodes = 2;
  options.spec.data_fifo_depth = data_fifo_depth;
  return options;
}

// Node 0 has begun a message, has sent two that nobody reads, and has asked for a sum alone.
SavedMachine Saved() {
  Embedded machine(TwoNodes());
  const absl::Status status = machine.Run([](vcm5_port& port) {
    if (port.self != 0) return;
    const uint32_t words[] = {1, 2, 3};
    EXPECT_TRUE(vcm5_port_send(&port, VCM5_LEFT, 1, 3, words, 3));
    EXPECT_TRUE(vcm5_port_send(&port, VCM5_LEFT, 1, 3, words, 3));
    vcm5_port_combine_first(&port, VCM5_ADD, VCM5_REDUCE, 2, 7);
    vcm5_port_control_word(&port, VCM5_FIFO_COMBINE, 8);
    vcm5_port_combine_first(&port, VCM5_ADD, VCM5_REDUCE, 3, 9);
    for (int turn = 0; turn < 10; ++turn) vcm5_port_miss(&port);
    vcm5_port_send_first(&port, VCM5_RIGHT, 1, 0, 2);
    vcm5_port_send_word(&port, VCM5_RIGHT, 5);
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(machine.Freeze().ok());
  absl::StatusOr<SavedMachine> saved = machine.Save();
  EXPECT_TRUE(saved.ok()) << saved.status();
  return *std::move(saved);
}

std::vector<uint32_t> Sealed(std::vector<uint32_t> words) {
  uint32_t crc = ~uint32_t{0};
  for (size_t i = 0; i + 1 < words.size(); ++i) crc = Crc32cStep32(crc, words[i]);
  words.back() = crc;
  return words;
}

std::string WhyNot(const SavedMachine& saved, const EmbeddedOptions& options) {
  Embedded machine(options);
  EXPECT_TRUE(machine.Freeze().ok());
  const absl::Status status = machine.Restore(saved);
  EXPECT_EQ(machine.Resume(), absl::OkStatus());
  return std::string(status.message());
}

TEST(SavedMachine, HoldsWhatIsInTheNetworkInterfaces) {
  const SavedMachine saved = Saved();
  const SavedNi& zero = saved.partitions[0].nodes[0].ni;
  const SavedNi& one = saved.partitions[0].nodes[1].ni;
  EXPECT_EQ(one.half[VCM5_LEFT].in.size(), 2u);
  ASSERT_EQ(zero.fifo[VCM5_FIFO_COMBINE].out.size(), 2u);
  EXPECT_EQ(zero.fifo[VCM5_FIFO_COMBINE].out[1].word, 8u);
  EXPECT_EQ(saved.partitions[0].nodes[0].port.fifo[VCM5_FIFO_COMBINE].partial.size(), 1u);
  EXPECT_EQ(saved.partitions[0].nodes[0].port.half[VCM5_RIGHT].pushed, 1u);
}

TEST(SavedMachine, GoesOnWhereItWas) {
  const SavedMachine saved = Saved();
  Embedded machine(TwoNodes(4));
  ASSERT_EQ(machine.Freeze(), absl::OkStatus());
  ASSERT_EQ(machine.Restore(saved), absl::OkStatus());
  ASSERT_EQ(machine.Resume(), absl::OkStatus());
  const absl::Status status = machine.Run([](vcm5_port& port) {
    if (port.self == 0) {
      vcm5_port_send_word(&port, VCM5_RIGHT, 6);
    } else {
      vcm5_port_combine_first(&port, VCM5_ADD, VCM5_REDUCE, 2, 10);
      vcm5_port_control_word(&port, VCM5_FIFO_COMBINE, 20);
      for (uint32_t message = 0; message < 2; ++message) {
        for (uint32_t word = 1; word <= 3; ++word) {
          EXPECT_EQ(vcm5_port_receive_word(&port, VCM5_LEFT), word);
        }
      }
      while (!vcm5_port_receive_ok(&port, VCM5_RIGHT)) {
      }
      EXPECT_EQ(vcm5_port_receive_word(&port, VCM5_RIGHT), 5u);
      EXPECT_EQ(vcm5_port_receive_word(&port, VCM5_RIGHT), 6u);
    }
    while (!vcm5_port_control_receive_ok(&port, VCM5_FIFO_COMBINE)) {
    }
    EXPECT_EQ(vcm5_port_control_receive_word(&port, VCM5_FIFO_COMBINE), 17u);
    EXPECT_EQ(vcm5_port_control_receive_word(&port, VCM5_FIFO_COMBINE), 28u);
  });
  EXPECT_TRUE(status.ok()) << status;
}

TEST(SavedMachine, IsReadBackAsItWas) {
  const std::vector<uint32_t> words = Saved().Encode();
  const absl::StatusOr<SavedMachine> read = SavedMachine::Decode(words);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->Encode(), words);
}

TEST(SavedMachine, SaysWhatIsWrongWithWords) {
  const std::vector<uint32_t> words = Saved().Encode();
  auto why = [](std::vector<uint32_t> of) {
    return std::string(SavedMachine::Decode(of).status().message());
  };
  EXPECT_EQ(why({}), "not the saved state of a machine");
  std::vector<uint32_t> other = words;
  other[1] = 9;
  EXPECT_EQ(why(other), "saved state of version 9, and this program reads version 1");
  other = words;
  other.pop_back();
  EXPECT_NE(why(other).find("words, of which"), std::string::npos);
  other = words;
  other[words.size() / 2] ^= 1;
  EXPECT_EQ(why(other), "saved state that is damaged: its checksum is wrong");
  other = words;
  other[3] = 2;
  EXPECT_EQ(why(Sealed(other)), "saved state that ends too early or too late");
}

TEST(SavedMachine, SaysWhyAMachineCannotGoOnWithIt) {
  const SavedMachine saved = Saved();
  EXPECT_EQ(WhyNot(saved, TwoNodes()), "");
  EXPECT_NE(WhyNot(saved, TwoNodes(1)).find("node 1: its left incoming FIFO holds 2, and there is "
                                            "room for 1"),
            std::string::npos);
  EmbeddedOptions three = TwoNodes();
  three.spec.nodes = 3;
  EXPECT_EQ(WhyNot(saved, three),
            "saved state of partition 0 has 2 nodes, and the machine's has 3");
  SavedMachine other = saved;
  other.partitions[0].nodes[1].ni.half[VCM5_LEFT].in[0].words[0] ^= 1;
  EXPECT_NE(WhyNot(other, TwoNodes()).find("is damaged"), std::string::npos);
  other = saved;
  ++other.partitions[0].nodes[0].port.half[VCM5_LEFT].out_tail;
  EXPECT_NE(WhyNot(other, TwoNodes()).find("is not where the network interface is"),
            std::string::npos);
  other = saved;
  other.partitions[0].captured[VCM5_LEFT].push_back({0, 2, {}});
  EXPECT_NE(WhyNot(other, TwoNodes()).find("is not between nodes"), std::string::npos);
  DataPacket of_system{};
  of_system.header = data_header::Make(0, 1, kFirstSystemTag, 0);
  of_system.crc = DataPacketCrc(of_system, 1, of_system.header);
  other = saved;
  other.partitions[0].captured[VCM5_LEFT].push_back({0, 1, of_system});
  EXPECT_NE(WhyNot(other, TwoNodes()).find("has a tag of the system"), std::string::npos);
  other = saved;
  other.partitions[0].nodes[1].ni.half[VCM5_LEFT].in[0] = of_system;
  EXPECT_NE(WhyNot(other, TwoNodes()).find("has a tag of the system"), std::string::npos);
}

// Whatever the words say: an error, or a machine that is whole and says so if it is not fit.
TEST(SavedMachine, SurvivesAnyWords) {
  const std::vector<uint32_t> words = Saved().Encode();
  Prng prng(1);
  uint32_t read = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<uint32_t> other = words;
    for (uint32_t changes = 1 + prng.Below(3); changes != 0; --changes) {
      uint32_t& word = other[3 + prng.Below(static_cast<uint32_t>(other.size() - 4))];
      word = prng.Chance(1, 2) ? prng.Below(40) : static_cast<uint32_t>(prng.Next());
    }
    const absl::StatusOr<SavedMachine> machine = SavedMachine::Decode(Sealed(other));
    if (!machine.ok()) continue;
    ++read;
    if (round % 10 == 0) WhyNot(*machine, TwoNodes());
  }
  EXPECT_GT(read, 100u);
}

}  // namespace
}  // namespace vcm5
