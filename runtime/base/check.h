// Always-on checks. A failed check is a bug of ours (or of a caller of a machine), never of an
// input: it prints the expression, the place and what the values were, and stops the process.
#ifndef VCM5_RUNTIME_BASE_CHECK_H_
#define VCM5_RUNTIME_BASE_CHECK_H_

namespace vcm5 {

// Prints "file:line: check failed: expression (detail)" to standard error and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* expression,
                              const char* detail);

}  // namespace vcm5

#define VCM5_CHECK(condition)                                         \
  (__builtin_expect(static_cast<bool>(condition), true)               \
       ? static_cast<void>(0)                                         \
       : ::vcm5::CheckFailed(__FILE__, __LINE__, #condition, nullptr))

// `detail` is a C string that says what the caller should have done.
#define VCM5_CHECK_MSG(condition, detail)                             \
  (__builtin_expect(static_cast<bool>(condition), true)               \
       ? static_cast<void>(0)                                         \
       : ::vcm5::CheckFailed(__FILE__, __LINE__, #condition, (detail)))

#endif  // VCM5_RUNTIME_BASE_CHECK_H_
