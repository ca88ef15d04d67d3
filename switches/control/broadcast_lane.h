// One class of broadcasts in one combining node (paper section 5, CN2). Nothing is buffered: a
// single-source packet passes at once, ahead of whatever waits.
//
// Going up, the lane notices a second source: a packet from one side while a message from the other
// has begun and not ended. That breaks the lane until it is made anew.
//
// Flow control is end to end. Each leaf reports how many words of the class it has consumed since
// the beginning; the lane passes the smaller of its children's counts to the parent when it grows.
// Counts are modulo 2^32 and never more than half of that apart.
#ifndef VCM5_SWITCHES_CONTROL_BROADCAST_LANE_H_
#define VCM5_SWITCHES_CONTROL_BROADCAST_LANE_H_

#include <cstdint>

#include "netif/wire/control_packet.h"

namespace vcm5 {

class BroadcastLane {
 public:
  // A single-source packet from child `side`. It passes to the parent if there is no fault and the
  // lane is not broken.
  ControlFault HandleFromChild(unsigned side, uint64_t body) {
    if (broken_) return ControlFault::kNone;
    last_side_ = static_cast<uint8_t>(side);
    const uint8_t source = static_cast<uint8_t>(side + 1);
    const bool first = (body & control_body::kFirst) != 0;
    if (source_ != 0 && source_ != source) return Break(ControlFault::kBroadcastCollision);
    if (first != (source_ == 0)) return Break(ControlFault::kFraming);
    source_ = (body & control_body::kLast) != 0 ? 0 : source;
    return ControlFault::kNone;
  }

  // A single-source packet from the parent, on its way to both children.
  void HandleFromParent() { ++passed_down_; }

  // Child `side` has consumed `count` words. Sets *grown if the smaller count grew.
  ControlFault HandleConsumed(unsigned side, uint32_t count, bool* grown) {
    *grown = false;
    if (broken_) return ControlFault::kNone;
    if (count - consumed_[side] > passed_down_ - consumed_[side]) {
      return Break(ControlFault::kFlowControl);
    }
    consumed_[side] = count;
    const uint32_t other = consumed_[1 - side];
    const uint32_t least = static_cast<int32_t>(count - other) < 0 ? count : other;
    *grown = least != least_;
    least_ = least;
    return ControlFault::kNone;
  }

  // A word may have been dropped somewhere in the network, or it is flushed (combining_node.h): until
  // Restart(), whatever comes is dropped. Then words are counted from `count_from`, of which nobody
  // has consumed any.
  void Stop() { broken_ = true; }
  void Restart(uint32_t count_from) {
    *this = BroadcastLane();
    passed_down_ = count_from;
  }

  uint32_t least_consumed() const { return least_; }
  // Where the last packet on its way up came from: below a node where two sources met, the way to
  // each of them.
  unsigned last_side() const { return last_side_; }
  bool broken() const { return broken_; }

 private:
  ControlFault Break(ControlFault fault) {
    broken_ = true;
    return fault;
  }

  uint8_t source_ = 0;  // 1 + side whose message has begun and not ended; 0: none
  bool broken_ = false;
  uint8_t last_side_ = 0;
  uint32_t passed_down_ = 0;
  uint32_t consumed_[2] = {0, 0};
  uint32_t least_ = 0;  // the smaller of the two, as the parent knows it
};

}  // namespace vcm5

#endif  // VCM5_SWITCHES_CONTROL_BROADCAST_LANE_H_
