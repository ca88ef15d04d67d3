// A node's interrupt line (NI5): the data network writes a byte into a pipe when a message arrives
// whose tag is in the node's mask, and the node gets a signal.
#ifndef VCM5_RUNTIME_NODE_INTERRUPT_LINE_H_
#define VCM5_RUNTIME_NODE_INTERRUPT_LINE_H_

#include "absl/status/status.h"
#include "netif/port/ni_port.h"

namespace vcm5 {

// Takes `fd`, the line's read end. From now on a byte in it interrupts the calling thread, which
// calls vcm5_port_take_interrupts(port). SIGURG is used: whoever does not expect it ignores it.
absl::Status ConnectInterruptLine(int fd, vcm5_port* port);

}  // namespace vcm5

#endif  // VCM5_RUNTIME_NODE_INTERRUPT_LINE_H_
