// A port whose network is the test.
#ifndef VCM5_TESTS_UNIT_NETIF_PORT_NI_PORT_FIXTURE_H_
#define VCM5_TESTS_UNIT_NETIF_PORT_NI_PORT_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "netif/port/ni_port.h"
#include "tests/support/ni_memory.h"
#include "tests/support/packets.h"

namespace vcm5 {

inline constexpr int kHalf = VCM5_LEFT;
inline constexpr uint32_t kDepth = 16;

class NiPortTest : public ::testing::Test {
 protected:
  NiPortTest() : memory_(MakeSpec()) {
    memory_.Attach(&port_);
    port_.idle = [](vcm5_port* port) { ++static_cast<NiPortTest*>(port->engine)->idles_; };
    port_.engine = this;
  }
  static MachineSpec MakeSpec() {
    MachineSpec spec;
    spec.data_fifo_depth = kDepth;
    return spec;
  }

  uint32_t offered() { return memory_.page()->node_data.out_tail[kHalf]; }
  uint32_t told_received() { return memory_.page()->node_data.in_head[kHalf]; }
  const uint8_t* OutSlot(uint32_t position) {
    return port_.half[kHalf].out + (position % kDepth) * port_.slot_bytes;
  }

  // The network takes `messages` more from the outgoing FIFO.
  void NetworkTakes(uint32_t messages) { memory_.page()->data[kHalf].out_head += messages; }

  // The network delivers a message.
  void Arrive(uint32_t id, unsigned length, unsigned tag = 0, int half = kHalf) {
    uint32_t& tail = memory_.page()->data[half].in_tail;
    const DataPacket packet = MakePacket(0, 0, length, tag, id);
    std::memcpy(port_.half[half].in + (tail % kDepth) * port_.slot_bytes, &packet,
                port_.slot_bytes);
    ++tail;
  }

  void PushRegisters(uint32_t destination, uint32_t tag, const std::vector<uint32_t>& words) {
    vcm5_port_send_first(&port_, kHalf, destination, tag, static_cast<uint32_t>(words.size()));
    for (const uint32_t word : words) vcm5_port_send_word(&port_, kHalf, word);
  }
  void FillOutgoing() {
    for (uint32_t i = 0; i < kDepth; ++i) {
      PushRegisters(0, 0, {i});
      ASSERT_TRUE(vcm5_port_send_ok(&port_, kHalf));
    }
  }

  NiMemory memory_;
  vcm5_port port_;
  int idles_ = 0;
};

}  // namespace vcm5

#endif  // VCM5_TESTS_UNIT_NETIF_PORT_NI_PORT_FIXTURE_H_
