// A whole machine inside this process, for unit tests and small tools:
//
//     vcm5::EmbeddedMachine machine(64);
//     ASSERT_TRUE(machine.Run([](vcm5::Node& node) {
//       EXPECT_EQ(node.Reduce(vcm5::kAdd, 1), 64);
//     }).ok());
//
// Nodes are fibers of one thread: they share this process's variables, and `vcm5::self()` and
// vcm5/ni.h, which are for programs that are one node, have no place in them. The same seed gives
// the same run.
#ifndef VCM5_EMBEDDED_HPP_
#define VCM5_EMBEDDED_HPP_

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "runtime/engines/embedded.h"
#include "switches/topology/machine_spec.h"
#include "vcm5/node.hpp"

namespace vcm5 {

class EmbeddedMachine {
 public:
  explicit EmbeddedMachine(uint32_t nodes) : EmbeddedMachine(OptionsFor(nodes)) {}
  explicit EmbeddedMachine(EmbeddedOptions options) : engine_(std::move(options)) {}

  // Runs `node_main` once on every node, and returns when all have returned; an error says what
  // kept the machine from it. Several times is allowed: nodes begin anew, the networks go on.
  absl::Status Run(const std::function<void(Node&)>& node_main) {
    return engine_.Run([&node_main](vcm5_port& port) {
      Node node(port);
      node_main(node);
    });
  }

 private:
  static EmbeddedOptions OptionsFor(uint32_t nodes) {
    EmbeddedOptions options;
    options.spec.nodes = nodes;
    return options;
  }

  Embedded engine_;
};

}  // namespace vcm5

#endif  // VCM5_EMBEDDED_HPP_
