// The supervisor's side of a network interface, for C++: what may broadcast to a whole partition
// and get its attention (paper section 5, NI9), and send messages of the system to any NI (NI8). See
// supervisor_port.h for the rules.
#ifndef VCM5_NETIF_PORT_SUPERVISOR_H_
#define VCM5_NETIF_PORT_SUPERVISOR_H_

#include <cstdint>
#include <span>
#include <vector>

#include "netif/port/supervisor_port.h"

namespace vcm5 {

class Supervisor {
 public:
  // The port must outlive this.
  explicit Supervisor(vcm5_supervisor_port& port) : port_(&port) {}

  // Each: true if accepted, else to be tried again. 1 to 4 words.
  bool Broadcast(std::span<const uint32_t> words) { return Send(VCM5_BROADCAST_SUPERVISOR, words); }
  bool UtilityBroadcast(std::span<const uint32_t> words) {
    return Send(VCM5_BROADCAST_UTILITY, words);
  }
  // Interrupts every node of the partition; its handler gets the word.
  bool Interrupt(uint32_t word) { return Send(VCM5_BROADCAST_INTERRUPT, {&word, 1}); }

  void Listen(vcm5_broadcast_kind kind, bool listen = true) {
    vcm5_supervisor_listen(port_, kind, listen);
  }
  // A message that has come, whole; empty: none.
  std::vector<uint32_t> Receive(vcm5_broadcast_kind kind) {
    std::vector<uint32_t> words(vcm5_supervisor_receive_length(port_, kind));
    for (uint32_t& word : words) word = vcm5_supervisor_receive_word(port_, kind);
    return words;
  }

  void SetAsyncOr(bool bit) { vcm5_supervisor_set_async_or(port_, bit); }
  bool AsyncOr() const { return vcm5_supervisor_async_or(port_); }
  void SetAsyncOrInterrupts(bool interrupts) {
    vcm5_supervisor_set_async_or_interrupts(port_, interrupts);
  }
  uint32_t async_or_rises() const { return vcm5_supervisor_async_or_rises(port_); }

  // The end of a timeslice, and the beginning of the next.
  void Flush() { vcm5_supervisor_flush(port_); }
  bool Flushed() const { return vcm5_supervisor_flushed(port_); }
  void Reinitiate() { vcm5_supervisor_reinitiate(port_); }

  void SetHardError(bool bit) { vcm5_supervisor_set_hard_error(port_, bit); }
  bool HardError() const { return vcm5_supervisor_hard_error(port_); }

  // Messages of the system, by physical address.
  bool SendMessage(int half, uint32_t physical, uint32_t tag, std::span<const uint32_t> words) {
    return vcm5_supervisor_send(port_, half, physical, tag, words.data(),
                                static_cast<uint32_t>(words.size()));
  }
  bool MessagesSent(int half) const { return vcm5_supervisor_data_sent(port_, half); }
  bool ReceiveMessage(int half, vcm5_system_message* message) {
    return vcm5_supervisor_receive(port_, half, message);
  }
  uint32_t messages_dropped(int half) const { return vcm5_supervisor_dropped(port_, half); }

 private:
  bool Send(vcm5_broadcast_kind kind, std::span<const uint32_t> words) {
    return vcm5_supervisor_broadcast(port_, kind, words.data(),
                                     static_cast<uint32_t>(words.size()));
  }

  vcm5_supervisor_port* port_;
};

}  // namespace vcm5

#endif  // VCM5_NETIF_PORT_SUPERVISOR_H_
