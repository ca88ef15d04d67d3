// One router chip whose links all end in the test.
#ifndef VCM5_TESTS_UNIT_SWITCHES_DATA_CHIP_RIG_H_
#define VCM5_TESTS_UNIT_SWITCHES_DATA_CHIP_RIG_H_

#include <map>
#include <vector>

#include "switches/data/router_chip.h"
#include "tests/support/packets.h"

namespace vcm5 {

inline constexpr unsigned kUp0 = kChildren;  // the first parent port
inline constexpr uint32_t kDepth = 4;

// Routing instructions as one chip sees them.
inline uint32_t Climb(unsigned levels = 1) { return RoutingInstructions(levels, 0x1b); }
inline uint32_t Descend(unsigned child, uint32_t rest = 0) {
  return RoutingInstructions(0, (rest << 2) | child);
}

class ChipRig {
 public:
  struct Out {
    unsigned port;
    DataPacket packet;
    unsigned length;
    uint32_t id() const { return packet.words[0]; }
  };

  explicit ChipRig(unsigned parents = 4, uint8_t children = 0xf, uint64_t seed = 1,
                   uint32_t depth = kDepth)
      : options_(MakeOptions(parents, children, seed, depth)),
        storage_(RouterChip::StorageUnits(options_)),
        chip_(options_, storage_.data()) {}

  RouterChip& chip() { return chip_; }

  void Put(unsigned port, const DataPacket& packet) {
    CopyPacket(chip_.ReceiveSlot(port), &packet, kCm5WordsMax);
    chip_.HandlePacket(port);
    chip_.CheckInvariants();
  }
  void Put(unsigned port, uint32_t route, uint32_t id, unsigned length = 5) {
    Put(port, MakePacket(route, id, length, 0, id));
  }

  // Routes, and returns what left. What was freed adds to freed().
  std::vector<Out> Route(unsigned budget = 1000) {
    std::vector<Out> outs;
    moved_ = chip_.Route(
        budget,
        [&](unsigned port, const DataPacket& packet, unsigned length) {
          // Only the units of `length` words are there.
          outs.push_back({port, {}, length});
          CopyPacket(&outs.back().packet, &packet, length);
        },
        [&](unsigned port, uint32_t slots) { freed_[port] += slots; });
    chip_.CheckInvariants();
    return outs;
  }
  unsigned moved() const { return moved_; }
  std::map<unsigned, uint32_t>& freed() { return freed_; }

  // No output has credit from here on.
  void BlockAll() {
    for (unsigned port = 0; port < kChildren + options_.parents; ++port) chip_.SetCredit(port, 0);
  }

 private:
  static RouterChip::Options MakeOptions(unsigned parents, uint8_t children, uint64_t seed,
                                         uint32_t depth) {
    RouterChip::Options options;
    options.children_mask = children;
    options.parents = static_cast<uint8_t>(parents);
    options.depth = depth;
    options.seed = seed;
    return options;
  }

  RouterChip::Options options_;
  std::vector<PacketUnit> storage_;
  RouterChip chip_;
  std::map<unsigned, uint32_t> freed_;
  unsigned moved_ = 0;
};

}  // namespace vcm5

#endif  // VCM5_TESTS_UNIT_SWITCHES_DATA_CHIP_RIG_H_
