// What is wrong with a message, or with a FIFO of the data network, at an NI.
#ifndef VCM5_NETIF_NI_DATA_PORT_REPORT_H_
#define VCM5_NETIF_NI_DATA_PORT_REPORT_H_

#include <cstdint>

namespace vcm5 {

// Why a message or a port was refused.
enum class DataPortFault : uint8_t {
  kNone,
  kBadDestination,  // outside the partition; a supervisor's: where no NI is
  kBadTag,          // a tag of the system, or none at all; a supervisor's: not one of the system
  kBadLength,       // no word, or more than the machine's longest
  kBadPosition,     // the program, or the supervisor, overwrote its FIFO positions
  kPrimary,         // from the network: damaged on the last link, or in the chip before
  kMisdelivered,    // from the network: not ours
};

// A fault with what it was about, for the report.
struct DataPortReport {
  DataPortFault fault = DataPortFault::kNone;
  uint32_t value = 0;
};

}  // namespace vcm5

#endif  // VCM5_NETIF_NI_DATA_PORT_REPORT_H_
