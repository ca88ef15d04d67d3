// What the control network says went wrong, in words: who met, doing what (CN8).
#ifndef VCM5_DAEMONS_DRIVER_CONTROL_REPORTS_H_
#define VCM5_DAEMONS_DRIVER_CONTROL_REPORTS_H_

#include <cstdint>
#include <string>

#include "switches/control/control_network.h"

namespace vcm5 {

// "a forward scan with signed addition", "a user broadcast": a packet by its body, of which bits 32
// to 43 matter.
std::string DescribeControlPacket(uint64_t body);

// "the control network signals: different operations met: a reduction with OR of nodes 0-3, and a
// synchronous OR of node 4". Nodes are named by their place in the partition; place `host` is the host's.
std::string DescribeControlEvent(const ControlEvent& event, const BinaryTree& tree, uint32_t host);

}  // namespace vcm5

#endif  // VCM5_DAEMONS_DRIVER_CONTROL_REPORTS_H_
