// A fiber: one node's thread of control, switched by us: Boost.Context's switch below, which neither
// allocates nor unwinds, and the sanitizers' annotations around it.
#ifndef VCM5_RUNTIME_ENGINES_FIBER_H_
#define VCM5_RUNTIME_ENGINES_FIBER_H_

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <functional>

namespace vcm5 {

// Lives on one thread. Resume() runs the fiber until it calls Suspend() or its body returns.
// A fiber that is destroyed before its body returned, or that called Finish(), gives its stack back
// without unwinding what is on it.
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
  static void Enter(boost::context::detail::transfer_t from);
  void Leave();

  std::function<void()> body_;
  bool finished_ = false;
  char* stack_base_;    // guard page included
  size_t stack_bytes_;  // the same
  boost::context::detail::fcontext_t fiber_ = nullptr;      // while suspended: the way in
  boost::context::detail::fcontext_t scheduler_ = nullptr;  // while running: the way out
  [[maybe_unused]] void* tsan_fiber_ = nullptr;
  [[maybe_unused]] void* tsan_scheduler_ = nullptr;
  const void* scheduler_bottom_ = nullptr;
  size_t scheduler_size_ = 0;
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_ENGINES_FIBER_H_
