// What a node's port (ni_port_state.h) knows about the NI that it has mapped: positions, and what has
// been pushed or popped in part. It lies in the program's memory and is saved and restored with that;
// it must agree with what the NI itself holds (netif/ni/saved_ni.h), and has no addresses in it.
// Handlers are the program's, and stay as they are in the port that is restored.
#ifndef VCM5_NETIF_PORT_SAVED_PORT_H_
#define VCM5_NETIF_PORT_SAVED_PORT_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "netif/ni/saved_ni.h"
#include "netif/ni/saved_words.h"
#include "netif/port/ni_port.h"
#include "netif/wire/data_packet.h"

namespace vcm5 {

struct SavedPort {
  // One half of the data network.
  struct Half {
    uint32_t out_tail = 0;
    uint32_t in_head = 0;
    uint32_t received = 0;
    uint32_t pushed = 0;     // words of a message pushed in part,
    uint32_t push_left = 0;  // words that it still needs,
    uint32_t send_ok = 1;    // and whether it has a slot, which is `partial`
    uint32_t pop_left = 0;
    uint32_t status_tail = 0;
    DataPacket partial = {};
  };
  // One FIFO pair of the control network.
  struct Fifo {
    uint32_t out_tail_told = 0;
    uint32_t in_head = 0;
    uint32_t control = 0;
    uint32_t push_left = 0;
    uint32_t pop_left = 0;
    uint32_t status_tail = 0;
    uint32_t send_ok = 1;
    uint32_t abstaining = 0;
    std::vector<vcm5_control_entry> partial;  // a message pushed in part: behind out_tail_told
  };
  std::array<Half, VCM5_HALVES> half;
  std::array<Fifo, VCM5_CONTROL_FIFOS> fifo;
  uint32_t misses = 0;
  uint32_t send_refuse = 0;
  uint32_t refused_sends_left = 0;
  uint32_t segment_start = 0;
  uint32_t holds_back = 0;
  uint32_t in_router_done = 0;
  uint32_t interrupts_enabled = 0;
  uint32_t rises_seen = 0;
  uint32_t attention_seen = 0;
  uint32_t received_told = 0;
  uint32_t async_or_seen = 0;
};

SavedPort SavePort(const vcm5_port& port);
// CheckSavedPort() found nothing wrong, and the NI is restored.
void RestorePort(const SavedPort& saved, const SavedNi& ni, vcm5_port* port);

void AppendSavedPort(const SavedPort& saved, SavedWordsWriter& to);
// Nothing is wrong if `from` still holds() afterwards.
SavedPort ReadSavedPort(SavedWordsReader& from);

// Why a port of this geometry and longest message cannot go on with `saved` on an NI that holds
// `ni`, or "".
std::string CheckSavedPort(const SavedPort& saved, const SavedNi& ni, const NiGeometry& geometry,
                           uint32_t words_max);

}  // namespace vcm5

#endif  // VCM5_NETIF_PORT_SAVED_PORT_H_
