// What a data agent says when a neighbour, or the wire to it, breaks the network's promise: nothing
// is sent again, so a message that is lost ends the job (paper section 2, "nondelivery implies a
// broken system").
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "daemons/driver/data_agent.h"
#include "switches/data/region.h"
#include "switches/topology/fat_tree.h"
#include "switches/topology/link_names.h"
#include "tests/support/packets.h"

namespace vcm5 {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint32_t kLeaves = 16;
constexpr uint32_t kDepth = 4;

// A link whose far end is the test.
struct Wires {
  std::vector<DataPacket> packets;  // that arrive at the agent by wire 0
  absl::Status status;
};
class TestLink final : public Link {
 public:
  explicit TestLink(Wires* wires) : wires_(wires) {}

  void SendPacket(uint32_t, const DataPacket&, unsigned) override {}
  void SendCredit(uint32_t, uint32_t) override {}
  void Flush() override {}
  unsigned Receive(LinkReceiver& receiver) override {
    const std::vector<DataPacket> packets = std::exchange(wires_->packets, {});
    for (const DataPacket& packet : packets) {
      receiver.OnPacket(0, packet, data_header::Length(packet.header));
    }
    return static_cast<unsigned>(packets.size());
  }
  absl::Status status() const override { return wires_->status; }

 private:
  Wires* wires_;
};

// Part 0 of two, with nobody at its leaves.
class DataAgentLinksTest : public ::testing::Test {
 protected:
  DataAgentLinksTest() : bells_(Doorbell::BytesFor(kLeaves) / sizeof(uint64_t)) { Make({}); }
  void Make(std::vector<BrokenPart> broken) {
    DataAgentOptions options;
    options.spec.broken = std::move(broken);
    options.spec.nodes = kLeaves - 1;
    options.spec.link_depth = kDepth;
    options.parts = 2;
    options.partitions = {{0}};
    Doorbell::Create(bells_.data(), kLeaves);
    options.bells = {{Doorbell(bells_.data(), kLeaves), 0, 0, kLeaves / 2}};
    options.links.push_back(nullptr);
    options.links.push_back(std::make_unique<TestLink>(&wires_));
    agent_ = MakeDataAgent(std::move(options));
  }

  // A packet that has climbed as high as it must.
  static DataPacket ToLeaf0(uint32_t id) {
    const uint32_t path = FatTree::Route(kLeaves - 1, 0) >> kPathShift;
    return MakePacket(RoutingInstructions(0, path), 0, 3, 0, id);
  }

  Wires wires_;
  std::vector<uint64_t> bells_;
  std::unique_ptr<DataNetworkAgent> agent_;
};

TEST_F(DataAgentLinksTest, NamesThePlaceWhereADamagedMessageWasFound) {
  wires_.packets.push_back(ToLeaf0(1));
  wires_.packets.push_back(ToLeaf0(2));
  wires_.packets.back().words[1] ^= 0x40;
  while (agent_->DoWork() != 0) {
  }
  const std::vector<FabricError> errors = agent_->TakeErrors();
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_THAT(errors[0].message,
              HasSubstr("left data network: a message was damaged on the link from level 2 chip "));
}

TEST_F(DataAgentLinksTest, ANeighbourWithoutCreditIsNotHeardAgain) {
  for (uint32_t id = 0; id < kDepth + 2; ++id) wires_.packets.push_back(ToLeaf0(id));
  agent_->DoWork();
  const std::vector<FabricError> errors = agent_->TakeErrors();
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_EQ(errors[0].message, "data daemon 1 sent a packet without credit");
  wires_.packets.push_back(ToLeaf0(9));
  agent_->DoWork();
  EXPECT_THAT(wires_.packets, SizeIs(1));
}

// "The rest of the machine ignores" what a mapped-out chip signals, whatever it is.
TEST_F(DataAgentLinksTest, IgnoresANeighbourThatIsMappedOut) {
  const FatTree tree(kLeaves, {2, 2, 4});
  const CutWire wire = CutWires(tree, 2).front();
  ASSERT_EQ(wire.parent_part, 1u);
  Make({{.kind = BrokenPart::Kind::kChip, .halves = kLeftHalf, .level = 2,
         .number = ChipNumber(tree, wire.parent_chip)}});
  for (uint32_t id = 0; id < 3 * kDepth; ++id) wires_.packets.push_back(ToLeaf0(id));
  wires_.packets.front().words[0] ^= 1;
  while (agent_->DoWork() != 0) {
  }
  EXPECT_THAT(agent_->TakeErrors(), IsEmpty());
  EXPECT_THAT(agent_->Unbalanced(), IsEmpty());
  uint64_t ignored = 0;
  for (const FabricStat& stat : agent_->Stats()) {
    if (stat.name == "left: signals of mapped-out parts, ignored") ignored = stat.value;
  }
  EXPECT_EQ(ignored, 3 * kDepth);
  EXPECT_EQ(agent_->Counts().chips_out, 0u);
}

TEST_F(DataAgentLinksTest, SaysOnceThatALinkHasFailed) {
  wires_.status = absl::UnavailableError("the other end is gone");
  for (int i = 0; i < 3; ++i) agent_->DoWork();
  const std::vector<FabricError> errors = agent_->TakeErrors();
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_EQ(errors[0].message, "link from data daemon 0 to 1: the other end is gone");
  agent_->DoWork();
  EXPECT_THAT(agent_->TakeErrors(), IsEmpty());
}

}  // namespace
}  // namespace vcm5
