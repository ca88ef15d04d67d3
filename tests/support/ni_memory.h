// One node's NI memory and the port mapped onto it, for tests that play the network themselves.
#ifndef VCM5_TESTS_SUPPORT_NI_MEMORY_H_
#define VCM5_TESTS_SUPPORT_NI_MEMORY_H_

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "daemons/driver/node_memory.h"
#include "netif/ni/data_port.h"
#include "netif/port/ni_port.h"
#include "runtime/base/check.h"
#include "switches/topology/machine_spec.h"

namespace vcm5 {

// Exactly as long as the geometry says, so that AddressSanitizer sees a step outside it.
class NiMemory {
 public:
  explicit NiMemory(const MachineSpec& spec, uint32_t self = 0)
      : spec_(spec),
        bytes_(NodeMemoryBytes(spec)),
        memory_(static_cast<uint8_t*>(std::aligned_alloc(4096, bytes_))) {
    std::memset(memory_.get(), 0, bytes_);
    NodeIdentity identity;
    identity.self = self;
    identity.partition_size = spec.nodes;
    InitializeNodePage(memory_.get(), spec, identity);
  }

  vcm5_ni_page* page() { return reinterpret_cast<vcm5_ni_page*>(memory_.get()); }
  uint8_t* data() { return memory_.get(); }
  uint32_t bytes() const { return bytes_; }

  void Attach(vcm5_port* port) {
    const char* wrong = vcm5_port_attach(port, page(), bytes_);
    VCM5_CHECK_MSG(wrong == nullptr, wrong);
  }

  DataPort::Options PortOptions(int half, uint32_t physical_self) {
    const NiGeometry geometry = GeometryOf(spec_);
    DataPort::Options options;
    options.page = page();
    options.half = half;
    options.physical_self = physical_self;
    options.slot_bytes = geometry.slot_bytes;
    options.depth = geometry.data_depth;
    options.words_max = spec_.words_max;
    options.out_offset = geometry.Offsets().data_out[half];
    options.in_offset = geometry.Offsets().data_in[half];
    return options;
  }

  // Makes every position of one half begin at `position`, as if so many messages had passed.
  void StartAt(vcm5_port* port, int half, uint32_t position) {
    page()->node_data.out_tail[half] = position;
    page()->node_data.in_head[half] = position;
    page()->data[half].out_head = position;
    page()->data[half].in_tail = position;
    vcm5_port_half& h = port->half[half];
    h.out_tail = h.out_head_seen = h.status_tail = position;
    h.in_head = h.in_head_told = h.in_tail_seen = position;
  }

 private:
  struct Free {
    void operator()(uint8_t* memory) const { std::free(memory); }
  };

  MachineSpec spec_;
  uint32_t bytes_;
  std::unique_ptr<uint8_t, Free> memory_;
};

}  // namespace vcm5

#endif  // VCM5_TESTS_SUPPORT_NI_MEMORY_H_
