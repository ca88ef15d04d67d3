// What the NI does with all-fall-down messages: it captures them for the supervisor, and sends them
// again; the program never sees one, and can make none.
#include <gtest/gtest.h>

#include <cstring>

#include "netif/ni/data_port.h"
#include "runtime/base/prng.h"
#include "switches/topology/route_table.h"
#include "tests/support/ni_memory.h"
#include "tests/support/packets.h"

namespace vcm5 {
namespace {

constexpr int kHalf = VCM5_LEFT;
constexpr uint32_t kSelf = 3;
constexpr uint32_t kTrueDestination = 11;

class DataPortFallTest : public ::testing::Test {
 protected:
  DataPortFallTest() : memory_(MakeSpec(), kSelf), port_(memory_.PortOptions(kHalf, kSelf)) {
    memory_.Attach(&node_);
  }
  static MachineSpec MakeSpec() {
    MachineSpec spec;
    spec.nodes = 16;
    spec.words_max = 18;
    spec.data_fifo_depth = 4;
    return spec;
  }
  static DataPacket Fallen(uint32_t path = 1, unsigned length = 7) {
    DataPacket packet =
        MakePacket(RoutingInstructions(0, path), kTrueDestination, length, 12, 4711);
    return Resigned(packet, packet.header | data_header::kFalls);
  }
  static DataPacket Resigned(const DataPacket& original, uint64_t header) {
    DataPacket packet = original;
    packet.header = header;
    packet.crc = DataPacketCrc(packet, data_header::Length(header), header);
    return packet;
  }
  bool Capture(const DataPacket& packet, bool to_member = true) {
    captured_ = {};
    return port_.Capture(packet, data_header::Length(packet.header), to_member, &captured_);
  }
  void ExpectNothingToReceive() {
    port_.PublishDelivered();
    EXPECT_EQ(vcm5_port_peek(&node_, kHalf), nullptr);
    EXPECT_EQ(port_.delivered(), 0u);
  }

  NiMemory memory_;
  DataPort port_;
  vcm5_port node_;
  DataPacket captured_{};
};

TEST_F(DataPortFallTest, CapturesWhatFellAndTheProgramSeesNothing) {
  memory_.page()->node_data.interrupt_mask = 0xffff;
  ASSERT_TRUE(Capture(Fallen()));
  EXPECT_EQ(captured_.header, Fallen().header);
  EXPECT_TRUE(WordsAreOf(4711, captured_.words, 7));
  EXPECT_EQ(port_.PublishDelivered(), 0u) << "no interrupt";
  ExpectNothingToReceive();
}

TEST_F(DataPortFallTest, NeverDeliversAMarkedMessageNotEvenOneForThisNode) {
  for (const uint32_t path : {0u, 1u}) {
    const DataPacket packet =
        Resigned(Fallen(), data_header::Make(RoutingInstructions(0, path), 7, 3, kSelf) |
                               data_header::kFalls);
    EXPECT_EQ(port_.Deliver(packet, 7), Arrival::kDropped);
    EXPECT_EQ(port_.TakeReport().fault, DataPortFault::kMisdelivered);
  }
  ExpectNothingToReceive();
}

TEST_F(DataPortFallTest, AClosedPortCapturesForItIsNotItsProgramsMessage) {
  memory_.page()->node_data.out_tail[kHalf] = 1000;
  EXPECT_EQ(port_.Look(), 0u);
  ASSERT_TRUE(port_.failed());
  EXPECT_TRUE(Capture(Fallen()));
}

TEST_F(DataPortFallTest, RefusesWhatIsDamagedOrHasNotFallenToTheEnd) {
  DataPacket damaged = Fallen();
  damaged.words[6] ^= 1;
  EXPECT_FALSE(Capture(damaged));
  EXPECT_EQ(port_.TakeReport().fault, DataPortFault::kPrimary);
  EXPECT_FALSE(port_.Capture(Fallen(), 6, true, &captured_));
  EXPECT_EQ(port_.TakeReport().fault, DataPortFault::kPrimary);
  for (const uint32_t path : {0u, 4u, 0x41u}) {
    EXPECT_FALSE(Capture(Fallen(path)));
    EXPECT_EQ(port_.TakeReport().fault, DataPortFault::kMisdelivered);
  }
  EXPECT_FALSE(Capture(MakePacket(0, kSelf, 3, 0, 1))) << "not marked";
  port_.TakeReport();
  EXPECT_FALSE(Capture(Fallen(), false));
  const DataPortReport report = port_.TakeReport();
  EXPECT_EQ(report.fault, DataPortFault::kMisdelivered);
  EXPECT_EQ(report.value, kTrueDestination);
}

TEST_F(DataPortFallTest, SendsACapturedMessageToItsTrueDestinationFromHere) {
  ASSERT_TRUE(Capture(Fallen()));
  DataPacket packet;
  const uint32_t route = FatTree::Route(kSelf, kTrueDestination);
  ASSERT_TRUE(port_.Resend(captured_, route, &packet));
  EXPECT_EQ(packet.header, data_header::Make(route, 7, 12, kTrueDestination));
  EXPECT_TRUE(DataPacketCrcGood(packet));
  EXPECT_TRUE(WordsAreOf(4711, packet.words, 7));
  EXPECT_EQ(port_.taken(), 0u) << "the program's FIFO has no part in it";
}

TEST_F(DataPortFallTest, DoesNotSendAgainWhatWasDamagedMeanwhile) {
  ASSERT_TRUE(Capture(Fallen()));
  captured_.words[0] ^= 8;
  DataPacket packet;
  EXPECT_FALSE(port_.Resend(captured_, 0, &packet));
  EXPECT_EQ(port_.TakeReport().fault, DataPortFault::kPrimary);
  captured_ = Resigned(captured_, data_header::kFalls);
  EXPECT_FALSE(port_.Resend(captured_, 0, &packet)) << "no words";
}

// NI13: whatever a program writes into a slot, no mark leaves its NI.
TEST_F(DataPortFallTest, AProgramCannotSendAMarkedMessage) {
  std::vector<uint32_t> members(16);
  for (uint32_t i = 0; i < 16; ++i) members[i] = i;
  const RouteTable routes(16, members);
  Prng prng(1);
  uint32_t taken = 0;
  for (int i = 0; i < 20000; ++i) {
    uint64_t header = prng.Next();
    if (prng.Chance(3, 4)) {
      header = vcm5_send_header(prng.Below(16), prng.Below(14), 1 + prng.Below(5)) |
               (uint64_t{1} << prng.Below(64));
    }
    std::memcpy(vcm5_port_out_slot(&node_, kHalf), &header, sizeof header);
    vcm5_port_commit(&node_, kHalf);
    ASSERT_EQ(port_.Look(), 1u);
    DataPacket packet;
    if (port_.Take(routes, &packet)) {
      ++taken;
      ASSERT_FALSE(data_header::Falls(packet.header));
      ASSERT_EQ(packet.header & data_header::kZeroMask, 0u);
    }
    port_.PublishTaken();
  }
  EXPECT_GT(taken, 1000u);
}

}  // namespace
}  // namespace vcm5
