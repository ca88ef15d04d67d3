// Parent ports that are closed, because something beyond them is broken (DN8).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "switches/data/region.h"
#include "tests/support/packets.h"
#include "tests/unit/switches/data/chip_rig.h"

namespace vcm5 {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class ClosedPorts : public testing::Test {
 protected:
  static RouterChip::Options Options(uint8_t closed) {
    RouterChip::Options options;
    options.children_mask = 0xf;
    options.parents = 4;
    options.closed = closed;
    options.depth = kDepth;
    return options;
  }

  static std::vector<unsigned> Send(RouterChip& chip, unsigned packets) {
    std::vector<unsigned> ports;
    for (unsigned id = 0; id < packets; ++id) {
      const DataPacket packet = MakePacket(Climb(), id, 5, 0, id);
      CopyPacket(chip.ReceiveSlot(id % kChildren), &packet, 5);
      chip.HandlePacket(id % kChildren);
    }
    chip.Route(1000, [&](unsigned port, const DataPacket&, unsigned) { ports.push_back(port); },
               [](unsigned, uint32_t) {});
    chip.CheckInvariants();
    return ports;
  }
};

TEST_F(ClosedPorts, AreNeverChosen) {
  const RouterChip::Options options = Options(0x50);
  std::vector<PacketUnit> storage(RouterChip::StorageUnits(options));
  RouterChip chip(options, storage.data());
  chip.CheckInvariants();
  std::vector<unsigned> ports = Send(chip, 3 * kDepth);
  EXPECT_THAT(ports, SizeIs(2 * kDepth)) << "all the credit of two links";
  EXPECT_THAT(ports, testing::Each(testing::AnyOf(5u, 7u)));
  EXPECT_EQ(chip.stats().out[4] + chip.stats().out[6], 0u);
  EXPECT_GT(chip.stats().stalled_up, 0u);
}

TEST_F(ClosedPorts, OfAllLinksMakeClimbingImpossible) {
  const RouterChip::Options options = Options(0xf0);
  std::vector<PacketUnit> storage(RouterChip::StorageUnits(options));
  RouterChip chip(options, storage.data());
  EXPECT_THAT(Send(chip, 2), IsEmpty());
  EXPECT_EQ(chip.stats().misrouted, 2u) << "no packet waits for what never comes";
}

TEST_F(ClosedPorts, AreForParentsOnly) {
  const RouterChip::Options options = Options(0x01);
  std::vector<PacketUnit> storage(RouterChip::StorageUnits(options));
  EXPECT_DEATH(RouterChip(options, storage.data()), "closed");
}

TEST_F(ClosedPorts, OfARegionIgnoreAPeerThatSendsAllTheSame) {
  const FatTree tree(32, {2, 2, 4});
  RegionOptions options;
  options.parts = 2;
  options.depth = 4;
  options.closed.assign(tree.chips(), 0);
  const std::vector<CutWire> wires = CutWires(tree, 2);
  ASSERT_FALSE(wires.empty());
  uint32_t ours = 0;
  while (wires[ours].child_part != 0) ++ours;
  options.closed[wires[ours].child_chip] = static_cast<uint8_t>(1u << wires[ours].child_port);
  Region region(tree, options);
  EXPECT_TRUE(region.HandleWireCredit(ours, 1)) << "nothing was ever sent there, and nobody asks";
  const DataPacket packet = MakePacket(Descend(0), 0, 5, 0, 1);
  for (unsigned i = 0; i < 3 * options.depth; ++i) {
    EXPECT_TRUE(region.HandleWirePacket(ours, packet, 5));
  }
  EXPECT_EQ(region.ignored(), 1 + 3 * options.depth);
  uint32_t given = 0;
  region.TakeWireCredits([&](uint32_t wire, uint32_t packets) {
    EXPECT_EQ(wire, ours);
    given += packets;
  });
  EXPECT_EQ(given, 3 * options.depth);
  EXPECT_EQ(region.Run(), 0u);
  EXPECT_TRUE(region.Idle());
  uint64_t in;
  uint64_t out;
  EXPECT_FALSE(region.WireCounts(ours, &in, &out)) << "the peer has counted what nobody took";
  region.CheckInvariants();
}

// A chip that is mapped out may say what it likes.
TEST_F(ClosedPorts, OfAllLinksMakeAChipWhoseErrorsAreIgnored) {
  const FatTree tree(32, {2, 2, 4});
  for (const bool mapped_out : {false, true}) {
    RegionOptions options;
    options.closed.assign(tree.chips(), 0);
    options.closed[0] = mapped_out ? 0x3f : 0x30;
    Region region(tree, options);
    DataPacket packet = MakePacket(Climb(), 9, 5, 0, 1);
    CopyPacket(region.InjectSlot(2), &packet, 5);
    region.Inject(2);
    packet.words[0] ^= 1;
    CopyPacket(region.InjectSlot(3), &packet, 5);
    region.Inject(3);
    region.Run();
    EXPECT_TRUE(region.Idle());
    EXPECT_THAT(region.departures(), IsEmpty());
    EXPECT_THAT(region.faults(), SizeIs(mapped_out ? 0 : 1));
    EXPECT_EQ(region.ignored(), mapped_out ? 1u : 0u);
    EXPECT_EQ(region.chip(0).stats().dropped, 2u);
  }
}

}  // namespace
}  // namespace vcm5
