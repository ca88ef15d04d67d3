#include "runtime/engines/fiber.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "runtime/base/check.h"

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
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef VCM5_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace vcm5 {

namespace context = boost::context::detail;

namespace {

// Around a switch: tells the sanitizers to which stack we go, and that we have come back.
class Announced {
 public:
  // `stays`: the stack that is left will be gone on with.
  Announced([[maybe_unused]] bool stays, [[maybe_unused]] const void* bottom,
            [[maybe_unused]] size_t size, [[maybe_unused]] void* tsan_fiber) {
#ifdef VCM5_ASAN
    __sanitizer_start_switch_fiber(stays ? &fake_stack_ : nullptr, bottom, size);
#endif
#ifdef VCM5_TSAN
    __tsan_switch_to_fiber(tsan_fiber, 0);
#endif
  }
  ~Announced() {
#ifdef VCM5_ASAN
    __sanitizer_finish_switch_fiber(fake_stack_, nullptr, nullptr);
#endif
  }

 private:
  [[maybe_unused]] void* fake_stack_ = nullptr;
};

}  // namespace

FiberHome::FiberHome() {
#ifdef VCM5_TSAN
  tsan_fiber_ = __tsan_get_current_fiber();
#endif
#ifdef VCM5_ASAN
  pthread_attr_t attributes;
  VCM5_CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
  void* bottom = nullptr;
  pthread_attr_getstack(&attributes, &bottom, &stack_size_);
  pthread_attr_destroy(&attributes);
  stack_bottom_ = bottom;
#endif
}

Fiber::Fiber(FiberHome& home, size_t stack_bytes, size_t offset, std::function<void()> body)
    : home_(home), body_(std::move(body)) {
  // A guard page below; the rest is touched only as far as it is used.
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  stack_bytes_ = ((stack_bytes + offset + page - 1) & ~(page - 1)) + page;
  void* base = mmap(nullptr, stack_bytes_, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  VCM5_CHECK_MSG(base != MAP_FAILED, "no memory for a fiber's stack");
  mprotect(base, page, PROT_NONE);
  stack_base_ = static_cast<char*>(base);
  context_ = context::make_fcontext(stack_base_ + stack_bytes_ - offset,
                                    stack_bytes_ - page - offset, &Fiber::Enter);
#ifdef VCM5_TSAN
  tsan_fiber_ = __tsan_create_fiber(0);
#endif
  // As far as its first Suspend(): from there on all switches are alike.
  Announced announced(true, stack_base_, stack_bytes_, tsan_fiber_);
  context::jump_fcontext(context_, this);
}

Fiber::~Fiber() {
#ifdef VCM5_ASAN
  // Frames that never returned have left marks in the shadow of memory that others will get.
  __asan_unpoison_memory_region(stack_base_, stack_bytes_);
#endif
  munmap(stack_base_, stack_bytes_);
#ifdef VCM5_TSAN
  __tsan_destroy_fiber(tsan_fiber_);
#endif
}

// On the stack of who goes on: stores where the one that was left will go on.
context::transfer_t Fiber::Arrive(context::transfer_t from) {
  *static_cast<Context*>(from.data) = from.fctx;
  return from;
}

// The processor predicts a return by the calls before it. Arrive() returns where every stack that
// goes on was left, right here, so each call of a switch has its return, though on another stack;
// jump_fcontext() would jump past one, and the next return would be predicted wrong.
inline void Fiber::Switch(Context* leave, Context go_on) {
  context::ontop_fcontext(go_on, leave, &Fiber::Arrive);
}

void Fiber::Enter(context::transfer_t from) {
  Fiber* self = static_cast<Fiber*>(from.data);
  self->home_.context_ = from.fctx;
#ifdef VCM5_ASAN
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
  self->Suspend();
  self->body_();
  self->Finish();
}

void Fiber::Resume() {
  Announced announced(true, stack_base_, stack_bytes_, tsan_fiber_);
  Switch(&home_.context_, context_);
}

void Fiber::Suspend() {
  Announced announced(!finished_, home_.stack_bottom_, home_.stack_size_, home_.tsan_fiber_);
  Switch(&context_, home_.context_);
}

void Fiber::SuspendTo(Fiber& next) {
  Announced announced(true, next.stack_base_, next.stack_bytes_, next.tsan_fiber_);
  Switch(&context_, next.context_);
}

void Fiber::Finish() {
  finished_ = true;
  Suspend();
  __builtin_unreachable();
}

}  // namespace vcm5
