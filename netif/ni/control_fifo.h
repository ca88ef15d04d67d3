// One FIFO pair of the control network, as the network sees it: takes entries that the program
// pushed, keeps room for what will come back, writes and publishes what came.
//
// Positions are free-running counts, held here; of the mapped page only the program's out_tail and
// in_head and the entries themselves are read, each copied once and the copy validated (NI13).
// What the user has pushed stays in its slots until its operation is complete: so the words of
// operations that a flush aborts are still there, to be taken again (NI11).
// Invariants: published <= delivered <= sent <= read + depth, so a promised result has room.
#ifndef VCM5_NETIF_NI_CONTROL_FIFO_H_
#define VCM5_NETIF_NI_CONTROL_FIFO_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "netif/ni/ni_geometry.h"
#include "netif/ni/saved_ni.h"
#include "netif/shm/atomic_words.h"
#include "netif/shm/ni_page.h"
#include "netif/shm/supervisor_page.h"

namespace vcm5 {

// What a program wrote that no program may.
enum class ControlPortError : uint8_t {
  kNone = 0,
  kHeld,          // nothing wrong: the network is flushed, and holds until it is reinitiated
  kOutgoingTail,  // more entries than the FIFO holds
  kIncomingHead,  // read what had not come, or took a read back
  kEntry,         // length, first and last word do not make a message
  kOperation,     // no such combiner or pattern
  kPrivileged,    // a supervisor, interrupt or utility broadcast (NI9)
};
const char* ControlPortErrorName(ControlPortError error);
constexpr bool IsError(ControlPortError error) { return error > ControlPortError::kHeld; }

// An entry, copied.
struct ControlEntry {
  uint32_t word;
  uint32_t control;

  bool first() const { return (control & VCM5_ENTRY_FIRST) != 0; }
  bool last() const { return (control & VCM5_ENTRY_LAST) != 0; }
  bool changes_abstaining() const { return (control & VCM5_ENTRY_ABSTAIN) != 0; }
  uint32_t length() const { return VCM5_ENTRY_LENGTH_OF(control); }
};

struct ControlFifoStats {
  uint64_t sent = 0;           // words taken from the outgoing FIFO
  uint64_t delivered = 0;      // words published in the incoming FIFO
  uint64_t stalls_window = 0;  // polls that found the window used up
  uint64_t stalls_unread = 0;  // polls that found no room for a result
};

class alignas(64) ControlFifo {
 public:
  static constexpr uint32_t kFraming = VCM5_ENTRY_FIRST | VCM5_ENTRY_LAST;

  // `window`: words of operations that may be in flight.
  ControlFifo(vcm5_ni_page* page, unsigned fifo, const NiGeometry& geometry, uint32_t window);
  // The supervisor's, for a privileged kind of broadcast.
  ControlFifo(vcm5_supervisor_page* page, unsigned kind);

  // ---- outgoing ----

  // Looks at what the program has pushed. True if there are entries; kOutgoingTail in *error if
  // there are more than there can be.
  bool Look(ControlPortError* error) {
    // SYNC control_out_tail: pairs with the release in vcm5_port_control_publish().
    tail_ = vcm5_load_acquire(&by_program_->out_tail[fifo_]);
    if (__builtin_expect(tail_ == taken_, 1)) return false;
    if (__builtin_expect(tail_ - taken_ <= depth_, 1)) return true;
    *error = ControlPortError::kOutgoingTail;
    tail_ = taken_;
    return false;
  }
  // Entries seen and not taken.
  uint32_t entries() const { return tail_ - taken_; }
  bool HasEntries() const { return entries() != 0; }

  // A copy of the next entry; HasEntries().
  ControlEntry Copy() const {
    const vcm5_control_entry* entry = &out_[taken_ & (depth_ - 1)];
    return {vcm5_load_relaxed(&entry->word), vcm5_load_relaxed(&entry->control)};
  }

  // Whether `entry` begins or continues a message as it must.
  ControlPortError Validate(const ControlEntry& entry) const {
    if (__builtin_expect(Whole(entry) && entry.length() == 1 && !in_message(), 1)) {
      return ValidateOperation(entry.control);
    }
    return ValidateLonger(entry);
  }
  bool IsOperationOfOneWord(const ControlEntry& entry) const {
    return Whole(entry) && entry.length() == 1 && !in_message() &&
           ValidateOperation(entry.control) == ControlPortError::kNone;
  }

  // Moves past a valid entry of a message.
  void Take(const ControlEntry& entry) {
    if (!Whole(entry)) {
      if (entry.first()) {
        control_ = entry.control & ~kFraming;
        words_left_ = static_cast<uint8_t>(entry.length());
      }
      --words_left_;
    }
    ++taken_;
    ++stats_.sent;
  }
  bool in_message() const { return words_left_ != 0; }
  // Moves past an entry that is not part of a message; !in_message().
  void Skip() { ++taken_; }

  // Frees the slots of what was taken, but for the last `kept`.
  void FreeTaken(uint32_t kept) {
    // SYNC control_out_head: pairs with the acquire in vcm5_port_control_space().
    vcm5_store_release(&to_program_->out_head[fifo_], taken_ - kept);
  }
  // Words taken whose operation is not complete: its results are not published.
  uint32_t incomplete() const { return sent_ - published_; }
  // The network is flushed: the last `kept` entries are as if they had never been taken, and what
  // has come in part as if it had not.
  void Abort(uint32_t kept) {
    taken_ -= kept;
    stats_.sent -= kept;
    words_left_ = 0;
    Drop();
  }

