// A fiber: one node's thread of control, switched by us: a switch of stacks that neither allocates
// nor unwinds, and the sanitizers' annotations around it.
#ifndef VCM5_RUNTIME_ENGINES_FIBER_H_
#define VCM5_RUNTIME_ENGINES_FIBER_H_

#include <cstddef>
#include <functional>

#include "runtime/engines/stack_switch.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define VCM5_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define VCM5_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define VCM5_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define VCM5_TSAN 1
#endif

#ifdef VCM5_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef VCM5_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace vcm5 {

// Lives on one thread. Resume() runs the fiber until it calls Suspend() or its body returns.
// A fiber that is destroyed before its body returned, or that called Finish(), gives its stack back
// without unwinding what is on it. Each fiber has a float control of its own, at first its maker's;
// Resume() returns with the fiber's in force.
class Fiber {
 public:
  // The stack begins `offset` bytes (a multiple of 16) below its top, to spread fibers in the cache.
  Fiber(size_t stack_bytes, size_t offset, std::function<void()> body);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber();

  bool finished() const { return finished_; }
  void Resume();   // from the scheduler; the fiber has not finished
  void Suspend();  // from inside the fiber
  [[noreturn]] void Finish();  // from inside the fiber: as if its body had returned

 private:
  static void Enter(void* self);
  void Leave();

  SavedStack fiber_ = {};      // while suspended: the way in
  SavedStack scheduler_ = {};  // while running: the way out
  bool finished_ = false;
  FloatControl float_control_;
  char* stack_base_;    // guard page included
  size_t stack_bytes_;  // the same
  std::function<void()> body_;
  [[maybe_unused]] void* tsan_fiber_ = nullptr;
  [[maybe_unused]] void* tsan_scheduler_ = nullptr;
  [[maybe_unused]] const void* scheduler_bottom_ = nullptr;
  [[maybe_unused]] size_t scheduler_size_ = 0;
};

// In line, for the sake of SwitchStack.

__attribute__((always_inline)) inline void Fiber::Resume() {
#ifdef VCM5_ASAN
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, stack_base_, stack_bytes_);
#endif
#ifdef VCM5_TSAN
  tsan_scheduler_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(tsan_fiber_, 0);
#endif
  SwitchStack(&scheduler_, fiber_, this);
#ifdef VCM5_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

__attribute__((always_inline)) inline void Fiber::Leave() {
#ifdef VCM5_ASAN
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(finished_ ? nullptr : &fake_stack, scheduler_bottom_,
                                 scheduler_size_);
#endif
#ifdef VCM5_TSAN
  __tsan_switch_to_fiber(tsan_scheduler_, 0);
#endif
  SwitchStack(&fiber_, scheduler_, nullptr);
#ifdef VCM5_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, &scheduler_bottom_, &scheduler_size_);
#endif
}

__attribute__((always_inline)) inline void Fiber::Suspend() {
  const FloatControl mine = FloatControl::Read();
  Leave();
  if (__builtin_expect(FloatControl::Read() != mine, 0)) mine.Load();
}

}  // namespace vcm5

#endif  // VCM5_RUNTIME_ENGINES_FIBER_H_
