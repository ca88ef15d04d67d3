#include <array>
#include <map>
#include <vector>

#include "runtime/base/check.h"
#include "switches/data/region.h"
#include "tests/support/fuzz_input.h"
#include "tests/support/fuzz_targets.h"
#include "tests/support/packets.h"

namespace vcm5 {
namespace {

// Any bytes at all, or routing instructions that make sense here and there with a good CRC.
DataPacket ArbitraryPacket(FuzzInput& input, unsigned words_max) {
  DataPacket packet = MakePacket(input.Take<uint32_t>() & 0xffffff, 7, 1 + input.Below(words_max),
                                 input.Below(kTags), 4711);
  switch (input.Below(5)) {
    case 0:
      packet.header = input.Take<uint64_t>();
      packet.crc = input.Take<uint32_t>();
      break;
    case 1:
      packet.crc ^= input.Take<uint32_t>();
      break;
    case 2:
      packet.header &= ~uint64_t{0xe};  // climbs one level at most
      packet.crc = DataPacketCrc(packet, data_header::Length(packet.header), packet.header);
      break;
    case 3:
      packet.header |= data_header::kFalls;
      packet.crc = DataPacketCrc(packet, data_header::Length(packet.header), packet.header);
      break;
    default:
      break;
  }
  return packet;
}

// What a chip lets out: nothing that is damaged and does not say so.
bool SoundOrMarked(const DataPacket& packet) {
  return DataPacketCrcGood(packet) || DataPacketCrcMarked(packet);
}

class ChipFuzz {
 public:
  explicit ChipFuzz(FuzzInput* input)
      : input_(input),
        options_(MakeOptions(input)),
        storage_(RouterChip::StorageUnits(options_)),
        chip_(options_, storage_.data()),
        words_max_(options_.words_max) {}

  void Run() {
    while (!input_->done()) {
      const unsigned port = input_->Below(kChipPorts);
      switch (input_->Below(5)) {
        case 0:
        case 1:
          if (!Linked(port) || chip_.Space(port) == 0) break;
          CopyPacket(chip_.ReceiveSlot(port), Arbitrary(), words_max_);
          chip_.HandlePacket(port);
          break;
        case 2:
          Route(input_->Take<uint8_t>());
          break;
        case 3:
          if (outstanding_[port] == 0) break;
          --outstanding_[port];
          chip_.HandleCredit(port, 1);
          break;
        case 4:
          chip_.SetAllFallDown(input_->Below(2) != 0);
          break;
      }
      chip_.CheckInvariants();
    }
    while (chip_.occupied()) {
      for (unsigned port = 0; port < kChipPorts; ++port) {
        if (outstanding_[port] == 0) continue;
        chip_.HandleCredit(port, outstanding_[port]);
        outstanding_[port] = 0;
      }
      VCM5_CHECK_MSG(Route(1000) != 0, "a chip with credit must move");
      chip_.CheckInvariants();
    }
  }

 private:
  static RouterChip::Options MakeOptions(FuzzInput* input) {
    RouterChip::Options options;
    options.children_mask = static_cast<uint8_t>(input->Below(16));
    options.parents = static_cast<uint8_t>(input->Below(5));
    options.depth = 1u << input->Below(4);
    options.words_max = input->Below(2) == 0 ? kCm5WordsMax : kCm5eWordsMax;
    options.seed = input->Take<uint64_t>();
    return options;
  }
  bool Linked(unsigned port) const {
    return port < kChildren ? (options_.children_mask >> port & 1) != 0
                            : port - kChildren < options_.parents;
  }
  const DataPacket* Arbitrary() {
    packet_ = ArbitraryPacket(*input_, words_max_);
    return &packet_;
  }
  unsigned Route(unsigned budget) {
    const unsigned moved = chip_.Route(
        budget,
        [&](unsigned out, const DataPacket& packet, unsigned length) {
          VCM5_CHECK(Linked(out) && ++outstanding_[out] <= options_.depth);
          VCM5_CHECK(length == data_header::Length(packet.header) && SoundOrMarked(packet));
          VCM5_CHECK(out < kChildren || !data_header::Falls(packet.header));
          VCM5_CHECK(out < kChildren || !chip_.all_fall_down());
        },
        [&](unsigned in, uint32_t slots) { VCM5_CHECK(Linked(in) && slots != 0); });
    VCM5_CHECK(moved <= budget);
    return moved;
  }

  FuzzInput* input_;
  RouterChip::Options options_;
  std::vector<PacketUnit> storage_;
  RouterChip chip_;
  unsigned words_max_;
  DataPacket packet_;
  std::array<uint32_t, kChipPorts> outstanding_{};  // packets sent whose credit has not come back
};

class RegionFuzz {
 public:
  explicit RegionFuzz(FuzzInput* input)
      : input_(input),
        tree_(1 + input->Below(80), {1 + input->Below(4), 2}),
        options_(MakeOptions(input, tree_)),
        faulty_(!options_.link_faults.empty()),
        wires_(static_cast<uint32_t>(CutWires(tree_, options_.parts).size())),
        region_(tree_, options_) {}

