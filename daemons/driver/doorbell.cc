#include "daemons/driver/doorbell.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

namespace vcm5 {
namespace {

constexpr uint64_t kLookUpNs = 1'000'000;

bool Membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }

// Waits until a doorbell wakes us, but no longer than asked.
void Wait(std::span<const Doorbell> doorbells, uint64_t nanoseconds) {
  std::array<futex_waitv, Doorbell::kWaitMax> waiters{};
  for (size_t i = 0; i < doorbells.size(); ++i) {
    waiters[i].val = 1;
    waiters[i].uaddr = reinterpret_cast<uintptr_t>(&doorbells[i].shared()->sleeping);
    waiters[i].flags = FUTEX_32;
  }
  timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  const uint64_t end_ns = static_cast<uint64_t>(end.tv_nsec) + nanoseconds;
  end.tv_sec += static_cast<time_t>(end_ns / 1'000'000'000);
  end.tv_nsec = static_cast<long>(end_ns % 1'000'000'000);
  if (syscall(SYS_futex_waitv, waiters.data(), static_cast<unsigned>(doorbells.size()), 0, &end,
              CLOCK_MONOTONIC) >= 0 ||
      (errno != ENOSYS && errno != EPERM)) {
    return;
  }
  // An old kernel, or one that does not let us: the first wakes us, for the others there is the bound.
  const timespec timeout{static_cast<time_t>(nanoseconds / 1'000'000'000),
                         static_cast<long>(nanoseconds % 1'000'000'000)};
  syscall(SYS_futex, &doorbells[0].shared()->sleeping, FUTEX_WAIT, 1, &timeout, nullptr, 0);
}

}  // namespace

void Doorbell::RegisterProcess() { Membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED); }

void Doorbell::Wake(vcm5_doorbell* doorbell) {
  vcm5_store_relaxed(&doorbell->sleeping, 0);
  syscall(SYS_futex, &doorbell->sleeping, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Doorbell::Ring(uint32_t index) {
  __atomic_store_n(bell(index), uint8_t{1}, __ATOMIC_SEQ_CST);
  if (vcm5_load_relaxed(&doorbell_->sleeping) != 0) Wake(doorbell_);
}

void Doorbell::Sleep(std::span<const Doorbell> doorbells, uint64_t nanoseconds) {
  for (const Doorbell& doorbell : doorbells) vcm5_store_relaxed(&doorbell.shared()->sleeping, 1);
  // A node rings and then reads `sleeping` without a fence between: the barrier runs one on every
  // processor where a registered process runs, so either we see the bell or it sees us asleep.
  // Where the kernel refuses, the bound on the sleep is the remedy.
  if (!Membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED)) __atomic_thread_fence(__ATOMIC_SEQ_CST);
  const bool rung = std::any_of(doorbells.begin(), doorbells.end(),
                                [](const Doorbell& doorbell) { return doorbell.AnyRung(); });
  if (doorbells.size() > kWaitMax) nanoseconds = std::min(nanoseconds, kLookUpNs);
  if (!rung) Wait(doorbells.first(std::min(doorbells.size(), kWaitMax)), nanoseconds);
  for (const Doorbell& doorbell : doorbells) vcm5_store_relaxed(&doorbell.shared()->sleeping, 0);
}

}  // namespace vcm5
