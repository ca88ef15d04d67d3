#include "vcm5/node.hpp"

#include "vcm5/ni.h"

namespace vcm5 {

Node& self() {
  static Node node(*vcm5_ni_port());
  return node;
}

}  // namespace vcm5
