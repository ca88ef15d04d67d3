#include "runtime/engines/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "runtime/base/check.h"

#ifdef VCM5_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace vcm5 {

Fiber::Fiber(size_t stack_bytes, size_t offset, std::function<void()> body)
    : float_control_(FloatControl::Read()), body_(std::move(body)) {
  // A guard page below; the rest is touched only as far as it is used.
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  stack_bytes_ = ((stack_bytes + offset + page - 1) & ~(page - 1)) + page;
  void* base = mmap(nullptr, stack_bytes_, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  VCM5_CHECK_MSG(base != MAP_FAILED, "no memory for a fiber's stack");
  mprotect(base, page, PROT_NONE);
  stack_base_ = static_cast<char*>(base);
  fiber_ = MakeStack<&Fiber::Enter>(stack_base_ + stack_bytes_ - offset,
                                    stack_bytes_ - page - offset);
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

void Fiber::Enter(void* fiber) {
  auto* self = static_cast<Fiber*>(fiber);
#ifdef VCM5_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &self->scheduler_bottom_, &self->scheduler_size_);
#endif
  self->float_control_.Load();
  self->body_();
  self->Finish();
}

void Fiber::Finish() {
  finished_ = true;
  Leave();
  __builtin_unreachable();
}

}  // namespace vcm5
