// Operation sequences that input bytes decide, on one machine each. They stop the process when
// something does not hold. Used by the fuzzers (tests/fuzz) and, with bytes from seeds, by the
// property tests.
#ifndef VCM5_TESTS_SUPPORT_FUZZ_TARGETS_H_
#define VCM5_TESTS_SUPPORT_FUZZ_TARGETS_H_

#include <cstddef>
#include <cstdint>

namespace vcm5 {

// A DataPort whose page the program scribbles over between the network's operations: what is taken
// is always a sound packet to a member of the partition, and credits are never more than slots.
void FuzzDataPort(const uint8_t* data, size_t size);

// A router chip that gets arbitrary packets and credits, within credit: whatever came, it forwards
// only sound packets, and once credit flows it empties.
void FuzzRouterChip(const uint8_t* data, size_t size);

// A region that gets arbitrary packets from its leaves and from other parts that keep to no rule.
void FuzzRegion(const uint8_t* data, size_t size);

}  // namespace vcm5

#endif  // VCM5_TESTS_SUPPORT_FUZZ_TARGETS_H_
