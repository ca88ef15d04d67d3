// End-to-end flow control of one class of broadcasts, at one leaf (paper section 5, CN2): "there is
// no buffering for single-source packets".
//
// All counts are of words broadcast in the partition since the beginning, or from where the last flush
// lets them begin, by whomever, modulo 2^32:
// every leaf sees every word, its own included, so any leaf may be the next source and knows where
// the window stands. Each leaf reports how many it has consumed, in batches; the network returns
// the least of the partition. A source may send while, if all that it sends arrives, no leaf holds
// more than `depth` words.
#ifndef VCM5_NETIF_NI_BROADCAST_WINDOW_H_
#define VCM5_NETIF_NI_BROADCAST_WINDOW_H_

#include <cstdint>

namespace vcm5 {

class BroadcastWindow {
 public:
  // A quarter of the window may stay unreported; that must leave room for the longest message.
  explicit BroadcastWindow(uint32_t depth) : depth_(depth), batch_(depth >= 16 ? depth / 4 : 1) {}

  // A message of so many words may be sent, whole.
  bool Admits(uint32_t words) const { return Newest() - least_consumed_ + words <= depth_; }
  void CountSent() { expected_ = Newest() + 1; }
  void CountSeen() { ++seen_; }

  // Words sent from here and not yet seen, if nobody else sends at the same time, as nobody should.
  uint32_t InFlight() const { return Newest() - seen_; }

  // The network is flushed, and counts from `count` on, of which nobody has consumed any: each leaf
  // has that many behind it, but for what its program has not read, and reports it.
  void Restart(uint32_t count) {
    seen_ = expected_ = count;
    reported_ = least_consumed_ = 0;
  }

  // The partition's leaves have all consumed `count`. False if that cannot be.
  bool HandleLeastConsumed(uint32_t count) {
    if (count - least_consumed_ > Newest() - least_consumed_) return false;
    least_consumed_ = count;
    return true;
  }

  // Words to report as consumed, if `unread` of those seen still wait for the program.
  bool ReportDue(uint32_t unread) const { return seen_ - unread - reported_ >= batch_; }
  uint32_t TakeReport(uint32_t unread) { return reported_ = seen_ - unread; }
  // A report falls due as soon as the program reads enough.
  bool ReportNears() const { return seen_ - reported_ >= batch_; }

 private:
  // The last word that has been or will be seen here.
  uint32_t Newest() const { return static_cast<int32_t>(expected_ - seen_) > 0 ? expected_ : seen_; }

  uint32_t depth_;
  uint32_t batch_;
  uint32_t seen_ = 0;
  uint32_t expected_ = 0;  // count of the last word sent here, if no other source was in between
  uint32_t reported_ = 0;
  uint32_t least_consumed_ = 0;
};

}  // namespace vcm5

#endif  // VCM5_NETIF_NI_BROADCAST_WINDOW_H_
