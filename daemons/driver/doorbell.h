// The daemon's side of a doorbell (netif/shm/ni_page.h): which nodes want to be looked at, and how
// to sleep until one does.
#ifndef VCM5_DAEMONS_DRIVER_DOORBELL_H_
#define VCM5_DAEMONS_DRIVER_DOORBELL_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "netif/shm/atomic_words.h"
#include "netif/shm/ni_page.h"

namespace vcm5 {

class Doorbell {
 public:
  static constexpr uint32_t BytesFor(uint32_t bells) {
    return static_cast<uint32_t>(sizeof(vcm5_doorbell)) + ((bells + 63) & ~63u);
  }

  // Writes the identity into zeroed memory of BytesFor(bells) bytes.
  static void Create(void* memory, uint32_t bells) {
    auto* doorbell = static_cast<vcm5_doorbell*>(memory);
    doorbell->magic = VCM5_DOORBELL_MAGIC;
    doorbell->version = VCM5_NI_VERSION;
    doorbell->bells = bells;
  }

  Doorbell() = default;
  Doorbell(void* memory, uint32_t bells)
      : doorbell_(static_cast<vcm5_doorbell*>(memory)),
        words_(reinterpret_cast<uint64_t*>(doorbell_ + 1)),
        bells_(bells) {}

  vcm5_doorbell* shared() const { return doorbell_; }
  uint8_t* bell(uint32_t index) const { return reinterpret_cast<uint8_t*>(words_) + index; }

  // Calls visit(index) for each bell in [first, last) that has rung, and resets it. What a node
  // published before it rang is visible to visit. `first` is a multiple of 8.
  template <class Visit>
  unsigned Take(uint32_t first, uint32_t last, Visit&& visit) {
    unsigned rung = 0;
    for (uint32_t word = first / 8; word * 8 < last; ++word) {
      if (vcm5_load64_relaxed(&words_[word]) == 0) continue;
      // SYNC data_bell, control_bell: pairs with the stores in vcm5_port_ring_*_bell().
      uint64_t bells = __atomic_exchange_n(&words_[word], uint64_t{0}, __ATOMIC_SEQ_CST);
      while (bells != 0) {
        const unsigned byte = static_cast<unsigned>(std::countr_zero(bells)) / 8;
        bells &= ~(uint64_t{0xff} << (8 * byte));
        if (word * 8 + byte >= last) continue;  // a scribbled bell that nobody owns
        visit(word * 8 + byte);
        ++rung;
      }
    }
    return rung;
  }

  // Whether supervisors have rung for `half` of the data network since the last call.
  bool TakeSupervisors(int half) {
    uint32_t* bell = &doorbell_->supervisor_bell[half];
    // SYNC supervisor_bell: pairs with the store in vcm5_supervisor_send().
    return __builtin_expect(vcm5_load_relaxed(bell) != 0, 0) &&
           __atomic_exchange_n(bell, 0u, __ATOMIC_SEQ_CST) != 0;
  }

  bool AnyRung() const {
    for (const uint32_t& bell : doorbell_->supervisor_bell) {
      if (vcm5_load_relaxed(&bell) != 0) return true;
    }
    for (uint32_t word = 0; word * 8 < bells_; ++word) {
      if (vcm5_load64_relaxed(&words_[word]) != 0) return true;
    }
    return false;
  }

  // Rings a bell from another daemon or from the launcher, and wakes the owner if it sleeps.
  void Ring(uint32_t index);

  // Sleeps until somebody rings one of `doorbells` (of which there is one), at most `nanoseconds`.
  // Returns at once if a bell has rung. Of more than kWaitMax only the first wake the sleeper,
  // who then looks up every millisecond.
  static void Sleep(std::span<const Doorbell> doorbells, uint64_t nanoseconds);
  static constexpr size_t kWaitMax = 128;

  // Wakes whoever sleeps on `doorbell`; what a port's `wake` does.
  static void Wake(vcm5_doorbell* doorbell);

  // Once a process, before it rings or sleeps: registers for the barrier that Sleep() uses.
  static void RegisterProcess();

 private:
  vcm5_doorbell* doorbell_ = nullptr;
  uint64_t* words_ = nullptr;
  uint32_t bells_ = 0;
};

}  // namespace vcm5

#endif  // VCM5_DAEMONS_DRIVER_DOORBELL_H_
