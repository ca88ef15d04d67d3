#include "runtime/engines/fiber.h"

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

Fiber::Fiber(size_t stack_bytes, size_t offset, std::function<void()> body)
    : body_(std::move(body)) {
  // A guard page below; the rest is touched only as far as it is used.
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  stack_bytes_ = ((stack_bytes + offset + page - 1) & ~(page - 1)) + page;
  void* base = mmap(nullptr, stack_bytes_, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  VCM5_CHECK_MSG(base != MAP_FAILED, "no memory for a fiber's stack");
  mprotect(base, page, PROT_NONE);
  stack_base_ = static_cast<char*>(base);
  fiber_ = context::make_fcontext(stack_base_ + stack_bytes_ - offset,
                                  stack_bytes_ - page - offset, &Fiber::Enter);
#ifdef VCM5_TSAN
  tsan_fiber_ = __tsan_create_fiber(0);
#endif
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

void Fiber::Enter(context::transfer_t from) {
  Fiber* self = static_cast<Fiber*>(from.data);
  self->scheduler_ = from.fctx;
#ifdef VCM5_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &self->scheduler_bottom_, &self->scheduler_size_);
#endif
  self->body_();
  self->Finish();
}

void Fiber::Finish() {
  finished_ = true;
  Leave();
  __builtin_unreachable();
}

void Fiber::Resume() {
#ifdef VCM5_ASAN
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, stack_base_, stack_bytes_);
#endif
#ifdef VCM5_TSAN
  tsan_scheduler_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(tsan_fiber_, 0);
#endif
  fiber_ = context::jump_fcontext(fiber_, this).fctx;
#ifdef VCM5_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

void Fiber::Suspend() { Leave(); }

void Fiber::Leave() {
#ifdef VCM5_ASAN
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(finished_ ? nullptr : &fake_stack, scheduler_bottom_,
                                 scheduler_size_);
#endif
#ifdef VCM5_TSAN
  __tsan_switch_to_fiber(tsan_scheduler_, 0);
#endif
  scheduler_ = context::jump_fcontext(scheduler_, nullptr).fctx;
#ifdef VCM5_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, &scheduler_bottom_, &scheduler_size_);
#endif
}

}  // namespace vcm5
