#include "runtime/engines/fiber.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cfenv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace vcm5 {
namespace {

using ::testing::ElementsAre;

constexpr size_t kStack = 256 << 10;
constexpr size_t kOffset = 448;

TEST(Fiber, RunsNothingBeforeItIsResumed) {
  FiberHome home;
  bool ran = false;
  Fiber fiber(home, kStack, kOffset, [&] { ran = true; });
  EXPECT_FALSE(ran);
  EXPECT_FALSE(fiber.finished());
}

TEST(Fiber, RunsToItsEnd) {
  FiberHome home;
  bool ran = false;
  Fiber fiber(home, kStack, kOffset, [&] { ran = true; });
  fiber.Resume();
  EXPECT_TRUE(ran);
  EXPECT_TRUE(fiber.finished());
}

TEST(Fiber, GoesOnWhereItSuspended) {
  FiberHome home;
  std::vector<int> steps;
  Fiber* self = nullptr;
  Fiber fiber(home, kStack, kOffset, [&] {
    for (int step = 1; step <= 5; step += 2) {
      steps.push_back(step);
      self->Suspend();
    }
  });
  self = &fiber;
  for (int step = 0; !fiber.finished(); step += 2) {
    steps.push_back(step);
    fiber.Resume();
  }
  EXPECT_THAT(steps, ElementsAre(0, 1, 2, 3, 4, 5, 6));
}

TEST(Fiber, FinishEndsItFromAnyDepth) {
  FiberHome home;
  bool returned = false;
  Fiber* self = nullptr;
  struct Deep {
    static void Call(Fiber* fiber, int depth) {
      if (depth == 0) fiber->Finish();
      if (depth > 0) Call(fiber, depth - 1);
    }
  };
  Fiber fiber(home, kStack, kOffset, [&] {
    Deep::Call(self, 20);
    returned = true;
  });
  self = &fiber;
  fiber.Resume();
  EXPECT_TRUE(fiber.finished());
  EXPECT_FALSE(returned);
}

TEST(Fiber, CanBeDestroyedWhileSuspended) {
  FiberHome home;
  Fiber* self = nullptr;
  auto fiber = std::make_unique<Fiber>(home, kStack, kOffset, [&] {
    char locals[1000];
    std::memset(locals, 1, sizeof locals);
    self->Suspend();
  });
  self = fiber.get();
  fiber->Resume();
  fiber.reset();
}

TEST(Fiber, ManyKeepTheirLocalsApart) {
  FiberHome home;
  constexpr uint64_t kFibers = 200;
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<uint64_t> sums(kFibers);
  for (uint64_t i = 0; i < kFibers; ++i) {
    fibers.push_back(std::make_unique<Fiber>(home, kStack, kOffset, [&, i] {
      uint64_t sum = i;
      double half = 0.5 * static_cast<double>(i);
      for (int round = 0; round < 10; ++round) {
        sum += i;
        half += 1;
        fibers[i]->Suspend();
      }
      sums[i] = sum + static_cast<uint64_t>(2 * half);
    }));
  }
  for (int round = 0; round <= 10; ++round) {
    for (auto& fiber : fibers) fiber->Resume();
  }
  for (uint64_t i = 0; i < kFibers; ++i) {
    EXPECT_TRUE(fibers[i]->finished());
    EXPECT_EQ(sums[i], 12 * i + 20);
  }
}

TEST(Fiber, EachHasItsRounding) {
  FiberHome home;
  constexpr int kModes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  std::vector<std::unique_ptr<Fiber>> fibers;
  for (size_t i = 0; i < 4; ++i) {
    fibers.push_back(std::make_unique<Fiber>(home, kStack, kOffset, [&, i] {
      EXPECT_EQ(std::fegetround(), FE_TONEAREST);
      std::fesetround(kModes[i]);
      for (int round = 0; round < 3; ++round) {
        fibers[i]->Suspend();
        EXPECT_EQ(std::fegetround(), kModes[i]);
      }
    }));
  }
  for (int round = 0; round < 4; ++round) {
    for (auto& fiber : fibers) fiber->Resume();
  }
  for (auto& fiber : fibers) EXPECT_TRUE(fiber->finished());
  std::fesetround(FE_TONEAREST);
}

TEST(Fiber, OneCanHandOverToAnother) {
  FiberHome home;
  std::string trace;
  std::unique_ptr<Fiber> second;
  Fiber first(home, kStack, kOffset, [&] {
    trace += "a";
    first.SuspendTo(*second);
    trace += "d";
  });
  second = std::make_unique<Fiber>(home, kStack, kOffset, [&] {
    trace += "b";
    second->Suspend();
    trace += "c";
    second->SuspendTo(first);
  });
  first.Resume();
  EXPECT_EQ(trace, "ab") << "whoever suspends comes back here";
  second->Resume();
  EXPECT_EQ(trace, "abcd");
  EXPECT_TRUE(first.finished());
  EXPECT_FALSE(second->finished());
}

TEST(Fiber, MayUseItsWholeStack) {
  FiberHome home;
  uint8_t sum = 0;
  Fiber fiber(home, kStack, kOffset, [&] {
    volatile uint8_t locals[kStack / 2];
    for (size_t i = 0; i < sizeof locals; ++i) locals[i] = 1;
    sum = static_cast<uint8_t>(locals[0] + locals[sizeof locals - 1]);
  });
  fiber.Resume();
  EXPECT_EQ(sum, 2);
}

TEST(Fiber, ThreadsHaveFibersOfTheirOwn) {
  const auto run = [] {
    FiberHome home;
    int steps = 0;
    Fiber* self = nullptr;
    Fiber fiber(home, kStack, kOffset, [&] {
      while (++steps < 100) self->Suspend();
    });
    self = &fiber;
    while (!fiber.finished()) fiber.Resume();
    EXPECT_EQ(steps, 100);
  };
  std::thread other(run);
  run();
  other.join();
}

}  // namespace
}  // namespace vcm5
