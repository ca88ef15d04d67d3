#include "daemons/driver/doorbell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace vcm5 {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kOneMinute = 60'000'000'000u;

class DoorbellTest : public ::testing::Test {
 protected:
  static constexpr uint32_t kBells = 40;

  DoorbellTest() : memory_(Doorbell::BytesFor(kBells) / sizeof(Line)) {
    Doorbell::Create(memory_.data(), kBells);
    doorbell_ = Doorbell(memory_.data(), kBells);
  }
  std::vector<uint32_t> Take(uint32_t first = 0, uint32_t last = kBells) {
    std::vector<uint32_t> rung;
    count_ = doorbell_.Take(first, last, [&](uint32_t bell) { rung.push_back(bell); });
    return rung;
  }

  void Sleep(uint64_t nanoseconds) { Doorbell::Sleep({&doorbell_, 1}, nanoseconds); }

  struct alignas(64) Line {
    uint8_t bytes[64] = {};
  };
  std::vector<Line> memory_;
  Doorbell doorbell_;
  unsigned count_ = 0;
};

TEST_F(DoorbellTest, VisitsTheBellsThatRangInOrder) {
  for (const uint32_t bell : {39u, 0u, 7u, 8u}) *doorbell_.bell(bell) = 1;
  EXPECT_THAT(Take(), ElementsAre(0, 7, 8, 39));
  EXPECT_EQ(count_, 4u);
}

TEST_F(DoorbellTest, VisitsEachRingOnce) {
  *doorbell_.bell(5) = 1;
  EXPECT_THAT(Take(), ElementsAre(5));
  EXPECT_THAT(Take(), IsEmpty());
}

TEST_F(DoorbellTest, ABellThatRingsDuringTheVisitIsVisitedNextTime) {
  *doorbell_.bell(5) = 1;
  doorbell_.Take(0, kBells, [&](uint32_t bell) { *doorbell_.bell(bell) = 1; });
  EXPECT_THAT(Take(), ElementsAre(5));
}

TEST_F(DoorbellTest, TakesOnlyTheBellsAskedFor) {
  for (const uint32_t bell : {7u, 8u, 15u, 16u}) *doorbell_.bell(bell) = 1;
  EXPECT_THAT(Take(8, 16), ElementsAre(8, 15));
  EXPECT_THAT(Take(), ElementsAre(7, 16));
}

TEST_F(DoorbellTest, AnyNonzeroByteRings) {
  *doorbell_.bell(3) = 0xff;
  *doorbell_.bell(4) = 0x80;
  EXPECT_THAT(Take(), ElementsAre(3, 4));
}

TEST_F(DoorbellTest, BellsThatNobodyOwnsAreSilenced) {
  *doorbell_.bell(kBells) = 1;
  EXPECT_THAT(Take(0, 35), IsEmpty());
  *doorbell_.bell(37) = 1;
  EXPECT_THAT(Take(32, 35), IsEmpty());
}

TEST_F(DoorbellTest, TellsWhetherAnyRang) {
  EXPECT_FALSE(doorbell_.AnyRung());
  doorbell_.Ring(kBells - 1);
  EXPECT_TRUE(doorbell_.AnyRung());
}

TEST_F(DoorbellTest, DoesNotSleepWhenABellHasRung) {
  doorbell_.Ring(1);
  Sleep(kOneMinute);
  EXPECT_EQ(doorbell_.shared()->sleeping, 0u);
  EXPECT_THAT(Take(), ElementsAre(1));
}

TEST_F(DoorbellTest, SleepsNoLongerThanAsked) {
  Sleep(1);
  EXPECT_EQ(doorbell_.shared()->sleeping, 0u);
}

TEST_F(DoorbellTest, RingingWakesTheSleeper) {
  Doorbell::RegisterProcess();
  for (int i = 0; i < 100; ++i) {
    std::thread node([&] { doorbell_.Ring(2); });
    while (Take().empty()) Sleep(kOneMinute);
    node.join();
  }
}

// A daemon has one for each partition, and one of its own.
TEST_F(DoorbellTest, RingingAnyOfSeveralWakesTheSleeper) {
  Doorbell::RegisterProcess();
  std::vector<std::vector<Line>> memories(5, std::vector<Line>(memory_.size()));
  std::vector<Doorbell> doorbells;
  for (std::vector<Line>& memory : memories) {
    Doorbell::Create(memory.data(), kBells);
    doorbells.emplace_back(memory.data(), kBells);
  }
  for (uint32_t i = 0; i < 100; ++i) {
    std::thread node([&] { doorbells[i % 5].Ring(i % kBells); });
    while (doorbells[i % 5].Take(0, kBells, [](uint32_t) {}) == 0) {
      Doorbell::Sleep(doorbells, kOneMinute);
      for (const Doorbell& doorbell : doorbells) EXPECT_EQ(doorbell.shared()->sleeping, 0u);
    }
    node.join();
  }
}

TEST_F(DoorbellTest, SleepsOnMoreThanTheKernelTakes) {
  std::vector<std::vector<Line>> memories(Doorbell::kWaitMax + 3, std::vector<Line>(memory_.size()));
  std::vector<Doorbell> doorbells;
  for (std::vector<Line>& memory : memories) doorbells.emplace_back(memory.data(), kBells);
  Doorbell::Sleep(doorbells, 1);
  Doorbell::Sleep(doorbells, kOneMinute);  // nobody rings: or the test takes as long
  doorbells.back().Ring(3);
  Doorbell::Sleep(doorbells, kOneMinute);
  EXPECT_EQ(doorbells.back().Take(0, kBells, [](uint32_t) {}), 1u);
}

}  // namespace
}  // namespace vcm5
