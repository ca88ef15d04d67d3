#include "daemons/config/fault_spec.h"

#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "daemons/config/fault_words.h"
#include "netif/shm/ni_page.h"
#include "switches/topology/fat_tree.h"
#include "switches/topology/link_names.h"

namespace vcm5 {

const char kFaultHelp[] = R"(A fault is something in the networks that is broken on purpose:
`vcm5 run --fault FAULT`, as often as you like, or `fault: "FAULT"` in a machine
description.

  FAULT    NETWORK: WHERE WHAT WHEN
  NETWORK  data.left | data.right | control

In the data network:
  WHERE    chip LEVEL/CHIP port PORT  the link that leaves this port of a router
                                      chip: levels from 1 (next to the leaves),
                                      chips of a level from 0; ports 0 to 3 lead
                                      to children, 4 to 7 to parents
           leaf ADDRESS               the link that leaves a leaf's network
                                      interface
  WHAT     flip bit B                 bit B mod 8 of byte B / 8 of the packet
                                      arrives inverted
           lose                       the message does not arrive
           duplicate                  it arrives twice
  WHEN     once at message N          the Nth message of this link, from 1
           every K [from message N]   message N, and every Kth after it; N is K
                                      if left out

In the control network:
  WHERE    leaf ADDRESS link H up     the Hth link on the way from a leaf to the
                                      root of its partition's tree, 1 being the
                                      leaf's own: packets for the root
           leaf ADDRESS link H down   the same link: packets from the root
  WHAT     flip bit B                 bit B of the 65 of a packet arrives
                                      inverted; 51 to 64: the CRC
  WHEN     as above, with `packet` for `message`

Examples:
  data.left: chip 2/3 port 1 flip bit 17 once at message 1000
  data.right: leaf 5 lose every 100
  data.left: chip 1/0 port 4 duplicate every 10 from message 7
  control: leaf 5 link 2 up flip bit 60 once at packet 7

`vcm5 machine --check FILE` says how many levels and chips a machine has. What
comes of a fault: a damaged message or packet is found at the end of the link,
the job ends with a line that names the link, and no program sees it. A lost or
doubled message is found by counting, when the job ends or --timeout ends it.
--stats counts them all.
)";

