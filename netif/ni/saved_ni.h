// What an NI holds of its user (paper sections 2 and 5; NI11), taken out of it at the end of a
// timeslice, when the data network is empty (all-fall-down) and the control network is flushed: what
// the program pushed and no network has delivered, what was delivered and not read, counters and
// registers. Of the supervisor's broadcasts there is nothing here: they are not the user's.
//
// A plain value, without addresses of the machine: it fits any NI with as much room, of any node.
// As words (AppendSavedNi, ReadSavedNi) it may come from anywhere, and is checked (CheckSavedNi)
// before an NI gets it. What a program could have written itself is let through: ports check that
// when they take it.
#ifndef VCM5_NETIF_NI_SAVED_NI_H_
#define VCM5_NETIF_NI_SAVED_NI_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "netif/ni/ni_geometry.h"
#include "netif/ni/saved_words.h"
#include "netif/shm/ni_page.h"
#include "netif/wire/data_packet.h"

namespace vcm5 {

// Positions are as programs know them, and go on from there.
struct SavedControlFifo {
  bool abstaining = false;  // in the operations of this FIFO
  uint32_t out_head = 0;
  uint32_t in_head = 0;
  std::vector<vcm5_control_entry> out;  // pushed, not complete
  std::vector<vcm5_control_entry> in;   // delivered, not read

  uint32_t out_tail() const { return out_head + static_cast<uint32_t>(out.size()); }
  uint32_t in_tail() const { return in_head + static_cast<uint32_t>(in.size()); }
};

struct SavedDataHalf {
  uint32_t out_head = 0;
  uint32_t in_head = 0;
  uint32_t received = 0;  // messages, as counted for router-done
  std::vector<DataPacket> out;  // pushed, not injected: as programs write slots
  std::vector<DataPacket> in;   // delivered, not read

  uint32_t out_tail() const { return out_head + static_cast<uint32_t>(out.size()); }
  uint32_t in_tail() const { return in_head + static_cast<uint32_t>(in.size()); }
};

struct SavedNi {
  std::array<SavedDataHalf, VCM5_HALVES> half;
  std::array<SavedControlFifo, VCM5_CONTROL_FIFOS> fifo;
  uint32_t tag_interrupts = 0;  // the mask (NI5)
  uint32_t async_or = 0;             // this node's input of the user's asynchronous OR,
  uint32_t async_or_told = 0;        // as the network knows it,
  uint32_t async_or_result = 0;      // the partition's, as the program knows it,
  uint32_t async_or_rises = 0;       // how often that rose,
  uint32_t async_or_interrupts = 0;  // and whether that interrupts
  uint32_t interrupts = 0;           // that have come,
  uint32_t interrupt_word = 0;       // and what with
  uint32_t error = 0;                // vcm5_control_results.error, error_parties
  uint32_t error_parties = 0;
};

void AppendSavedNi(const SavedNi& saved, SavedWordsWriter& to);
// Nothing is wrong if `from` still holds() afterwards.
SavedNi ReadSavedNi(SavedWordsReader& from);

// What keeps an NI of this geometry and longest message from being given it, or "".
std::string CheckSavedNi(const SavedNi& saved, const NiGeometry& geometry, uint32_t words_max);

}  // namespace vcm5

#endif  // VCM5_NETIF_NI_SAVED_NI_H_
