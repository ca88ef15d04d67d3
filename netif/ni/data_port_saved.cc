#include <algorithm>

#include "netif/ni/data_port.h"
#include "runtime/base/check.h"

namespace vcm5 {
namespace {

std::vector<DataPacket> CopySlots(const uint8_t* fifo, uint32_t mask, uint32_t slot_bytes,
                                  uint32_t from, uint32_t to) {
  std::vector<DataPacket> packets;
  for (uint32_t at = from; at != to; ++at) {
    DataPacket& packet = packets.emplace_back();
    packet = {};
    std::memcpy(&packet, fifo + size_t{at & mask} * slot_bytes,
                std::min<size_t>(slot_bytes, sizeof packet));
  }
  return packets;
}

void PutSlots(uint8_t* fifo, uint32_t mask, uint32_t slot_bytes, uint32_t at,
              const std::vector<DataPacket>& packets) {
  for (const DataPacket& packet : packets) {
    std::memcpy(fifo + size_t{at++ & mask} * slot_bytes, &packet,
                std::min<size_t>(slot_bytes, sizeof packet));
  }
}

}  // namespace

bool DataPort::Save(SavedNi* saved) {
  const uint32_t pushed = Look();
  const uint32_t in_head = vcm5_load_acquire(&page_->node_data.in_head[half_]);
  if (in_tail_ - in_head > mask_ + 1) Fail();
  if (failed_) return false;
  SavedDataHalf& half = saved->half[half_];
  half.out_head = out_head_;
  half.in_head = in_head;
  half.received = vcm5_load_acquire(&page_->node_data.received[half_]);
  half.out = CopySlots(out_, mask_, slot_bytes_, out_head_, out_head_ + pushed);
  half.in = CopySlots(in_, mask_, slot_bytes_, in_head, in_tail_);
  saved->tag_interrupts = vcm5_load_relaxed(&page_->node_data.interrupt_mask);
  return true;
}

void DataPort::Restore(const SavedNi& saved) {
  const SavedDataHalf& half = saved.half[half_];
  VCM5_CHECK(half.out.size() <= mask_ + 1 && half.in.size() <= mask_ + 1);
  // What went over the link stays what it is.
  not_injected_ += half.out_head - out_head_;
  not_delivered_ -= half.in_tail() - in_tail_;
  out_head_ = half.out_head;
  in_head_ = half.in_head;
  in_tail_ = half.in_tail();
  tags_delivered_ = 0;
  failed_ = false;
  PutSlots(out_, mask_, slot_bytes_, half.out_head, half.out);
  PutSlots(in_, mask_, slot_bytes_, half.in_head, half.in);
  // The program's side is nobody's while it does not run.
  vcm5_store_relaxed(&page_->node_data.out_tail[half_], half.out_tail());
  vcm5_store_relaxed(&page_->node_data.in_head[half_], half.in_head);
  vcm5_store_relaxed(&page_->node_data.received[half_], half.received);
  vcm5_store_relaxed(&page_->node_data.interrupt_mask, saved.tag_interrupts);
  vcm5_store_release(&page_->data[half_].in_tail, in_tail_);
  PublishTaken();
}

}  // namespace vcm5
