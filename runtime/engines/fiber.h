// A fiber: one node's thread of control, switched by us: Boost.Context's switch below, which neither
// allocates nor unwinds, and the sanitizers' annotations around it.
#ifndef VCM5_RUNTIME_ENGINES_FIBER_H_
#define VCM5_RUNTIME_ENGINES_FIBER_H_

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <functional>

namespace vcm5 {

// The stack of the thread that fibers are resumed from, and where it goes on. One a thread, made on
// it; it outlives the thread's fibers.
class FiberHome {
 public:
  FiberHome();

 private:
  friend class Fiber;
  boost::context::detail::fcontext_t context_ = nullptr;  // while a fiber runs
  [[maybe_unused]] void* tsan_fiber_ = nullptr;
  [[maybe_unused]] const void* stack_bottom_ = nullptr;
  [[maybe_unused]] size_t stack_size_ = 0;
};

// Lives on one thread. Resume() runs fibers until one calls Suspend(), or its body returns. A fiber
// that is destroyed before its body returned, or that called Finish(), gives its stack back without
// unwinding what is on it. Float control (rounding, masks) is each fiber's own.
class Fiber {
 public:
  // The stack begins `offset` bytes (a multiple of 16) below its top, to spread fibers in the cache.
  Fiber(FiberHome& home, size_t stack_bytes, size_t offset, std::function<void()> body);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber();

  bool finished() const { return finished_; }

  void Resume();  // from the home; the fiber has not finished
  // From inside the fiber: back to the home, or straight on to another fiber that is suspended.
  void Suspend();
  void SuspendTo(Fiber& next);
  [[noreturn]] void Finish();  // as if its body had returned

 private:
  using Context = boost::context::detail::fcontext_t;

  static void Enter(boost::context::detail::transfer_t from);
  static boost::context::detail::transfer_t Arrive(boost::context::detail::transfer_t from);
  static void Switch(Context* leave, Context go_on);

  Context context_;  // while suspended: where it goes on
  FiberHome& home_;
  bool finished_ = false;
  char* stack_base_;    // guard page included
  size_t stack_bytes_;  // the same
  std::function<void()> body_;
  [[maybe_unused]] void* tsan_fiber_ = nullptr;
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_ENGINES_FIBER_H_
