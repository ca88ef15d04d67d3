#include "vcm5/collectives.hpp"

#include <algorithm>
#include <utility>

namespace vcm5 {

// ---- barriers and ORs --------------------------------------------------------------------------

void Collectives::FailInBarrier() const {
  Fail("a barrier entered inside another split-phase barrier");
}

void Collectives::BarrierEnter(bool bit) {
  CheckInProgram("BarrierEnter or a barrier");
  if (barrier_open_) FailInBarrier();
  barrier_open_ = true;
  PushOne(VCM5_FIFO_SYNC_OR, bit);
}

bool Collectives::BarrierTest() {
  CheckInProgram("BarrierTest");
  if (!barrier_open_) Fail("BarrierTest without BarrierEnter");
  if (vcm5_port_control_peek(&port(), VCM5_FIFO_SYNC_OR) != nullptr) return true;
  Poll();
  return vcm5_port_control_peek(&port(), VCM5_FIFO_SYNC_OR) != nullptr;
}

bool Collectives::BarrierExit() {
  CheckInProgram("BarrierExit");
  if (!barrier_open_) Fail("BarrierExit without BarrierEnter");
  const bool result = AwaitOne(VCM5_FIFO_SYNC_OR) != 0;
  barrier_open_ = false;
  return result;
}

bool Collectives::AsyncOr() {
  uint32_t now = vcm5_port_async_or(&port());
  if (now == port().async_or_seen && !in_handler()) {
    Poll();
    now = vcm5_port_async_or(&port());
  }
  port().async_or_seen = now;
  return now != 0;
}

void Collectives::OnAsyncOr(std::function<void()> handler) {
  vcm5_port_set_async_or_handler(&port(), nullptr, nullptr);
  on_async_or_ = std::move(handler);
  if (on_async_or_ == nullptr) return;
  vcm5_port_set_async_or_handler(
      &port(), [](void* self) { static_cast<Collectives*>(self)->on_async_or_(); }, this);
  port().interrupts_enabled = true;
  vcm5_port_note_interrupts(&port());
}

void Collectives::OnInterrupt(std::function<void(uint32_t word)> handler) {
  vcm5_port_set_attention_handler(&port(), nullptr, nullptr);
  on_interrupt_ = std::move(handler);
  if (on_interrupt_ == nullptr) return;
  vcm5_port_set_attention_handler(
      &port(),
      [](uint32_t word, void* self) { static_cast<Collectives*>(self)->on_interrupt_(word); },
      this);
}

Collectives::~Collectives() {
  if (on_async_or_ != nullptr) OnAsyncOr(nullptr);
  if (on_interrupt_ != nullptr) OnInterrupt(nullptr);
}

Collectives::NetworkError Collectives::network_error() {
  NetworkError error;
  uint32_t parties;
  error.report = vcm5_port_error(&port(), &parties);
  for (unsigned side = 0; side < 2; ++side) error.first_node[side] = VCM5_ERROR_NODE(parties, side);
  error.hard_error = vcm5_port_hard_error(&port());
  return error;
}

void Collectives::Quiesce() {
  CheckInProgram("Quiesce");
  PushOne(VCM5_FIFO_ROUTER_DONE, 0);
  while (vcm5_port_control_peek(&port(), VCM5_FIFO_ROUTER_DONE) == nullptr) {
    if (Poll() == 0 && stalled()) {
      Fail("Quiesce: a message has come for a handler or buffer that this node never registered");
    }
  }
  vcm5_port_control_receive_word(&port(), VCM5_FIFO_ROUTER_DONE);
}

// ---- reduce and scan ---------------------------------------------------------------------------

void Collectives::CheckSizes(size_t values, size_t results) const {
  if (values != results) Fail("%zu values to combine, but room for %zu results", values, results);
}

void Collectives::Combine(const Operation& operation, size_t count, const uint32_t* in,
                          uint32_t* out) {
  CheckInProgram("Reduce or Scan");
  vcm5_port* const port = &this->port();
  const struct vcm5_port_fifo& fifo = port->fifo[VCM5_FIFO_COMBINE];
  const uint32_t segment_before = port->segment_start;
  port->segment_start = operation.segment_start ? VCM5_ENTRY_SEGMENT : 0;
  overflowed_ = false;
  size_t sent = 0;
  size_t received = 0;  // words
  const size_t words = count * operation.words;
  while (received < words) {
    const size_t before = sent + received;
    while (sent < count) {
      const uint32_t* value = in + sent * operation.words;
      vcm5_port_combine_first(port, operation.combiner, operation.pattern, operation.words,
                              value[0]);
      for (uint32_t i = 1; i < operation.words; ++i) {
        vcm5_port_control_word(port, VCM5_FIFO_COMBINE, value[i]);
      }
      if (!fifo.send_ok) break;
      ++sent;
    }
    while (const vcm5_control_entry* entry = vcm5_port_control_peek(port, VCM5_FIFO_COMBINE)) {
      if ((entry->control & VCM5_ENTRY_OVERFLOW) != 0) overflowed_ = true;
      out[received++] = vcm5_port_control_receive_word(port, VCM5_FIFO_COMBINE);
      if (received == words) break;
    }
    if (sent + received == before) Wait();
  }
  port->segment_start = segment_before;
}

void Collectives::CombineIndependent(Operation operation, size_t words, const uint32_t* in,
                                     uint32_t* out) {
  const size_t full = words / VCM5_CONTROL_WORDS_MAX;
  const size_t rest = words % VCM5_CONTROL_WORDS_MAX;
  operation.words = VCM5_CONTROL_WORDS_MAX;
  Combine(operation, full, in, out);
  operation.words = static_cast<uint32_t>(rest);
  Combine(operation, rest != 0 ? 1 : 0, in + (words - rest), out + (words - rest));
}

// ---- broadcast ---------------------------------------------------------------------------------

void Collectives::BroadcastBytes(uint32_t source, std::span<std::byte> bytes) {
  CheckInProgram("Broadcast");
  if (source >= this->port().addresses) {
    Fail("Broadcast from node %u, but addresses are 0 to %u", source, this->port().addresses - 1);
  }
  vcm5_port* const port = &this->port();
  const struct vcm5_port_fifo& fifo = port->fifo[VCM5_FIFO_BROADCAST];
  constexpr size_t kMessageBytes = 4 * VCM5_CONTROL_WORDS_MAX;
  const bool from_here = source == self();
  const size_t words = (bytes.size() + 3) / 4;
  size_t sent = 0;      // bytes
  size_t received = 0;  // words
  while (received < words) {
    const size_t before = sent + received;
    while (from_here && sent < bytes.size()) {
      uint32_t message[VCM5_CONTROL_WORDS_MAX] = {};
      const size_t part = std::min(kMessageBytes, bytes.size() - sent);
      const auto length = static_cast<uint32_t>((part + 3) / 4);
      std::memcpy(message, bytes.data() + sent, part);
      vcm5_port_control_first(port, VCM5_FIFO_BROADCAST, 0, length, message[0]);
      for (uint32_t i = 1; i < length; ++i) {
        vcm5_port_control_word(port, VCM5_FIFO_BROADCAST, message[i]);
      }
      if (!fifo.send_ok) break;
      sent += part;
    }
    while (received < words && vcm5_port_control_peek(port, VCM5_FIFO_BROADCAST) != nullptr) {
      const uint32_t word = vcm5_port_control_receive_word(port, VCM5_FIFO_BROADCAST);
      // The source hears its own broadcast, too.
      if (!from_here) {
        std::memcpy(bytes.data() + 4 * received, &word,
                    std::min<size_t>(4, bytes.size() - 4 * received));
      }
      ++received;
    }
    if (sent + received == before) Wait();
  }
}

// ---- abstaining --------------------------------------------------------------------------------

void Collectives::SetAbstain(ControlClass operations, bool abstain) {
  CheckInProgram("SetAbstain");
  const int fifo = static_cast<int>(operations);
  while (!vcm5_port_set_abstain(&port(), fifo, abstain)) Poll();
  while (vcm5_port_control_space(&port(), fifo) != port().fifo[fifo].depth) Poll();
}

}  // namespace vcm5
