// The control network's packet (paper section 5, figure 5): 65 bits, of which 51 are the body and
// 14 the CRC that every hop checks. Fixed binary layout, little endian, in 16 bytes on links:
//
//   bytes 0-7    body      bits  0-31  word: the data word, or what the operation says
//                          bits 32-33  type: idle, single-source, multiple-source, abstain
//                          bits 34-37  operation, in the terms of the type
//                          bits 38-40  combiner (enum vcm5_combiner); multiple-source only
//                          bit  41     first word of a message
//                          bit  42     last word of a message
//                          bit  43     segment: a segment starts at, or somewhere below, the sender
//                          bit  44     overflow: an addition overflowed on the way
//                          bit  45     error: the word is an error report
//                          bits 46-47  flow control: class of the broadcasts that `word` counts
//                          bits 48-50  synchronisation: asynchronous OR of the user, of the
//                                      supervisor, hard error
//                          bits 51-63  zero
//   bytes 8-11   crc       14 bits: CRC-32C over the body, folded
//   bytes 12-15  zero
//
// Idle packets are the machine's filler. Here one is sent only when it has something to say:
// changed synchronisation bits, flow control, an error. The synchronous OR's bit is bit 0 of the
// word of its multiple-source packet.
#ifndef VCM5_NETIF_WIRE_CONTROL_PACKET_H_
#define VCM5_NETIF_WIRE_CONTROL_PACKET_H_

#include <cstdint>

#include "netif/wire/crc32c.h"

