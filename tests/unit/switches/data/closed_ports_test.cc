// Parent ports that are closed, because something beyond them is broken (DN8).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
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
    options.closed.fill(closed);
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

// Ports 4 and 5 lead to where packets of one more level may turn round; those of two must take 5.
class ClosedToSome : public testing::Test {
 protected:
  ClosedToSome() : storage_(RouterChip::StorageUnits(Options())), chip_(Options(), storage_.data()) {}

  static RouterChip::Options Options() {
    RouterChip::Options options;
    options.children_mask = 0xf;
    options.parents = 2;
    options.closed[2] = 0x10;
    options.depth = kDepth;
    return options;
  }

  void Put(unsigned in, unsigned climb, uint32_t id) {
    const DataPacket packet = MakePacket(Climb(climb), id, 5, 0, id);
    CopyPacket(chip_.ReceiveSlot(in), &packet, 5);
    chip_.HandlePacket(in);
  }
  // Ids of what left, by port.
  std::array<std::vector<uint32_t>, kChipPorts> Route() {
    std::array<std::vector<uint32_t>, kChipPorts> left;
    chip_.Route(1000,
                [&](unsigned port, const DataPacket& packet, unsigned) {
                  left[port].push_back(packet.words[0]);
                },
                [](unsigned, uint32_t) {});
    chip_.CheckInvariants();
    return left;
  }

  std::vector<PacketUnit> storage_;
  RouterChip chip_;
};

TEST_F(ClosedToSome, ThoseThatClimbFurtherGoRound) {
  chip_.SetCredit(4, 100);
  chip_.SetCredit(5, 100);
  size_t near = 0;
  for (uint32_t round = 0; round < 20; ++round) {
    for (unsigned in = 0; in < kChildren; ++in) Put(in, 1 + in % 2, in);
    const auto left = Route();
    EXPECT_EQ(left[4].size() + left[5].size(), 4u);
    EXPECT_THAT(left[4], testing::Each(testing::AnyOf(0u, 2u)));
    near += left[4].size();
  }
  EXPECT_GT(near, 8u) << "the others take either";
  EXPECT_LT(near, 32u);
}

// Credit of the port that both may take goes to whoever waits longest, however much there is of the
// other port's.
TEST_F(ClosedToSome, NobodyStarves) {
  chip_.SetCredit(4, 1000);
  chip_.SetCredit(5, 0);
  uint32_t far = 0;
  for (uint32_t round = 0; round < 200; ++round) {
    for (unsigned in = 0; in < kChildren; ++in) {
      while (chip_.Space(in) != 0) Put(in, in == 3 ? 2 : 1, in);
    }
    if (round % 2 == 1) chip_.HandleCredit(5, 1);
    const auto left = Route();
    for (const uint32_t in : left[5]) far += in == 3 ? 1 : 0;
  }
  EXPECT_GE(far, 99u) << "its turn comes each time, for the others wait behind it";
  EXPECT_GT(chip_.stats().out[4], 300u);
}

TEST_F(ClosedPorts, AreForParentsOnly) {
  const RouterChip::Options options = Options(0x01);
  std::vector<PacketUnit> storage(RouterChip::StorageUnits(options));
  EXPECT_DEATH(RouterChip(options, storage.data()), "parent ports only");
}

TEST_F(ClosedPorts, OfARegionIgnoreAPeerThatSendsAllTheSame) {
  const FatTree tree(32, {2, 2, 4});
  RegionOptions options;
  options.parts = 2;
  options.depth = 4;
  options.ways.resize(tree.chips());
  const std::vector<CutWire> wires = CutWires(tree, 2);
  ASSERT_FALSE(wires.empty());
  uint32_t ours = 0;
  while (wires[ours].child_part != 0) ++ours;
  ChipWays& ways = options.ways[wires[ours].child_chip];
  ways.closed.fill(static_cast<uint8_t>(1u << wires[ours].child_port));
  ways.idle = ways.closed[1];
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
    options.ways.resize(tree.chips());
    options.ways[0].closed.fill(0x30);
    options.ways[0].idle = mapped_out ? 0x3f : 0x30;
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
