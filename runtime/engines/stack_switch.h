// Leaving one stack for another.
//
// In line on x86-64: Boost.Context's switch is a function, and behind a call that returns on another
// stack the processor's predictions of returns are off by one, up to the loop of the program. In
// line they are right whenever the node that goes on waited where the one before it waits, which is
// what nodes do. That is half of the time of a switch. Other processors use Boost.Context.
//
// The caller's float control (rounding, masks, flags) stays in force behind a switch; see
// FloatControl.
#ifndef VCM5_RUNTIME_ENGINES_STACK_SWITCH_H_
#define VCM5_RUNTIME_ENGINES_STACK_SWITCH_H_

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__)
#include <boost/context/detail/fcontext.hpp>
#endif

namespace vcm5 {

#if defined(__x86_64__)

// Where a stack that nobody runs on will go on. Nothing is pushed on it: what lies below its stack
// pointer may be in use.
struct SavedStack {
  void* stack_pointer = nullptr;
  void* instruction = nullptr;
  void* frame_pointer = nullptr;
};

// A stack below `top` on which the first SwitchStack calls entry(argument), which never returns.
template <void (*entry)(void*)>
SavedStack MakeStack(char* top, size_t) {
  auto* words = reinterpret_cast<uint64_t*>(reinterpret_cast<uintptr_t>(top) & ~uintptr_t{15});
  words[-1] = 0;  // the return address of `entry`
  return {words - 1, reinterpret_cast<void*>(entry), nullptr};
}

// Saves this stack in *save and goes on where `to` was saved.
__attribute__((always_inline)) inline void SwitchStack(SavedStack* save, const SavedStack& to,
                                                       void* argument) {
  const SavedStack* from = &to;
  // The compiler saves what is in the registers but for the frame pointer, which it refuses to.
  asm volatile(
      "movq %%rsp, (%[save])\n\t"
      "leaq 1f(%%rip), %%rax\n\t"
      "movq %%rax, 8(%[save])\n\t"
      "movq %%rbp, 16(%[save])\n\t"
      "movq (%[from]), %%rsp\n\t"
      "movq 16(%[from]), %%rbp\n\t"
      "jmpq *8(%[from])\n"
      "1:"
      : [save] "+d"(save), [from] "+S"(from), "+D"(argument)
      :
      : "rax", "rbx", "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc",
        "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "st");
}

class FloatControl {
 public:
  static FloatControl Read() {
    FloatControl control;
    asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(control.sse_), "=m"(control.x87_));
    return control;
  }
  void Load() const { asm volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(sse_), "m"(x87_)); }
  bool operator==(const FloatControl&) const = default;

 private:
  uint32_t sse_ = 0;
  uint16_t x87_ = 0;
};

#else

using SavedStack = void*;

namespace stack_switch_internal {

struct Departure {
  SavedStack* save;
  void* argument;
};

inline void* Arrive(boost::context::detail::transfer_t from) {
  const auto* departure = static_cast<const Departure*>(from.data);
  void* const argument = departure->argument;
  *departure->save = from.fctx;
  return argument;
}

}  // namespace stack_switch_internal

template <void (*entry)(void*)>
SavedStack MakeStack(char* top, size_t bytes) {
  return boost::context::detail::make_fcontext(
      top, bytes, [](boost::context::detail::transfer_t from) {
        entry(stack_switch_internal::Arrive(from));
      });
}

inline void SwitchStack(SavedStack* save, SavedStack to, void* argument) {
  stack_switch_internal::Departure departure{save, argument};
  stack_switch_internal::Arrive(boost::context::detail::jump_fcontext(to, &departure));
}

// Boost.Context's switch keeps the float control apart.
class FloatControl {
 public:
  static FloatControl Read() { return {}; }
  void Load() const {}
  bool operator==(const FloatControl&) const = default;
};

#endif

}  // namespace vcm5

#endif  // VCM5_RUNTIME_ENGINES_STACK_SWITCH_H_