  // ---- room for what comes ----

  // Looks at how far the program has read. False if that cannot be.
  bool RefreshRead() {
    // SYNC control_in_head: pairs with the release in vcm5_port_control_receive_word().
    const uint32_t read = vcm5_load_acquire(&by_program_->in_head[fifo_]);
    if (published_ - read > published_ - read_) return false;
    read_ = read;
    return true;
  }
  // Room in the incoming FIFO for one result more, as far as was seen.
  bool HasRoom() const { return sent_ - read_ < depth_; }
  // Keeps room for a result.
  void KeepRoom() { ++sent_; }
  bool WindowFull() const { return in_flight() >= window_; }
  // Results still to come.
  uint32_t in_flight() const { return sent_ - delivered_; }
  uint32_t unread() const { return delivered_ - read_; }

  // ---- incoming ----

  // Writes the next word of the message that comes. For results, in_flight() > 0; for others,
  // call KeepRoom() before.
  void Write(uint32_t word, uint32_t control) {
    vcm5_control_entry* entry = &in_[delivered_ & (depth_ - 1)];
    vcm5_store_relaxed(&entry->word, word);
    vcm5_store_relaxed(&entry->control, control);
    ++delivered_;
  }
  uint32_t unpublished() const { return delivered_ - published_; }
  // Changes the control of an unpublished word.
  void SetControl(uint32_t index, uint32_t control) {
    vcm5_store_relaxed(&in_[(published_ + index) & (depth_ - 1)].control, control);
  }
  // Takes unpublished words back, as if they had never come.
  void Drop() { sent_ = delivered_ = published_; }
  void Publish() {
    stats_.delivered += delivered_ - published_;
    published_ = delivered_;
    // SYNC control_in_tail: pairs with the acquire in vcm5_port_control_peek().
    vcm5_store_release(&to_program_->in_tail[fifo_], published_);
  }

  // ---- what is awaited: kept beside each word in flight, for the combine FIFO ----

  // For the word for which room is kept next.
  void Await(uint64_t awaited) { awaited_[sent_ & (depth_ - 1)] = awaited; }
  // Of the word that comes next; of an unpublished word.
  uint64_t awaited() const { return awaited_[delivered_ & (depth_ - 1)]; }
  uint64_t unpublished_awaited(uint32_t index) const {
    return awaited_[(published_ + index) & (depth_ - 1)];
  }

  uint32_t depth() const { return depth_; }
  bool abstaining() const { return abstaining_; }
  void set_abstaining(bool abstaining) { abstaining_ = abstaining; }
  ControlFifoStats& stats() { return stats_; }
  const ControlFifoStats& stats() const { return stats_; }
  void CheckInvariants() const;

  // ---- a whole user (saved_ni.h), while nothing is in flight ----

  void Save(SavedControlFifo* saved) const;
  void Restore(const SavedControlFifo& saved);

 private:
  // A message of one word.
  static bool Whole(const ControlEntry& entry) { return (entry.control & kFraming) == kFraming; }
  ControlPortError ValidateLonger(const ControlEntry& entry) const;
  ControlPortError ValidateOperation(uint32_t control) const;

  // The cache line of every word.
  const vcm5_control_entry* out_;
  vcm5_control_entry* in_;
  const vcm5_control_positions* by_program_;
  vcm5_control_results* to_program_;
  uint32_t depth_;
  uint32_t tail_ = 0;        // entries pushed when last looked at
  uint32_t taken_ = 0;       // entries taken
  uint32_t sent_ = 0;        // words for which room is kept, or that have come
  uint32_t delivered_ = 0;   // words written
  uint32_t published_ = 0;   // words that the program may read
  uint32_t read_ = 0;        // words that it had read when last looked at
  uint8_t words_left_ = 0;   // of the message being taken
  bool abstaining_ = false;
  uint8_t fifo_;
  uint8_t words_max_;  // of a message
  // The others'.
  ControlFifoStats stats_;
  uint32_t window_;
  uint32_t control_ = 0;     // of the message being taken, without first and last
  std::vector<uint64_t> awaited_;  // by slot; empty if there is no window
};

// The fields that say what a message wants of the network, at its first word.
inline ControlPortError ControlFifo::ValidateOperation(uint32_t control) const {
  constexpr uint32_t kLength = VCM5_ENTRY_LENGTH(0xff);
  constexpr uint32_t kOperation = VCM5_ENTRY_SEGMENT | (7u << VCM5_ENTRY_COMBINER_SHIFT) |
                                  (3u << VCM5_ENTRY_PATTERN_SHIFT);
  const uint32_t fields = control & ~(kLength | kFraming);
  if (fields == 0) return ControlPortError::kNone;
  if (VCM5_ENTRY_KIND_OF(fields) != VCM5_BROADCAST_USER) return ControlPortError::kPrivileged;
  if (fifo_ != VCM5_FIFO_COMBINE || (fields & ~kOperation) != 0) return ControlPortError::kEntry;
  return VCM5_ENTRY_COMBINER_OF(control) < VCM5_COMBINERS &&
                 VCM5_ENTRY_PATTERN_OF(control) < VCM5_PATTERNS
             ? ControlPortError::kNone
             : ControlPortError::kOperation;
}

}  // namespace vcm5

#endif  // VCM5_NETIF_NI_CONTROL_FIFO_H_