namespace {

constexpr uint64_t kMessagesMax = std::numeric_limits<int64_t>::max();

// When a fault of a link that carries `what` strikes.
void TakeWhen(FaultWords& words, const std::string& what, uint64_t* first, uint64_t* every) {
  const std::string number = absl::StrCat("the number of a ", what);
  if (words.TakeOneOf({"once", "every"}) == 0) {
    words.Expect("at");
    words.Expect(what);
    *first = words.TakeNumber(number, 1, kMessagesMax);
    return;
  }
  *every = words.TakeNumber(absl::StrCat("a number of ", what, "s"), 1, kMessagesMax);
  *first = *every;
  if (words.Done()) return;
  words.Expect("from");
  words.Expect(what);
  *first = words.TakeNumber(number, 1, kMessagesMax);
}

std::string FormatWhen(const std::string& what, uint64_t first, uint64_t every) {
  return every == 0 ? absl::StrCat(" once at ", what, " ", first)
                    : absl::StrCat(" every ", every, " from ", what, " ", first);
}

// ---- the data network ----------------------------------------------------------------------------

LinkEnd TakeChipPort(FaultWords& words, const FatTree& tree) {
  uint64_t level = 0;
  uint64_t number = 0;
  words.TakePair("a chip as LEVEL/CHIP, such as 2/3", &level, &number);
  if (level < 1 || level > tree.levels()) {
    words.Refuse(absl::StrCat("LEVEL/CHIP with a level from 1 to ", tree.levels()));
    return {};
  }
  const unsigned of = static_cast<unsigned>(level);
  if (number >= ChipsAt(tree, of)) {
    words.Refuse(absl::StrCat("LEVEL/CHIP with a chip from 0 to ", ChipsAt(tree, of) - 1,
                              " at level ", level));
    return {};
  }
  const ChipId chip = tree.chip(of, 0, 0) + static_cast<uint32_t>(number);
  words.Expect("port");
  const LinkEnd end =
      ChipEnd(chip, static_cast<unsigned>(words.TakeNumber("a port", 0, kChipPorts - 1)));
  if (FarEnd(tree, end).kind == LinkEnd::Kind::kNothing) {
    std::string ports;
    for (unsigned port = 0; port < kChipPorts; ++port) {
      if (tree.peer(chip, port).kind == FatTreePeer::Kind::kNothing) continue;
      absl::StrAppend(&ports, ports.empty() ? "" : ", ", port);
    }
    words.Refuse(absl::StrCat("a port of ", ChipName(tree, chip), " that has a link: ", ports));
  }
  return end;
}

void AddDataFault(FaultWords& words, int half, MachineSpec* spec) {
  const FatTree tree(spec->leaves(), spec->parents_per_level);
  LinkFault fault;
  fault.half = half;
  if (words.TakeOneOf({"chip", "leaf"}) == 0) {
    fault.from = TakeChipPort(words, tree);
  } else {
    fault.from = LeafEnd(
        static_cast<uint32_t>(words.TakeNumber("the address of a leaf", 0, tree.leaves() - 1)));
  }
  fault.kind = static_cast<LinkFault::Kind>(words.TakeOneOf({"flip", "lose", "duplicate"}));
  if (fault.kind == LinkFault::Kind::kFlip) {
    words.Expect("bit");
    fault.bit = static_cast<uint32_t>(words.TakeNumber(
        "a bit of the machine's longest packet", 0, 8 * (12 + 4 * uint64_t{spec->words_max}) - 1));
  }
  TakeWhen(words, "message", &fault.first, &fault.every);
  words.ExpectEnd();
  if (words.status().ok()) spec->link_faults.push_back(fault);
}

void AddLeftFault(FaultWords& words, MachineSpec* spec) { AddDataFault(words, VCM5_LEFT, spec); }
void AddRightFault(FaultWords& words, MachineSpec* spec) { AddDataFault(words, VCM5_RIGHT, spec); }

std::string FormatLinkFault(const LinkFault& fault, const FatTree& tree) {
  std::string text = fault.half == VCM5_LEFT ? "data.left: " : "data.right: ";
  if (fault.from.kind == LinkEnd::Kind::kLeaf) {
    absl::StrAppend(&text, "leaf ", fault.from.id);
  } else {
    absl::StrAppend(&text, "chip ", tree.place(fault.from.id).level, "/",
                    ChipNumber(tree, fault.from.id), " port ", fault.from.port);
  }
  switch (fault.kind) {
    case LinkFault::Kind::kFlip:
      absl::StrAppend(&text, " flip bit ", fault.bit);
      break;
    case LinkFault::Kind::kLose:
      absl::StrAppend(&text, " lose");
      break;
    case LinkFault::Kind::kDuplicate:
      absl::StrAppend(&text, " duplicate");
      break;
  }
  return text + FormatWhen("message", fault.first, fault.every);
}

// ---- the control network -------------------------------------------------------------------------

void AddControlFault(FaultWords& words, MachineSpec* spec) {
  ControlLinkFault fault;
  words.Expect("leaf");
  fault.leaf = static_cast<uint32_t>(
      words.TakeNumber("the address of a leaf", 0, spec->leaves() - 1));
  words.Expect("link");
  fault.height = static_cast<uint32_t>(
      words.TakeNumber("a link of the way to the root", 1, ControlLinkFault::kHeightMax));
  fault.down = words.TakeOneOf({"up", "down"}) == 1;
  words.Expect("flip");
  words.Expect("bit");
  fault.bit = static_cast<uint32_t>(
      words.TakeNumber("a bit of a packet", 0, ControlLinkFault::kBits - 1));
  TakeWhen(words, "packet", &fault.first, &fault.every);
  words.ExpectEnd();
  if (words.status().ok()) spec->control_link_faults.push_back(fault);
}

std::string FormatControlFault(const ControlLinkFault& fault) {
  return absl::StrCat("control: leaf ", fault.leaf, " link ", fault.height,
                      fault.down ? " down" : " up", " flip bit ", fault.bit,
                      FormatWhen("packet", fault.first, fault.every));
}

// ---- all networks --------------------------------------------------------------------------------

struct Network {
  const char* name;
  void (*add)(FaultWords& words, MachineSpec* spec);
};

constexpr Network kNetworks[] = {
    {"data.left", AddLeftFault},
    {"data.right", AddRightFault},
    {"control", AddControlFault},
};

std::string NetworkNames() {
  std::string names;
  for (const Network& network : kNetworks) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", network.name);
  }
  return names;
}

}  // namespace

absl::Status AddFault(const std::string& text, MachineSpec* spec) {
  const auto wrong = [&](const std::string& why) {
    // A line is a line, whatever a text contains.
    std::string shown = text;
    for (char& each : shown) {
      if (!absl::ascii_isprint(static_cast<unsigned char>(each))) each = '?';
    }
    return absl::InvalidArgumentError(absl::StrCat("fault `", shown, "`: ", why));
  };
  const size_t colon = text.find(':');
  if (colon == std::string::npos) {
    return wrong(absl::StrCat("no `NETWORK:` in front; networks are ", NetworkNames()));
  }
  std::string name = text.substr(0, colon);
  absl::StripAsciiWhitespace(&name);
  for (const Network& network : kNetworks) {
    if (name != network.name) continue;
    FaultWords words(text.substr(colon + 1));
    network.add(words, spec);
    if (words.status().ok()) return absl::OkStatus();
    return wrong(absl::StrCat("after the colon, ", std::string(words.status().message()),
                              " (see `vcm5 help faults`)"));
  }
  return wrong(absl::StrCat("no such network; expected one of ", NetworkNames()));
}

std::vector<std::string> FormatFaults(const MachineSpec& spec) {
  const FatTree tree(spec.leaves(), spec.parents_per_level);
  std::vector<std::string> texts;
  for (const LinkFault& fault : spec.link_faults) texts.push_back(FormatLinkFault(fault, tree));
  for (const ControlLinkFault& fault : spec.control_link_faults) {
    texts.push_back(FormatControlFault(fault));
  }
  return texts;
}

}  // namespace vcm5
