// How routing instructions are packed (paper section 3, figure 4): bits 0-3 say how many levels a
// packet still climbs, bits 4-23 the way down, two bits a level, the next level lowest. Shared by
// those who compute routes (switches/topology) and the packet that carries them (netif/wire).
#ifndef VCM5_RUNTIME_BASE_ROUTING_INSTRUCTIONS_H_
#define VCM5_RUNTIME_BASE_ROUTING_INSTRUCTIONS_H_

#include <cstdint>

namespace vcm5 {

inline constexpr unsigned kLevelsMax = 10;  // 4-ary levels that the way down has room for
inline constexpr unsigned kPathShift = 4;

// `climb` levels up, then down along `path`.
constexpr uint32_t RoutingInstructions(unsigned climb, uint32_t path) {
  return climb | (path << kPathShift);
}

}  // namespace vcm5

#endif  // VCM5_RUNTIME_BASE_ROUTING_INSTRUCTIONS_H_
