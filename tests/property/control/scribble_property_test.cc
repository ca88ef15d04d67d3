// A program that overwrites its mapped page with random bytes between steps harms nothing but its
// own port: nothing outside the page is written, ports and network keep their invariants, and the
// network goes on for a partition that does not share it (NI13). VCM5_TEST_SEED=n runs seed n alone.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/property/control/control_world.h"

namespace vcm5 {
namespace {

// Random bytes at random places, or in the words that the ports read.
void Scribble(TestPage& memory, Prng& random) {
  vcm5_ni_page* page = memory.page();
  switch (random.Below(4)) {
    case 0:
      for (uint32_t i = 0; i < memory.size(); ++i) {
        memory.bytes()[i] = static_cast<uint8_t>(random.Next());
      }
      break;
    case 1:
      page->node_control.out_tail[random.Below(VCM5_CONTROL_FIFOS)] += random.Below(20);
      break;
    case 2:
      page->node_control.in_head[random.Below(VCM5_CONTROL_FIFOS)] += random.Below(20) - 3;
      break;
    default: {
      // Entries that may pass for good ones, offered to the network.
      const unsigned fifo = random.Below(VCM5_CONTROL_FIFOS);
      const vcm5_ni_offsets offsets = SmallGeometry().Offsets();
      auto* entry = reinterpret_cast<vcm5_control_entry*>(memory.bytes() + offsets.control_out[fifo]);
      for (uint32_t i = 0; i < SmallGeometry().control_depth[fifo]; ++i) {
        entry[i].control = (static_cast<uint32_t>(random.Next()) & 0x371f00u) | random.Below(4);
        if (random.Chance(1, 8)) entry[i].control |= VCM5_ENTRY_KIND(random.Below(4));
        if (random.Chance(1, 2)) entry[i].control |= VCM5_ENTRY_FIRST | VCM5_ENTRY_LAST;
      }
      vcm5_store_release(&page->node_control.out_tail[fifo],
                         page->control.out_head[fifo] + random.Below(4));
      break;
    }
  }
}

// A supervisor gone mad: random bytes in its page, or in what its port reads.
void ScribbleSupervisor(vcm5_supervisor_page* page, Prng& random) {
  const unsigned kind = random.Below(VCM5_BROADCAST_KINDS);
  switch (random.Below(4)) {
    case 0:
      for (size_t i = 0; i < sizeof *page; ++i) {
        reinterpret_cast<uint8_t*>(page)[i] = static_cast<uint8_t>(random.Next());
      }
      break;
    case 1:
      page->supervisor.in_head[kind] += random.Below(6) - 1;
      break;
    case 2:
      page->registers.listening = static_cast<uint32_t>(random.Next());
      page->registers.hard_error = random.Below(2);
      page->supervisor.async_or = random.Below(2);
      break;
    default:
      for (vcm5_control_entry& entry : page->out[kind]) {
        entry.control = (static_cast<uint32_t>(random.Next()) & 0x3001300u) | random.Below(6);
        if (random.Chance(1, 2)) entry.control = VCM5_ENTRY_LENGTH(1) | ControlFifo::kFraming;
      }
      vcm5_store_release(&page->supervisor.out_tail[kind],
                         page->control.out_head[kind] + random.Below(4));
      break;
  }
}

TEST(ScribbleProperty, AScribblingProgramHarmsOnlyItsPartition) {
  const char* only = std::getenv("VCM5_TEST_SEED");
  uint32_t failed_ports = 0;
  uint32_t failed_supervisors = 0;
  for (uint64_t seed = only ? std::strtoull(only, nullptr, 0) : 1;; ++seed) {
    SCOPED_TRACE("VCM5_TEST_SEED=" + std::to_string(seed));
    Prng random(seed);
    const uint32_t leaves = 1 + random.Below(6);
    ControlNetworkOptions options;
    options.events_max = 4;
    ControlWorld world(RandomTree(leaves, random), SmallGeometry(), options);
    for (int step = 0; step < 600; ++step) {
      world.RandomStep(random);
      const uint32_t i = random.Below(leaves);
      vcm5_port* program = world.program(i);
      if (random.Chance(1, 6)) {
        Scribble(*world.leaf(0).memory, random);
        if (random.Chance(1, 4)) ScribbleSupervisor(world.leaf(0).supervisor->page(), random);
      } else if (random.Chance(1, 2)) {
        vcm5_port_combine_first(program, VCM5_ADD, VCM5_SCAN_FORWARD, 1, 1);
        vcm5_port_control_first(program, VCM5_FIFO_SYNC_OR, 0, 1, 1);
        if (i == 0) vcm5_port_control_first(program, VCM5_FIFO_BROADCAST, 0, 1, 1);
        vcm5_supervisor_listen(world.supervisor(i), VCM5_BROADCAST_UTILITY, random.Chance(1, 2));
        vcm5_supervisor_receive_word(world.supervisor(i), VCM5_BROADCAST_UTILITY);
      } else {
        for (int fifo = 0; fifo < VCM5_CONTROL_FIFOS; ++fifo) {
          vcm5_port_control_receive_word(program, fifo);
        }
      }
      if (random.Chance(1, 4)) world.Poll(0, true);
    }
    world.Settle();
    for (uint32_t i = 0; i < leaves; ++i) {
      ASSERT_TRUE(world.leaf(i).memory->guard_intact());
      ASSERT_TRUE(i == 0 || !world.port(i).failed());
      ASSERT_TRUE(i == 0 || world.port(i).supervisor_error() == ControlPortError::kNone);
    }
    failed_ports += world.port(0).failed();
    failed_supervisors += world.port(0).supervisor_error() != ControlPortError::kNone;
    if (::testing::Test::HasFailure() || only || seed == 400) break;
  }
  if (only == nullptr) {
    EXPECT_GT(failed_ports, 200u);
    EXPECT_GT(failed_supervisors, 100u);
  }
}

}  // namespace
}  // namespace vcm5
