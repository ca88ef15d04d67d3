#include "daemons/config/place_names.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "switches/topology/health.h"
#include "switches/topology/link_names.h"

namespace vcm5 {
namespace {

constexpr char kExpected[] =
    "expected \"data.left: chip LEVEL/NUMBER\", \"data.left: link of chip LEVEL/NUMBER port PORT\" or "
    "\"data.left: leaf NUMBER\", the same with data.right or control, or \"leaf NUMBER\"";

// Takes a text apart from its front. Blanks between its pieces do not matter.
class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  // Whether a piece comes next; takes it if so. A word ends where its letters do.
  bool Take(const std::string& piece) {
    SkipBlanks();
    if (text_.compare(at_, piece.size(), piece) != 0) return false;
    const size_t end = at_ + piece.size();
    if (absl::ascii_isalpha(static_cast<unsigned char>(piece.back())) && end < text_.size() &&
        absl::ascii_isalnum(static_cast<unsigned char>(text_[end]))) {
      return false;
    }
    at_ = end;
    return true;
  }

  // A decimal number, of at most eight digits: more than any place has.
  bool TakeNumber(uint32_t* number) {
    SkipBlanks();
    const size_t first = at_;
    *number = 0;
    while (at_ < text_.size() && absl::ascii_isdigit(static_cast<unsigned char>(text_[at_])) &&
           at_ - first < 8) {
      *number = *number * 10 + static_cast<uint32_t>(text_[at_++] - '0');
    }
    return at_ != first;
  }

  bool AtEnd() {
    SkipBlanks();
    return at_ == text_.size();
  }

 private:
  void SkipBlanks() {
    while (at_ < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  const std::string& text_;
  size_t at_ = 0;
};

bool TakeChip(Reader& reader, BrokenPart* part) {
  return reader.Take("chip") && reader.TakeNumber(&part->level) && reader.Take("/") &&
         reader.TakeNumber(&part->number);
}

bool TakePlace(Reader& reader, BrokenPart* part) {
  bool in_network = true;
  if (reader.Take("data.left")) {
    part->halves = kLeftHalf;
  } else if (reader.Take("data.right")) {
    part->halves = kRightHalf;
  } else if (reader.Take("control")) {
    part->halves = kControlNetwork;
  } else {
    in_network = false;
  }
  if (in_network && !reader.Take(":")) return false;
  if (reader.Take("leaf")) {
    part->kind = BrokenPart::Kind::kLeaf;
    return reader.TakeNumber(&part->leaf);
  }
  if (!in_network) return false;
  if (reader.Take("link")) {
    part->kind = BrokenPart::Kind::kLink;
    return reader.Take("of") && TakeChip(reader, part) && reader.Take("port") &&
           reader.TakeNumber(&part->port);
  }
  part->kind = BrokenPart::Kind::kChip;
  return TakeChip(reader, part);
}

std::string NetworkPrefix(const BrokenPart& part) {
  return part.halves == kLeftHalf         ? "data.left: "
         : part.halves == kRightHalf      ? "data.right: "
         : part.halves == kControlNetwork ? "control: "
                                          : "";
}

// What was expected of a place in a network of `leaves` leaves and `levels` levels of chips, of which
// level l has chips_at(l), and chip n of it the links has_port(n, port).
template <class ChipsAt, class HasPort>
std::string Expected(const BrokenPart& part, uint32_t leaves, unsigned levels, ChipsAt&& chips_at,
                     HasPort&& has_port) {
  if (part.kind == BrokenPart::Kind::kLeaf) {
    return absl::StrCat("expected a leaf from 0 to ", leaves - 1);
  }
  if (part.level < 1 || part.level > levels) {
    return absl::StrCat("expected a level from 1 to ", levels);
  }
  if (part.number >= chips_at(part.level)) {
    return absl::StrCat("expected a chip of level ", part.level, ", from 0 to ",
                        chips_at(part.level) - 1);
  }
  std::string ports;
  for (unsigned port = 0; port < kChipPorts; ++port) {
    if (has_port(part.number, port)) absl::StrAppend(&ports, ports.empty() ? "" : ", ", port);
  }
  return absl::StrCat("expected a port of that chip that has a link: ", ports);
}

}  // namespace

absl::StatusOr<BrokenPart> ParsePlace(const std::string& text) {
  BrokenPart part;
  Reader reader(text);
  if (!TakePlace(reader, &part) || !reader.AtEnd()) return absl::InvalidArgumentError(kExpected);
  return part;
}

std::string PlaceName(const BrokenPart& part) {
  switch (part.kind) {
    case BrokenPart::Kind::kChip:
      return absl::StrCat(NetworkPrefix(part), "chip ", part.level, "/", part.number);
    case BrokenPart::Kind::kLink:
      return absl::StrCat(NetworkPrefix(part), "link of chip ", part.level, "/", part.number, " port ",
                          part.port);
    case BrokenPart::Kind::kLeaf:
      return absl::StrCat(NetworkPrefix(part), "leaf ", part.leaf);
  }
  return "";
}

std::string PlaceFault(const FatTree& tree, const BrokenPart& part) {
  if (HasPart(tree, part)) return "";
  return Expected(
      part, tree.leaves(), tree.levels(), [&](unsigned level) { return ChipsAt(tree, level); },
      [&](uint32_t number, unsigned port) {
        const ChipId chip = tree.chip(part.level, 0, 0) + number;
        return tree.peer(chip, port).kind != FatTreePeer::Kind::kNothing;
      });
}

std::string PlaceFault(const ControlSwitches& switches, const BrokenPart& part) {
  if (switches.Has(part)) return "";
  return Expected(
      part, switches.leaves(), switches.levels(),
      [&](unsigned level) { return switches.chips_at(level); },
      [&](uint32_t number, unsigned port) { return switches.HasPort(part.level, number, port); });
}

}  // namespace vcm5
