#include "daemons/driver/data_reports.h"

#include "absl/strings/str_cat.h"

namespace vcm5 {
namespace {

std::string PortName(const ChipPlace& place, unsigned port) {
  const bool up = port >= kChildren;
  return absl::StrCat("level ", place.level, " node ", place.node, " chip ", place.index,
                      up ? " parent link " : " child link ", up ? port - kChildren : port);
}

}  // namespace

const char* HalfName(int half) { return half == VCM5_LEFT ? "left" : "right"; }

std::string DescribeFault(const DataPortReport& report, int half, uint32_t partition_size,
                          uint32_t words_max) {
  const char* name = HalfName(half);
  switch (report.fault) {
    case DataPortFault::kNone:
      break;
    case DataPortFault::kBadDestination:
      return absl::StrCat("sent a message on the ", name, " data network to node ", report.value,
                          ", which is outside the partition (0 to ", partition_size - 1, ")");
    case DataPortFault::kBadTag:
      return absl::StrCat("sent a message on the ", name, " data network with tag ", report.value,
                          "; programs may use 0 to ", kFirstSystemTag - 1);
    case DataPortFault::kBadLength:
      return absl::StrCat("sent a message of ", report.value, " words on the ", name,
                          " data network; this machine's longest has ", words_max);
    case DataPortFault::kBadPosition:
      return absl::StrCat("overwrote the FIFO positions of its ", name,
                          " data-network port; the port is closed");
    case DataPortFault::kBadCrc:
      return absl::StrCat("the ", name, " data network delivered a corrupted message");
    case DataPortFault::kMisdelivered:
      return absl::StrCat("the ", name, " data network delivered a message for address ",
                          report.value);
  }
  return "";
}

std::string DescribeFault(const RegionFault& fault, const FatTree& tree, int half) {
  return absl::StrCat(
      "the ", HalfName(half), " data network lost a message ",
      fault.fault == RouterChipFault::kCrc ? "that was damaged" : "with an impossible route",
      ", found at ", PortName(tree.place(fault.chip), fault.port));
}

void AppendRegionStats(const Region& region, int half, std::vector<FabricStat>* stats) {
  const std::string name = HalfName(half);
  RouterChipStats sum{};
  uint64_t hops = 0;
  for (uint32_t i = 0; i < region.chips(); ++i) {
    const RouterChipStats chip = region.chip(i).stats();
    const ChipPlace place = region.tree().place(region.chip_id(i));
    for (unsigned port = 0; port < kChipPorts; ++port) {
      hops += chip.out[port];
      if (chip.out[port] == 0) continue;
      stats->push_back({absl::StrCat(name, ": ", PortName(place, port),
                                     port >= kChildren ? ", up" : ", down"),
                        chip.out[port], true});
    }
    sum.stalled_up += chip.stalled_up;
    sum.stalled_down += chip.stalled_down;
    sum.crc_errors += chip.crc_errors;
    sum.misrouted += chip.misrouted;
  }
  stats->push_back({name + ": hops between chips", hops});
  stats->push_back({name + ": stalls, all parent links busy", sum.stalled_up});
  stats->push_back({name + ": stalls, child link busy", sum.stalled_down});
  stats->push_back({name + ": CRC errors", sum.crc_errors});
  stats->push_back({name + ": packets with impossible routes", sum.misrouted});
}

void AppendWaiting(const DataPort& port, const vcm5_ni_page& page, int half,
                   std::vector<std::string>* lines) {
  const char* name = HalfName(half);
  if (port.failed()) {
    lines->push_back(absl::StrCat("node ", port.self(), "'s port to the ", name,
                                  " data network is closed"));
    return;
  }
  const uint32_t in = port.Undelivered();
  const uint32_t out = vcm5_load_acquire(&page.node_data.out_tail[half]) - port.taken();
  if (in != 0) {
    lines->push_back(absl::StrCat("node ", port.self(), " has ", in, " messages to receive on the ",
                                  name, " data network"));
  }
  if (out != 0) {
    lines->push_back(absl::StrCat("node ", port.self(), " has ", out, " messages that the ", name,
                                  " data network has not taken"));
  }
}

uint64_t MessagesHeld(const Region& region) {
  uint64_t held = 0;
  for (uint32_t i = 0; i < region.chips(); ++i) {
    for (unsigned port = 0; port < kChipPorts; ++port) held += region.chip(i).Waiting(port);
  }
  return held;
}

}  // namespace vcm5
