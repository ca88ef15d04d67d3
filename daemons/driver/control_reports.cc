#include "daemons/driver/control_reports.h"

#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemons/driver/node_ranges.h"

namespace vcm5 {
namespace {

using control_body::kLast;

const char* CombinerName(Combiner combiner) {
  constexpr const char* kNames[kCombiners] = {"OR", "XOR", "maximum", "signed addition",
                                              "unsigned addition"};
  const auto index = static_cast<uint32_t>(combiner);
  return index < kCombiners ? kNames[index] : "no known operator";
}

std::string Nodes(const ControlParty& party, uint32_t host) {
  std::vector<uint32_t> places(party.last - party.first + 1);
  std::iota(places.begin(), places.end(), party.first);
  return NodeRanges(std::move(places), host);
}

}  // namespace

std::string DescribeControlPacket(uint64_t body) {
  const uint32_t operation = control_body::Operation(body);
  switch (control_body::Type(body)) {
    case ControlType::kMultipleSource: {
      constexpr const char* kNames[kCombineOperations] = {"a reduction",     "a forward scan",
                                                          "a backward scan", "a router-done",
                                                          "a router-done",   "a synchronous OR"};
      if (operation >= kCombineOperations) return "no known operation";
      if (operation > static_cast<uint32_t>(CombineOperation::kScanBackward)) {
        return kNames[operation];
      }
      return absl::StrCat(kNames[operation], " with ",
                          CombinerName(control_body::CombinerOf(body)));
    }
    case ControlType::kSingleSource: {
      constexpr const char* kNames[kBroadcastClasses] = {
          "a user broadcast", "a supervisor broadcast", "an interrupt broadcast",
          "a utility broadcast"};
      return operation < kBroadcastClasses ? kNames[operation] : "no known broadcast";
    }
    case ControlType::kAbstain:
      return "the wish to abstain";
    case ControlType::kIdle:
      return "an idle packet";
  }
  return "no known packet";
}

std::string DescribeControlEvent(const ControlEvent& event, const BinaryTree& tree,
                                 uint32_t host) {
  std::string text =
      absl::StrCat("the control network signals: ", ControlFaultName(event.fault), ": ");
  const bool two = event.party[0].first != event.party[1].first;
  std::string left = DescribeControlPacket(event.left);
  std::string right = DescribeControlPacket(event.right);
  if (two && event.fault == ControlFault::kMismatch && left == right) {
    // They differ in how long they are.
    for (unsigned side = 0; side < 2; ++side) {
      const uint64_t body = side == 0 ? event.left : event.right;
      absl::StrAppend(side == 0 ? &left : &right,
                      (body & kLast) != 0 ? " (its last word)" : " (not its last word)");
    }
  }
  if (event.fault == ControlFault::kCrc) {
    // Found at the upper end of the link of a packet on its way up, at the lower end of another.
    absl::StrAppend(&text, left, ", on the link ", event.down ? "down to " : "up from ",
                    tree.is_leaf(event.id) ? "" : "the combining node of ", Nodes(event.party[0], host));
  } else if (two) {
    absl::StrAppend(&text, left, " of ", Nodes(event.party[0], host), ", and ", right, " of ",
                    Nodes(event.party[1], host));
  } else if (tree.is_leaf(event.id)) {
    absl::StrAppend(&text, left, ", at ", Nodes(event.party[0], host));
  } else {
    absl::StrAppend(&text, left, ", at the combining node of ", Nodes(event.party[0], host));
  }
  return text;
}

}  // namespace vcm5
