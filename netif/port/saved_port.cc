#include "netif/port/saved_port.h"

#include <algorithm>
#include <cstring>

namespace vcm5 {
namespace {

constexpr uint32_t kPacketWords = 3 + kCm5eWordsMax;

// The numbers, in the order in which they are saved.
template <class Half, class Do>
void ForEachNumberOfHalf(Half& half, Do&& with) {
  for (auto* number : {&half.out_tail, &half.in_head, &half.received, &half.pushed,
                       &half.push_left, &half.send_ok, &half.pop_left, &half.status_tail}) {
    with(*number);
  }
}
template <class Fifo, class Do>
void ForEachNumberOfFifo(Fifo& fifo, Do&& with) {
  for (auto* number : {&fifo.out_tail_told, &fifo.in_head, &fifo.control, &fifo.push_left,
                       &fifo.pop_left, &fifo.status_tail, &fifo.send_ok, &fifo.abstaining}) {
    with(*number);
  }
}
template <class Port, class Do>
void ForEachNumber(Port& port, Do&& with) {
  for (auto* number : {&port.misses, &port.send_refuse, &port.refused_sends_left,
                       &port.segment_start, &port.holds_back, &port.in_router_done,
                       &port.interrupts_enabled, &port.rises_seen, &port.attention_seen,
                       &port.received_told, &port.async_or_seen}) {
    with(*number);
  }
}

std::string CheckHalf(const SavedPort::Half& half, const SavedDataHalf& ni, uint32_t depth,
                      uint32_t words_max) {
  if (half.out_tail != ni.out_tail() || half.received != ni.received ||
      half.in_head - ni.in_head > ni.in.size()) {
    return "is not where the network interface is";
  }
  if (half.push_left > VCM5_WORDS_MAX) return "pushes a message that is too long";
  if (half.push_left != 0 && half.send_ok != 0) {
    const auto length = static_cast<uint32_t>(half.partial.header >> 40);
    if (length > words_max || half.push_left > length || half.pushed != length - half.push_left) {
      return "pushes a message that is too long";
    }
    if (ni.out.size() == depth) return "has no room for the message that it pushes";
  }
  if (half.pop_left == 0) return "";
  const uint32_t at = half.in_head - ni.in_head;
  if (at == ni.in.size() || half.pop_left > data_header::Length(ni.in[at].header)) {
    return "pops a message that is not there";
  }
  return "";
}

std::string CheckFifo(const SavedPort::Fifo& fifo, const SavedControlFifo& ni, uint32_t depth) {
  if (fifo.out_tail_told != ni.out_tail() || fifo.in_head != ni.in_head) {
    return "is not where the network interface is";
  }
  if (fifo.push_left > VCM5_CONTROL_WORDS_MAX || fifo.partial.size() > VCM5_CONTROL_WORDS_MAX) {
    return "pushes a message that is too long";
  }
  if (fifo.push_left != 0 && fifo.send_ok != 0 &&
      ni.out.size() + fifo.partial.size() + fifo.push_left > depth) {
    return "has no room for the message that it pushes";
  }
  uint32_t rest = 0;  // of a message popped in part
  if (!ni.in.empty() && (ni.in[0].control & VCM5_ENTRY_FIRST) == 0) {
    while ((ni.in[rest++].control & VCM5_ENTRY_LAST) == 0) {
    }
  }
  return fifo.pop_left == rest ? "" : "pops a message that is not there";
}

}  // namespace

SavedPort SavePort(const vcm5_port& port) {
  SavedPort saved;
  for (int i = 0; i < VCM5_HALVES; ++i) {
    const vcm5_port_half& from = port.half[i];
    SavedPort::Half& to = saved.half[i];
    to.out_tail = from.out_tail;
    to.in_head = from.in_head;
    to.received = from.received;
    to.push_left = from.push_left;
    to.send_ok = from.send_ok;
    to.pop_left = from.pop_left;
    to.status_tail = from.status_tail;
    if (from.push_left == 0 || !from.send_ok) continue;
    const uint8_t* slot = from.out + size_t{from.out_tail & port.data_mask} * port.slot_bytes;
    to.pushed = static_cast<uint32_t>(reinterpret_cast<const uint8_t*>(from.push) - (slot + 12)) / 4;
    std::memcpy(&to.partial, slot, 12 + 4 * to.pushed);
  }
  for (int i = 0; i < VCM5_CONTROL_FIFOS; ++i) {
    const vcm5_port_fifo& from = port.fifo[i];
    SavedPort::Fifo& to = saved.fifo[i];
    to.out_tail_told = from.out_tail_told;
    to.in_head = from.in_head;
    to.control = from.control;
    to.push_left = from.push_left;
    to.pop_left = from.pop_left;
    to.status_tail = from.status_tail;
    to.send_ok = from.send_ok;
    to.abstaining = from.abstaining;
    for (uint32_t at = from.out_tail_told; at != from.out_tail; ++at) {
      to.partial.push_back(from.out[at & (from.depth - 1)]);
    }
  }
  saved.misses = port.misses;
  saved.send_refuse = port.send_refuse;
  saved.refused_sends_left = port.refused_sends_left;
  saved.segment_start = port.segment_start;
  saved.holds_back = port.holds_back;
  saved.in_router_done = port.in_router_done;
  saved.interrupts_enabled = port.interrupts_enabled;
  saved.rises_seen = port.rises_seen;
  saved.attention_seen = port.attention_seen;
  saved.received_told = port.received_told;
  saved.async_or_seen = port.async_or_seen;
  return saved;
}

void RestorePort(const SavedPort& saved, const SavedNi& ni, vcm5_port* port) {
  for (int i = 0; i < VCM5_HALVES; ++i) {
    const SavedPort::Half& from = saved.half[i];
    vcm5_port_half& to = port->half[i];
    to.out_tail = from.out_tail;
    to.out_head_seen = ni.half[i].out_head;
    to.in_head = from.in_head;
    to.in_head_told = ni.half[i].in_head;
    to.in_tail_seen = ni.half[i].in_tail();
    to.received = from.received;
    to.push_left = from.push_left;
    to.send_ok = from.send_ok != 0;
    to.pop_left = from.pop_left;
    to.status_tail = from.status_tail;
    to.push = port->scratch;
    if (from.push_left == 0 || !to.send_ok) continue;
    uint8_t* slot = to.out + size_t{to.out_tail & port->data_mask} * port->slot_bytes;
    std::memcpy(slot, &from.partial, 12 + 4 * size_t{from.pushed});
    to.push = reinterpret_cast<uint32_t*>(slot + 12) + from.pushed;
  }
  for (int i = 0; i < VCM5_CONTROL_FIFOS; ++i) {
    const SavedPort::Fifo& from = saved.fifo[i];
    vcm5_port_fifo& to = port->fifo[i];
    to.out_tail = to.out_tail_told = from.out_tail_told;
    to.out_head_seen = ni.fifo[i].out_head;
    to.in_head = from.in_head;
    to.in_tail_seen = ni.fifo[i].in_tail();
    to.control = from.control;
    to.push_left = from.push_left;
    to.pop_left = from.pop_left;
    to.status_tail = from.status_tail;
    to.send_ok = from.send_ok != 0;
    to.abstaining = from.abstaining != 0;
    for (const vcm5_control_entry& entry : from.partial) {
      to.out[to.out_tail++ & (to.depth - 1)] = entry;
    }
  }
  port->misses = saved.misses;
  port->send_refuse = saved.send_refuse;
  port->refused_sends_left = saved.refused_sends_left;
  port->segment_start = saved.segment_start;
  port->holds_back = saved.holds_back != 0;
  port->in_router_done = saved.in_router_done != 0;
  port->interrupts_enabled = saved.interrupts_enabled != 0;
  port->rises_seen = saved.rises_seen;
  port->attention_seen = saved.attention_seen;
  port->received_told = saved.received_told;
  port->async_or_seen = saved.async_or_seen;
  vcm5_port_note_interrupts(port);
}

void AppendSavedPort(const SavedPort& saved, SavedWordsWriter& to) {
  auto put = [&](uint32_t number) { to.Put(number); };
  for (const SavedPort::Half& half : saved.half) {
    ForEachNumberOfHalf(half, put);
    uint32_t words[kPacketWords];
    std::memcpy(words, &half.partial, sizeof words);
    to.Put(words);
  }
  for (const SavedPort::Fifo& fifo : saved.fifo) {
    ForEachNumberOfFifo(fifo, put);
    to.Put(static_cast<uint32_t>(fifo.partial.size()));
    for (const vcm5_control_entry& entry : fifo.partial) {
      to.Put(entry.word);
      to.Put(entry.control);
    }
  }
  ForEachNumber(saved, put);
}

SavedPort ReadSavedPort(SavedWordsReader& from) {
  SavedPort saved;
  auto take = [&](uint32_t& number) { number = from.Take(); };
  for (SavedPort::Half& half : saved.half) {
    ForEachNumberOfHalf(half, take);
    uint32_t words[kPacketWords] = {};
    from.Take(words);
    std::memcpy(&half.partial, words, sizeof words);
  }
  for (SavedPort::Fifo& fifo : saved.fifo) {
    ForEachNumberOfFifo(fifo, take);
    fifo.partial.resize(from.TakeCount(2));
    for (vcm5_control_entry& entry : fifo.partial) {
      entry.word = from.Take();
      entry.control = from.Take();
    }
  }
  ForEachNumber(saved, take);
  return saved;
}

std::string CheckSavedPort(const SavedPort& saved, const SavedNi& ni, const NiGeometry& geometry,
                           uint32_t words_max) {
  for (int half = 0; half < VCM5_HALVES; ++half) {
    const std::string wrong =
        CheckHalf(saved.half[half], ni.half[half], geometry.data_depth, words_max);
    if (wrong.empty()) continue;
    return (half == VCM5_LEFT ? "its port of the left half " : "its port of the right half ") + wrong;
  }
  for (unsigned fifo = 0; fifo < VCM5_CONTROL_FIFOS; ++fifo) {
    const std::string wrong =
        CheckFifo(saved.fifo[fifo], ni.fifo[fifo], geometry.control_depth[fifo]);
    if (!wrong.empty()) return "its port of control FIFO " + std::to_string(fifo) + " " + wrong;
  }
  return "";
}

}  // namespace vcm5
