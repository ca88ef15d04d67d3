// The fuzzers' operation sequences, with bytes from seeds. See tests/support/fuzz_targets.h.
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/fuzz_input.h"
#include "tests/support/fuzz_targets.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

TEST(HostileInput, AScribbledPageNeverMisleadsADataPort) {
  ForEachSeed(1000, [](uint64_t seed) {
    const std::vector<uint8_t> bytes = RandomBytes(seed, 4000);
    FuzzDataPort(bytes.data(), bytes.size());
  });
}

TEST(HostileInput, ARouterChipForwardsOnlySoundOrMarkedPacketsAndEmpties) {
  ForEachSeed(1000, [](uint64_t seed) {
    const std::vector<uint8_t> bytes = RandomBytes(seed, 4000);
    FuzzRouterChip(bytes.data(), bytes.size());
  });
}

TEST(HostileInput, ARegionSurvivesNeighboursThatKeepToNoRule) {
  ForEachSeed(1000, [](uint64_t seed) {
    const std::vector<uint8_t> bytes = RandomBytes(seed, 4000);
    FuzzRegion(bytes.data(), bytes.size());
  });
}

}  // namespace
}  // namespace vcm5
