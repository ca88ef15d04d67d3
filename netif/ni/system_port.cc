#include "netif/ni/system_port.h"

#include "netif/shm/atomic_words.h"

namespace vcm5 {

static_assert(VCM5_FIRST_SYSTEM_TAG == kFirstSystemTag && VCM5_LAST_SYSTEM_TAG == kTags - 1);
static_assert(VCM5_SYSTEM_WORDS_MAX == kCm5eWordsMax);

uint32_t SystemPort::Look() {
  if (page_ == nullptr || failed_) return 0;
  // SYNC system_out_tail: pairs with the release in vcm5_supervisor_send().
  const uint32_t pushed =
      vcm5_load_acquire(&page_->supervisor_data.out_tail[half_]) - out_head_;
  if (pushed <= VCM5_SYSTEM_DEPTH) return pushed;
  Fail();
  return 0;
}

// Each word is read once. What is wrong with length or tag is reported.
bool SystemPort::CopyNext(DataPacket* packet, uint32_t* destination, unsigned* tag,
                          unsigned* length) {
  const vcm5_system_message& message = page_->data_out[half_][out_head_++ % VCM5_SYSTEM_DEPTH];
  *destination = vcm5_load_relaxed(&message.address);
  const uint32_t control = vcm5_load_relaxed(&message.control);
  *tag = VCM5_SYSTEM_TAG_OF(control);
  *length = VCM5_SYSTEM_LENGTH_OF(control);
  if (*length - 1 >= words_max_) return Refuse(DataPortFault::kBadLength, *length);
  if (*tag < kFirstSystemTag || *tag >= kTags) return Refuse(DataPortFault::kBadTag, *tag);
  for (unsigned i = 0; i < *length; ++i) packet->words[i] = vcm5_load_relaxed(&message.words[i]);
  return true;
}

void SystemPort::PublishTaken() {
  // SYNC system_out_head: pairs with the acquire in vcm5_supervisor_send().
  vcm5_store_release(&page_->data[half_].out_head, out_head_);
}

bool SystemPort::Deliver(const DataPacket& packet) {
  if (page_ != nullptr && !failed_ && in_tail_ - in_head_ == VCM5_SYSTEM_DEPTH) {
    // SYNC system_in_head: pairs with the release in vcm5_supervisor_receive().
    const uint32_t head = vcm5_load_acquire(&page_->supervisor_data.in_head[half_]);
    if (head - in_head_ > VCM5_SYSTEM_DEPTH) Fail();
    in_head_ = head;
  }
  if (page_ == nullptr || failed_ || in_tail_ - in_head_ == VCM5_SYSTEM_DEPTH) {
    ++dropped_;
    if (page_ != nullptr) {
      vcm5_store_release(&page_->data[half_].dropped, static_cast<uint32_t>(dropped_));
    }
    return false;
  }
  const unsigned length = data_header::Length(packet.header);
  vcm5_system_message& message = page_->data_in[half_][in_tail_++ % VCM5_SYSTEM_DEPTH];
  vcm5_store_relaxed(&message.address, data_header::Destination(packet.header));
  vcm5_store_relaxed(&message.control,
                     VCM5_SYSTEM_CONTROL(data_header::Tag(packet.header), length));
  for (unsigned i = 0; i < length; ++i) vcm5_store_relaxed(&message.words[i], packet.words[i]);
  // SYNC system_in_tail: pairs with the acquire in vcm5_supervisor_receive().
  vcm5_store_release(&page_->data[half_].in_tail, in_tail_);
  ++delivered_;
  return true;
}

}  // namespace vcm5
