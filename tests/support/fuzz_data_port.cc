#include <algorithm>
#include <numeric>
#include <vector>

#include "netif/ni/data_port.h"
#include "runtime/base/check.h"
#include "switches/topology/route_table.h"
#include "tests/support/fuzz_input.h"
#include "tests/support/fuzz_targets.h"
#include "tests/support/ni_memory.h"
#include "tests/support/packets.h"

namespace vcm5 {
namespace {

constexpr uint32_t kLeaves = 40;
constexpr uint32_t kSelf = 5;

class DataPortFuzz {
 public:
  explicit DataPortFuzz(FuzzInput* input)
      : input_(input),
        spec_(MakeSpec(input)),
        half_(static_cast<int>(input->Below(2))),
        memory_(spec_),
        routes_(kLeaves, Members()),
        port_(memory_.PortOptions(half_, kSelf)),
        credit_(spec_.data_fifo_depth) {
    memory_.Attach(&node_);
  }

  void Run() {
    while (!input_->done()) {
      switch (input_->Below(9)) {
        case 0:
          PushMessage();
          break;
        case 1:
          ScribbleAnywhere();
          break;
        case 2:
          ScribbleSlot();
          break;
        case 3:
          MovePosition();
          break;
        case 4:
          TakeMessages();
          break;
        case 5:
          port_.PublishTaken();
          break;
        case 6:
          DeliverPacket();
          break;
        case 7:
          port_.PublishDelivered();
          break;
        case 8:
          RefreshCredit();
          break;
      }
      const DataPortReport report = port_.TakeReport();
      VCM5_CHECK(report.fault != DataPortFault::kBadPosition || port_.failed());
    }
    // Whatever happened, a port that is closed holds up nobody.
    RefreshCredit();
    if (port_.failed()) VCM5_CHECK(credit_ == spec_.data_fifo_depth && port_.Look() == 0);
  }

 private:
  static MachineSpec MakeSpec(FuzzInput* input) {
    MachineSpec spec;
    spec.words_max = input->Below(2) != 0 ? kCm5eWordsMax : kCm5WordsMax;
    spec.data_fifo_depth = 1u << input->Below(5);
    return spec;
  }
  static std::vector<uint32_t> Members() {
    std::vector<uint32_t> members(kLeaves - 3);
    std::iota(members.begin(), members.end(), 3u);
    return members;
  }

  void PushMessage() {
    const uint32_t length = 1 + input_->Below(spec_.words_max);
    const DataPacket words = MakePacket(0, 0, length, 0, input_->Take<uint32_t>());
    vcm5_port_send(&node_, half_, input_->Below(kLeaves), input_->Below(kTags), words.words,
                   length);
  }
  void ScribbleAnywhere() {
    const uint32_t at = input_->Take<uint32_t>() % memory_.bytes();
    const uint32_t bytes = std::min<uint32_t>(input_->Take<uint8_t>(), memory_.bytes() - at);
    for (uint32_t i = 0; i < bytes; ++i) memory_.data()[at + i] = input_->Take<uint8_t>();
  }
  void ScribbleSlot() {
    uint8_t* slot = vcm5_port_out_slot(&node_, half_);
    const uint64_t header = input_->Take<uint64_t>();
    std::memcpy(slot, &header, sizeof header);
    vcm5_port_commit(&node_, half_);
  }
  void MovePosition() {
    auto& node = memory_.page()->node_data;
    uint32_t& position = input_->Below(2) != 0 ? node.out_tail[half_] : node.in_head[half_];
    position += static_cast<uint32_t>(static_cast<int8_t>(input_->Take<uint8_t>()));
  }

  void TakeMessages() {
    const uint32_t pushed = port_.Look();
    VCM5_CHECK(pushed <= spec_.data_fifo_depth);
    for (uint32_t i = 0; i < pushed; ++i) {
      DataPacket packet;
      if (!port_.Take(routes_, &packet)) continue;
      const unsigned length = data_header::Length(packet.header);
      const uint32_t to = data_header::Destination(packet.header);
      VCM5_CHECK(length >= 1 && length <= spec_.words_max);
      VCM5_CHECK(data_header::Tag(packet.header) < kFirstSystemTag);
      VCM5_CHECK(to >= 3 && to < kLeaves);
      VCM5_CHECK((packet.header & 0xffffff) == FatTree::Route(kSelf, to));
      VCM5_CHECK((packet.header & data_header::kZeroMask) == 0);
      VCM5_CHECK(DataPacketCrcGood(packet));
    }
  }

  void DeliverPacket() {
    if (credit_ == 0) return;
    DataPacket packet = MakePacket(0, kSelf, 1 + input_->Below(spec_.words_max),
                                   input_->Below(kTags), input_->Take<uint32_t>());
    switch (input_->Below(4)) {
      case 0:
        packet.header ^= uint64_t{1} << input_->Below(64);
        break;
      case 1:
        packet.crc ^= input_->Take<uint32_t>();
        break;
      default:
        break;
    }
    if (input_->Below(4) == 0) {
      packet.header ^= data_header::kFalls | (uint64_t{1} << kPathShift);
      if (input_->Below(2) == 0 && data_header::Length(packet.header) <= kCm5eWordsMax) {
        packet.crc = DataPacketCrc(packet, data_header::Length(packet.header), packet.header);
      }
      DataPacket captured;
      if (port_.Capture(packet, data_header::Length(packet.header), true, &captured)) {
        VCM5_CHECK(data_header::FallsOnLink(captured.header) && DataPacketCrcGood(captured));
      }
    }
    if (port_.Deliver(packet, data_header::Length(packet.header)) == Arrival::kDelivered) {
      VCM5_CHECK(!data_header::Falls(packet.header) && !data_header::IsSystem(packet.header));
      --credit_;
    }
  }
  void RefreshCredit() {
    credit_ += port_.RefreshCredit();
    VCM5_CHECK(credit_ <= spec_.data_fifo_depth);
    VCM5_CHECK(credit_ + port_.Undelivered() == spec_.data_fifo_depth);
  }

  FuzzInput* input_;
  MachineSpec spec_;
  int half_;
  NiMemory memory_;
  RouteTable routes_;
  DataPort port_;
  vcm5_port node_;
  uint32_t credit_;
};

}  // namespace

void FuzzDataPort(const uint8_t* data, size_t size) {
  FuzzInput input(data, size);
  DataPortFuzz(&input).Run();
}

}  // namespace vcm5