namespace vcm5 {

enum class ControlType : uint32_t { kIdle = 0, kSingleSource = 1, kMultipleSource = 2, kAbstain = 3 };
inline constexpr unsigned kControlTypes = 4;

// Operations of a multiple-source packet. The first three are enum vcm5_pattern.
enum class CombineOperation : uint32_t {
  kReduce = 0,
  kScanForward = 1,
  kScanBackward = 2,
  kRouterDoneReceived = 3,  // wave R of router-done: sum of messages received
  kRouterDoneSent = 4,      // wave S: sum of messages sent
  kSyncOr = 5,
};
inline constexpr unsigned kCombineOperations = 6;

// The same as enum vcm5_combiner of netif/shm/ni_page.h.
enum class Combiner : uint32_t { kOr = 0, kXor = 1, kMax = 2, kAdd = 3, kUnsignedAdd = 4 };
inline constexpr unsigned kCombiners = 5;

// Word of the identity: what an abstaining leaf contributes, and what a scan's first leaf receives.
// The maximum's is the least signed number, whose most significant word comes first.
constexpr uint32_t IdentityWord(Combiner combiner, bool first) {
  return combiner == Combiner::kMax && first ? 0x80000000u : 0;
}

enum class BroadcastOperation : uint32_t { kUser = 0, kSupervisor = 1, kInterrupt = 2, kUtility = 3 };
inline constexpr unsigned kBroadcastClasses = 4;

// Further operations of a single-source packet, privileged and of one packet: the end of a
// timeslice and the beginning of the next (switches/control/combining_node.h, CN10). The word of
// kFlush is where the words of user broadcasts are counted from afterwards.
inline constexpr uint32_t kFlush = 4;
inline constexpr uint32_t kReinitiate = 5;
inline constexpr unsigned kSingleSourceOperations = 6;

// Synchronisation bits of an idle packet (kSynchronise), each an OR over the partition.
inline constexpr uint32_t kSyncUser = 1;        // the user's asynchronous OR
inline constexpr uint32_t kSyncSupervisor = 2;  // the supervisor's
inline constexpr uint32_t kSyncHardError = 4;   // a hard error of a chip or an NI (CN8)

// kParties goes before kError and says who met: the first leaf of either side, 16 bits each. Leaves
// send no kParties: the network knows where a packet came from. kFlushed answers kFlush: on its way
// up that all is flushed below, on its way down that all is.
enum class IdleOperation : uint32_t {
  kSynchronise = 0,
  kFlowControl = 1,
  kError = 2,
  kParties = 3,
  kFlushed = 4
};

// The independent ordered streams of multiple-source packets. An abstain packet's operation is the
// stream; its word is 1 to abstain, 0 to take part again.
enum ControlStream : unsigned {
  kStreamCombine = 0,
  kStreamRouterDone = 1,
  kStreamSyncOr = 2,
  kControlStreams = 3
};

// What can be wrong with what a neighbour sent. Counted by kind, and sent to all leaves (CN8).
enum class ControlFault : uint32_t {
  kNone = 0,
  kCrc,                // damaged on the link
  kBadPacket,          // no such type, operation or combiner, or a field that must be zero
  kMismatch,           // different operations met in one node
  kFraming,            // a message began inside another, or continued before it began
  kQueueOverflow,      // more words in flight than the window allows
  kUnexpectedResult,   // a result for an operation that is not in flight here
  kAbstainOutOfTurn,   // an abstain packet overtook an operation in flight
  kBroadcastCollision, // two sources broadcast at once
  kFlowControl,        // more broadcast words reported as consumed than were sent
};
inline constexpr unsigned kControlFaults = 10;

constexpr const char* ControlFaultName(ControlFault fault) {
  constexpr const char* kNames[kControlFaults] = {
      "none",           "damaged packet",    "malformed packet",     "different operations met",
      "message framing", "window overrun",   "unexpected result",    "abstain out of turn",
      "broadcast collision", "broadcast flow control"};
  const auto index = static_cast<unsigned>(fault);
  return index < kControlFaults ? kNames[index] : "unknown";
}

struct ControlPacket {
  uint64_t body;
  uint32_t crc;
  uint32_t zero;
};
static_assert(sizeof(ControlPacket) == 16);

namespace control_body {

inline constexpr unsigned kTypeShift = 32;
inline constexpr unsigned kOperationShift = 34;
inline constexpr unsigned kCombinerShift = 38;
inline constexpr uint64_t kFirst = uint64_t{1} << 41;
inline constexpr uint64_t kLast = uint64_t{1} << 42;
inline constexpr uint64_t kSegment = uint64_t{1} << 43;
inline constexpr uint64_t kOverflow = uint64_t{1} << 44;
inline constexpr uint64_t kError = uint64_t{1} << 45;
inline constexpr unsigned kFlowShift = 46;
inline constexpr unsigned kSyncShift = 48;
inline constexpr uint64_t kWordMask = 0xffffffffu;
inline constexpr uint64_t kZeroMask = ~((uint64_t{1} << 51) - 1);

// What the packets of one operation that meet in a node must agree in: type, operation, combiner,
// first, last.
inline constexpr uint64_t kAgreeMask = uint64_t{0x7ff} << kTypeShift;

constexpr uint32_t Word(uint64_t body) { return static_cast<uint32_t>(body); }
constexpr ControlType Type(uint64_t body) {
  return static_cast<ControlType>(static_cast<uint32_t>(body >> kTypeShift) & 3);
}
constexpr uint32_t Operation(uint64_t body) {
  return static_cast<uint32_t>(body >> kOperationShift) & 0xf;
}
constexpr Combiner CombinerOf(uint64_t body) {
  return static_cast<Combiner>(static_cast<uint32_t>(body >> kCombinerShift) & 7);
}
constexpr uint32_t Sync(uint64_t body) { return static_cast<uint32_t>(body >> kSyncShift) & 7; }
// The broadcast class that a flow-control packet counts.
constexpr uint32_t FlowClass(uint64_t body) {
  return static_cast<uint32_t>(body >> kFlowShift) & 3;
}
constexpr uint64_t WithWord(uint64_t body, uint32_t word) { return (body & ~kWordMask) | word; }

// The stream of a multiple-source operation; kControlStreams if there is no such operation.
constexpr unsigned StreamOf(uint64_t body) {
  // Two bits an operation: 0 0 0 1 1 2, then 3.
  return (0xfffff940u >> (2 * Operation(body))) & 3;
}

constexpr uint64_t Make(ControlType type, uint32_t operation, uint32_t word) {
  return (uint64_t{static_cast<uint32_t>(type)} << kTypeShift) |
         (uint64_t{operation} << kOperationShift) | word;
}
constexpr uint64_t MakeCombine(CombineOperation operation, Combiner combiner, uint32_t word,
                               uint64_t flags) {
  return Make(ControlType::kMultipleSource, static_cast<uint32_t>(operation), word) |
         (uint64_t{static_cast<uint32_t>(combiner)} << kCombinerShift) | flags;
}
constexpr uint64_t MakeBroadcast(BroadcastOperation operation, uint32_t word, uint64_t flags) {
  return Make(ControlType::kSingleSource, static_cast<uint32_t>(operation), word) | flags;
}
constexpr uint64_t MakeFlush(uint32_t count_from) {
  return Make(ControlType::kSingleSource, kFlush, count_from) | kFirst | kLast;
}
constexpr uint64_t MakeReinitiate() {
  return Make(ControlType::kSingleSource, kReinitiate, 0) | kFirst | kLast;
}
constexpr uint64_t MakeFlushed() {
  return Make(ControlType::kIdle, static_cast<uint32_t>(IdleOperation::kFlushed), 0);
}
constexpr uint64_t MakeAbstain(unsigned stream, bool abstain) {
  return Make(ControlType::kAbstain, stream, abstain ? 1 : 0);
}
constexpr uint64_t MakeSynchronise(uint32_t bits) {
  return Make(ControlType::kIdle, static_cast<uint32_t>(IdleOperation::kSynchronise), 0) |
         (uint64_t{bits} << kSyncShift);
}
constexpr uint64_t MakeFlowControl(BroadcastOperation of, uint32_t consumed) {
  return Make(ControlType::kIdle, static_cast<uint32_t>(IdleOperation::kFlowControl), consumed) |
         (uint64_t{static_cast<uint32_t>(of)} << kFlowShift);
}

// Bits 32-43 of a body: enough to name the packet in an error report.
constexpr uint32_t Description(uint64_t body) {
  return static_cast<uint32_t>(body >> kTypeShift) & 0xfff;
}

// An error report: the kind (4 bits), then the descriptions of the two packets that met (12 each).
constexpr uint64_t MakeError(ControlFault fault, uint64_t left, uint64_t right) {
  const uint32_t word =
      static_cast<uint32_t>(fault) | (Description(left) << 4) | (Description(right) << 16);
  return Make(ControlType::kIdle, static_cast<uint32_t>(IdleOperation::kError), word) | kError;
}
constexpr ControlFault FaultOf(uint64_t error) { return static_cast<ControlFault>(Word(error) & 0xf); }
// As much of the packet that came from `side` as an error report tells.
constexpr uint64_t ReportedBody(uint64_t error, unsigned side) {
  return uint64_t{(Word(error) >> (side == 0 ? 4 : 16)) & 0xfff} << kTypeShift;
}
constexpr uint64_t MakeParties(uint32_t left, uint32_t right) {
  return Make(ControlType::kIdle, static_cast<uint32_t>(IdleOperation::kParties),
              (left & 0xffff) | (right << 16)) |
         kError;
}

// Whether a node may be given this body from a leaf: known type, operation and combiner, nothing
// set that must be zero.
constexpr bool WellFormed(uint64_t body) {
  constexpr uint64_t kSync = uint64_t{7} << kSyncShift;
  constexpr uint64_t kFlow = uint64_t{3} << kFlowShift;
  constexpr uint64_t kMessage = kFirst | kLast;
  constexpr uint64_t kCombinerMask = uint64_t{7} << kCombinerShift;
  constexpr uint64_t kTypeAndOperation = uint64_t{0x3f} << kTypeShift;
  uint64_t may_be_set = kWordMask | kTypeAndOperation;
  const uint32_t operation = Operation(body);
  switch (Type(body)) {
    case ControlType::kMultipleSource:
      if (operation >= kCombineOperations || static_cast<uint32_t>(CombinerOf(body)) >= kCombiners) return false;
      may_be_set |= kCombinerMask | kMessage | kSegment | kOverflow;
      break;
    case ControlType::kSingleSource:
      if (operation >= kSingleSourceOperations) return false;
      may_be_set |= kMessage;
      break;
    case ControlType::kAbstain:
      if (operation >= kControlStreams || Word(body) > 1) return false;
      break;
    case ControlType::kIdle:
      if (operation == static_cast<uint32_t>(IdleOperation::kSynchronise)) {
        may_be_set |= kSync;
      } else if (operation == static_cast<uint32_t>(IdleOperation::kFlowControl)) {
        may_be_set |= kFlow;
      } else if (operation == static_cast<uint32_t>(IdleOperation::kError)) {
        may_be_set |= kError;
        if (FaultOf(body) == ControlFault::kNone || (Word(body) & 0xf) >= kControlFaults)
          return false;
      } else if (operation != static_cast<uint32_t>(IdleOperation::kFlushed)) {
        return false;
      }
      break;
  }
  return (body & ~may_be_set) == 0;
}

}  // namespace control_body

// 14 bits of the 32: of the ways to fold them, this one finds every error of up to three bits in the
// 65 of a packet.
inline uint32_t ControlPacketCrc(uint64_t body) {
  const uint32_t crc = Crc32cStep64(~uint32_t{0}, body);
  return (crc ^ (crc >> 13)) & 0x3fff;
}
inline ControlPacket SealControlPacket(uint64_t body) { return {body, ControlPacketCrc(body), 0}; }
inline bool ControlPacketCrcGood(const ControlPacket& packet) {
  return ControlPacketCrc(packet.body) == packet.crc;
}

}  // namespace vcm5

#endif  // VCM5_NETIF_WIRE_CONTROL_PACKET_H_
