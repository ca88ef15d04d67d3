#include "daemons/driver/system_messages.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "daemons/driver/data_reports.h"

namespace vcm5 {
namespace {

std::string Describe(const DataPortReport& report, int half, uint32_t words_max) {
  const std::string sent =
      absl::StrCat("its supervisor sent a message on the ", HalfName(half), " data network ");
  switch (report.fault) {
    case DataPortFault::kBadDestination:
      return absl::StrCat(sent, "to physical address ", report.value, ", where no node is");
    case DataPortFault::kBadTag:
      return absl::StrCat(sent, "with tag ", report.value, "; those of the system are ",
                          kFirstSystemTag, " to ", kTags - 1);
    case DataPortFault::kBadLength:
      return absl::StrCat(sent, "of ", report.value, " words; this machine's longest has ",
                          words_max);
    default:
      return absl::StrCat("its supervisor overwrote the positions of its FIFOs of the ",
                          HalfName(half), " data network; they are closed");
  }
}

}  // namespace

SystemMessages::SystemMessages(int half, uint32_t words_max, uint32_t leaves,
                               const std::vector<uint32_t>& members)
    : half_(half), words_max_(words_max), routes_{std::vector<bool>(leaves)} {
  for (const uint32_t member : members) routes_.has_ni[member] = true;
}

void SystemMessages::Add(uint32_t leaf, vcm5_supervisor_page* page) {
  nis_.push_back({SystemPort(page, half_, words_max_), leaf});
}

void SystemMessages::Look(uint32_t number, std::vector<FabricError>* errors) {
  Ni& ni = nis_[number];
  if (!ni.pending && ni.port.Look() != 0) {
    ni.pending = true;
    pending_.push_back(number);
  }
  Report(ni, errors);
}

SystemMessages::Counts SystemMessages::counts() const {
  Counts sum;
  for (const Ni& ni : nis_) {
    sum.taken += ni.port.taken();
    sum.delivered += ni.port.delivered();
    sum.dropped += ni.port.dropped();
  }
  return sum;
}

void SystemMessages::AppendStats(std::vector<FabricStat>* stats) const {
  const Counts sum = counts();
  if (sum.taken + sum.delivered + sum.dropped == 0) return;
  const std::string name = absl::StrCat(HalfName(half_), ": messages of the system ");
  stats->push_back({name + "injected", sum.taken});
  stats->push_back({name + "delivered", sum.delivered});
  stats->push_back({name + "that no supervisor had room for", sum.dropped});
}

void SystemMessages::Report(Ni& ni, std::vector<FabricError>* errors) const {
  const DataPortReport report = ni.port.TakeReport();
  if (report.fault == DataPortFault::kNone) return;
  errors->push_back({ni.leaf, Describe(report, half_, words_max_)});
}

}  // namespace vcm5
