// vcm5 for C++20: everything a program needs.
//
//     #include <cstdio>
//     #include "vcm5/vcm5.hpp"
//
//     int main() {
//       vcm5::Node& node = vcm5::self();
//       const uint32_t sum = node.Reduce(vcm5::kAdd, node.self());
//       if (node.self() == 0) std::printf("%u nodes, sum of addresses %u\n", node.size(), sum);
//     }
//
// Registers are in vcm5/ni.h, machines inside a unit test in vcm5/embedded.hpp.
#ifndef VCM5_VCM5_HPP_
#define VCM5_VCM5_HPP_

#include "vcm5/active_message.hpp"
#include "vcm5/bulk.hpp"
#include "vcm5/collectives.hpp"
#include "vcm5/message.hpp"
#include "vcm5/messaging.hpp"
#include "vcm5/node.hpp"
#include "vcm5/operators.hpp"

#endif  // VCM5_VCM5_HPP_
