// One node of the machine, with all that it can do.
#ifndef VCM5_NODE_HPP_
#define VCM5_NODE_HPP_

#include "vcm5/bulk.hpp"

namespace vcm5 {

// A node over its network interface: messages and active messages (messaging.hpp), control-network
// operations (collectives.hpp), bulk transfer (bulk.hpp). One a port; one thread or fiber uses it.
//
// The port outlives it. Destroying a node tells nobody: a program that is done should have called
// Quiesce or Barrier, lest another node waits for it.
class Node final : public Bulk {
 public:
  explicit Node(vcm5_port& port) : Bulk(port) {}
};

// The node that this program is. Attaches to the machine at the first call; outside of a machine
// that prints one line and exits with status 2.
Node& self();

}  // namespace vcm5

#endif  // VCM5_NODE_HPP_
