#include "daemons/driver/doorbell.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

namespace vcm5 {
namespace {

bool Membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }

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

void Doorbell::Sleep(uint64_t nanoseconds) {
  vcm5_store_relaxed(&doorbell_->sleeping, 1);
  // A node rings and then reads `sleeping` without a fence between: the barrier runs one on every
  // processor where a registered process runs, so either we see the bell or it sees us asleep.
  // Where the kernel refuses, the bound on the sleep is the remedy.
  if (!Membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED)) __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (!AnyRung()) {
    timespec timeout{static_cast<time_t>(nanoseconds / 1000000000),
                     static_cast<long>(nanoseconds % 1000000000)};
    syscall(SYS_futex, &doorbell_->sleeping, FUTEX_WAIT, 1, &timeout, nullptr, 0);
  }
  vcm5_store_relaxed(&doorbell_->sleeping, 0);
}

}  // namespace vcm5
