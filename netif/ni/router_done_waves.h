// Router-done at one leaf (paper section 5, CN5): "Kirchhoff's current law" for a partition.
//
// After its program said that it is done sending, the leaf takes part in waves, two reductions a
// round: wave R adds up the messages received (taken out of the data network, and their handlers
// finished), wave S those sent. A leaf counts for S only after the sum of R has come back, so there
// is an instant t, when the last leaf has counted for R, between all counts of R and all of S:
//
//     sum R  <=  received by t  <=  sent by t  <=  sum S.
//
// If the sums are equal, so are the two in the middle: at t nothing was in flight and no handler
// was at work, and since handlers' replies are all that may still be sent, nothing ever will be.
// One wave, or both counts taken together, could miss a message that crosses from a leaf counted
// early to one counted late (Mattern's four counter method; the previous round's counts are not
// needed because R stands for them).
//
// If the sums differ, the next round waits until the driver sees a reason for another count.
#ifndef VCM5_NETIF_NI_ROUTER_DONE_WAVES_H_
#define VCM5_NETIF_NI_ROUTER_DONE_WAVES_H_

#include <cstdint>

#include "netif/wire/control_packet.h"

namespace vcm5 {

class RouterDoneWaves {
 public:
  bool idle() const { return state_ == State::kIdle; }
  // A round failed; the next begins with Due(true).
  bool held() const { return state_ == State::kHeld; }

  // The program is done sending; idle() holds.
  void Begin() { state_ = State::kReceivedDue; }

  // The network is flushed: what the program asked for begins anew. A wave that was cut gave its sum
  // to all leaves or to none (combining_node.h), so all were done or none was.
  void Abort() { state_ = State::kIdle; }

  // A count is to be sent now: of messages received if !sent(), else of messages sent.
  bool Due(bool resample) const {
    return state_ == State::kReceivedDue || state_ == State::kSentDue ||
           (resample && state_ == State::kHeld);
  }
  CombineOperation operation() const {
    return state_ == State::kSentDue ? CombineOperation::kRouterDoneSent
                                     : CombineOperation::kRouterDoneReceived;
  }
  void CountSent() {
    state_ = state_ == State::kSentDue ? State::kSentOut : State::kReceivedOut;
  }

  enum class Outcome { kGoOn, kDone, kUnexpected };
  // The sum of a wave has come back.
  Outcome HandleSum(CombineOperation operation, uint32_t sum) {
    if (operation == CombineOperation::kRouterDoneReceived && state_ == State::kReceivedOut) {
      received_ = sum;
      state_ = State::kSentDue;
      return Outcome::kGoOn;
    }
    if (operation == CombineOperation::kRouterDoneSent && state_ == State::kSentOut) {
      const bool done = sum == received_;
      state_ = done ? State::kIdle : State::kHeld;
      return done ? Outcome::kDone : Outcome::kGoOn;
    }
    return Outcome::kUnexpected;
  }

 private:
  enum class State : uint8_t { kIdle, kReceivedDue, kReceivedOut, kSentDue, kSentOut, kHeld };
  State state_ = State::kIdle;
  uint32_t received_ = 0;  // sum of the last wave R
};

}  // namespace vcm5

#endif  // VCM5_NETIF_NI_ROUTER_DONE_WAVES_H_