  void Run() {
    while (!input_->done()) {
      const uint32_t wire = wires_ != 0 ? input_->Take<uint16_t>() % wires_ : 0;
      switch (input_->Below(6)) {
        case 0:
          Inject();
          break;
        case 1:
          if (wires_ == 0) break;
          packet_ = ArbitraryPacket(*input_, options_.words_max);
          region_.HandleWirePacket(wire, packet_, 1 + input_->Below(options_.words_max));
          break;
        case 2:
          if (wires_ == 0) break;
          region_.HandleWireCredit(wire, input_->Take<uint32_t>() >> input_->Below(32));
          break;
        case 3:
          RunRegion();
          break;
        case 4:
          GiveCredit();
          break;
        case 5:
          GiveCredit();
          region_.SetAllFallDown(input_->Below(region_.chips()), input_->Below(2) != 0);
          break;
      }
      region_.CheckInvariants();
    }
    for (int quiet = 0; !region_.Idle();) {
      const bool gave = GiveCredit();
      quiet = RunRegion() == 0 && !gave ? quiet + 1 : 0;
      VCM5_CHECK_MSG(quiet < 3, "a region with credit must empty");
    }
  }

 private:
  static RegionOptions MakeOptions(FuzzInput* input, const FatTree& tree) {
    RegionOptions options;
    options.parts = 1 + input->Below(std::min(tree.nodes_at(1), 4u));
    options.part = input->Below(options.parts);
    options.depth = 1u << input->Below(3);
    options.words_max = input->Below(2) == 0 ? kCm5WordsMax : kCm5eWordsMax;
    options.leaf_credit = 1 + input->Below(4);
    for (uint32_t faults = input->Below(4); faults != 0; --faults) {
      LinkFault fault;
      fault.from = input->Below(2) == 0
                       ? LeafEnd(input->Below(tree.leaves()))
                       : ChipEnd(input->Below(tree.chips()), input->Below(kChipPorts));
      if (FarEnd(tree, fault.from).kind == LinkEnd::Kind::kNothing) continue;
      fault.kind = static_cast<LinkFault::Kind>(input->Below(3));
      fault.bit = input->Below(8 * (12 + 4 * options.words_max));
      fault.first = 1 + input->Below(4);
      fault.every = input->Below(4);
      options.link_faults.push_back(fault);
    }
    return options;
  }
  void Inject() {
    const uint32_t leaf =
        region_.first_leaf() + input_->Below(region_.last_leaf() - region_.first_leaf());
    if (region_.InjectSpace(leaf) == 0) return;
    packet_ = ArbitraryPacket(*input_, options_.words_max);
    CopyPacket(region_.InjectSlot(leaf), &packet_, options_.words_max);
    region_.Inject(leaf);
  }
  unsigned RunRegion() {
    const unsigned moved = region_.Run();
    for (size_t i = 0; i < region_.departures().size(); ++i) {
      const Departure& departure = region_.departures()[i];
      VCM5_CHECK(faulty_ || SoundOrMarked(region_.departure_packet(i)));
      outstanding_[departure.port]++;
    }
    region_.ClearDepartures();
    region_.TakeWireCredits(
        [&](uint32_t wire, uint32_t packets) { VCM5_CHECK(wire < wires_ && packets != 0); });
    return moved;
  }
  bool GiveCredit() {
    const bool any = !outstanding_.empty();
    for (const auto& [port, packets] : outstanding_) {
      if ((port & Departure::kWireBit) == 0) {
        VCM5_CHECK(packets <= options_.leaf_credit + options_.depth);
        region_.HandleLeafCredit(port, packets);
      } else {
        // The liar may have given some of it already.
        for (uint32_t i = 0; i < packets; ++i) {
          region_.HandleWireCredit(port & ~Departure::kWireBit, 1);
        }
      }
    }
    outstanding_.clear();
    return any;
  }

  FuzzInput* input_;
  FatTree tree_;
  RegionOptions options_;
  bool faulty_;  // links flip bits behind the last chip, too
  uint32_t wires_;
  Region region_;
  DataPacket packet_;
  std::map<uint32_t, uint32_t> outstanding_;  // by Departure::port
};

}  // namespace

void FuzzRouterChip(const uint8_t* data, size_t size) {
  FuzzInput input(data, size);
  ChipFuzz(&input).Run();
}

void FuzzRegion(const uint8_t* data, size_t size) {
  FuzzInput input(data, size);
  RegionFuzz(&input).Run();
}

}  // namespace vcm5
