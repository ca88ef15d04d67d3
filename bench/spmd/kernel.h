// One node's part of a benchmark: what is timed. An object a node; the harness
// (bench/peers/harness.h) runs it again and again.
//
// Kernels use the public API as a program that wants speed would: the collective calls of
// vcm5::Node, and the registers of netif/port/ni_port.h for messages. (vcm5/ni.h is the same
// registers for programs that are one node a process or image; here the nodes of an embedded
// machine share one image.)
#ifndef VCM5_BENCH_SPMD_KERNEL_H_
#define VCM5_BENCH_SPMD_KERNEL_H_

#include <cstdint>
#include <memory>

#include "bench/spmd/workload.h"
#include "vcm5/node.hpp"

namespace vcm5::bench {

class Kernel {
 public:
  virtual ~Kernel() = default;
  // Collective. On node 0 it returns when everything that it stands for is over.
  virtual void Run(uint64_t iterations) = 0;
  // What was wrong with a result, or null. Stays.
  const char* wrong() const { return wrong_; }

 protected:
  void Expect(bool right, const char* otherwise) {
    if (!right) wrong_ = otherwise;
  }

 private:
  const char* wrong_ = nullptr;
};

// Null if there is no such benchmark in the file. `workload` must outlive the kernel.
std::unique_ptr<Kernel> MakePointToPoint(Node& node, const Workload& workload);
std::unique_ptr<Kernel> MakePermutation(Node& node, const Workload& workload);
std::unique_ptr<Kernel> MakeCollective(Node& node, const Workload& workload);

// A barrier that leaves the data network's FIFOs alone, as the calls of vcm5::Node do not: what it
// starts may be received by registers.
inline void RegisterBarrier(vcm5_port* port) {
  do {
    vcm5_port_control_first(port, VCM5_FIFO_SYNC_OR, 0, 1, 0);
  } while (!vcm5_port_control_send_ok(port, VCM5_FIFO_SYNC_OR));
  while (!vcm5_port_control_receive_ok(port, VCM5_FIFO_SYNC_OR)) {
  }
  vcm5_port_control_receive_word(port, VCM5_FIFO_SYNC_OR);
}

// Takes the message at the head of a FIFO; returns its first word.
inline uint32_t TakeMessage(vcm5_port* port, int half, const uint8_t* packet) {
  const uint32_t word = vcm5_packet_words(packet)[0];
  vcm5_port_release(port, half);
  vcm5_port_count_received(port, half);
  return word;
}

}  // namespace vcm5::bench

#endif  // VCM5_BENCH_SPMD_KERNEL_H_
