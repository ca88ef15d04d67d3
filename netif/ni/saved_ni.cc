#include "netif/ni/saved_ni.h"

#include <cstring>
#include <span>

#include "netif/wire/control_packet.h"

namespace vcm5 {
namespace {

constexpr uint32_t kPacketWords = 3 + kCm5eWordsMax;

void AppendPackets(const std::vector<DataPacket>& packets, SavedWordsWriter& to) {
  to.Put(static_cast<uint32_t>(packets.size()));
  for (const DataPacket& packet : packets) {
    uint32_t words[kPacketWords];
    std::memcpy(words, &packet, sizeof words);
    to.Put(words);
  }
}

std::vector<DataPacket> ReadPackets(SavedWordsReader& from) {
  std::vector<DataPacket> packets(from.TakeCount(kPacketWords));
  for (DataPacket& packet : packets) {
    uint32_t words[kPacketWords] = {};
    from.Take(words);
    packet = {};
    std::memcpy(&packet, words, sizeof words);
  }
  return packets;
}

void AppendEntries(const std::vector<vcm5_control_entry>& entries, SavedWordsWriter& to) {
  to.Put(static_cast<uint32_t>(entries.size()));
  for (const vcm5_control_entry& entry : entries) {
    to.Put(entry.word);
    to.Put(entry.control);
  }
}

std::vector<vcm5_control_entry> ReadEntries(SavedWordsReader& from) {
  std::vector<vcm5_control_entry> entries(from.TakeCount(2));
  for (vcm5_control_entry& entry : entries) {
    entry.word = from.Take();
    entry.control = from.Take();
  }
  return entries;
}

// The registers, in the order in which they are saved.
template <class Ni, class Do>
void ForEachRegister(Ni& saved, Do&& with) {
  with(saved.tag_interrupts);
  with(saved.async_or);
  with(saved.async_or_told);
  with(saved.async_or_result);
  with(saved.async_or_rises);
  with(saved.async_or_interrupts);
  with(saved.interrupts);
  with(saved.interrupt_word);
  with(saved.error);
  with(saved.error_parties);
}

const char* FifoName(unsigned fifo) {
  constexpr const char* kNames[VCM5_CONTROL_FIFOS] = {"combine", "broadcast", "router-done",
                                                      "synchronous OR"};
  return kNames[fifo];
}

std::string TooMany(const char* fifo, size_t held, uint32_t depth) {
  return std::string("its ") + fifo + " FIFO holds " + std::to_string(held) + ", and there is room for " +
         std::to_string(depth);
}

// Messages follow one another; the first may have been read in part.
bool InMessages(const std::vector<vcm5_control_entry>& entries) {
  for (size_t at = 0; at < entries.size();) {
    const bool begins = (entries[at].control & VCM5_ENTRY_FIRST) != 0;
    const uint32_t length = VCM5_ENTRY_LENGTH_OF(entries[at].control);
    uint32_t words = 1;
    while ((entries[at].control & VCM5_ENTRY_LAST) == 0) {
      if (++at == entries.size() || (entries[at].control & VCM5_ENTRY_FIRST) != 0) return false;
      ++words;
    }
    ++at;
    if (length > VCM5_CONTROL_WORDS_MAX || words > length) return false;
    const bool whole = begins && words == length;
    const bool rest = !begins && words < length && at == words;
    if (!whole && !rest) return false;
  }
  return true;
}

}  // namespace

void AppendSavedNi(const SavedNi& saved, SavedWordsWriter& to) {
  for (const SavedDataHalf& half : saved.half) {
    for (const uint32_t word : {half.out_head, half.in_head, half.received}) to.Put(word);
    AppendPackets(half.out, to);
    AppendPackets(half.in, to);
  }
  for (const SavedControlFifo& fifo : saved.fifo) {
    for (const uint32_t word : {uint32_t{fifo.abstaining}, fifo.out_head, fifo.in_head}) {
      to.Put(word);
    }
    AppendEntries(fifo.out, to);
    AppendEntries(fifo.in, to);
  }
  ForEachRegister(saved, [&](uint32_t value) { to.Put(value); });
}

SavedNi ReadSavedNi(SavedWordsReader& from) {
  SavedNi saved;
  for (SavedDataHalf& half : saved.half) {
    for (uint32_t* word : {&half.out_head, &half.in_head, &half.received}) *word = from.Take();
    half.out = ReadPackets(from);
    half.in = ReadPackets(from);
  }
  for (SavedControlFifo& fifo : saved.fifo) {
    fifo.abstaining = from.Take() != 0;
    for (uint32_t* word : {&fifo.out_head, &fifo.in_head}) *word = from.Take();
    fifo.out = ReadEntries(from);
    fifo.in = ReadEntries(from);
  }
  ForEachRegister(saved, [&](uint32_t& value) { value = from.Take(); });
  return saved;
}

std::string CheckSavedNi(const SavedNi& saved, const NiGeometry& geometry, uint32_t words_max) {
  for (int half = 0; half < VCM5_HALVES; ++half) {
    const SavedDataHalf& of = saved.half[half];
    const std::string name = half == VCM5_LEFT ? "left" : "right";
    if (of.out.size() > geometry.data_depth) {
      return TooMany((name + " outgoing").c_str(), of.out.size(), geometry.data_depth);
    }
    if (of.in.size() > geometry.data_depth) {
      return TooMany((name + " incoming").c_str(), of.in.size(), geometry.data_depth);
    }
    for (const DataPacket& packet : of.in) {
      const uint32_t length = data_header::Length(packet.header);
      if (length - 1 >= words_max) {
        return "a message in its " + name + " incoming FIFO has " + std::to_string(length) +
               " words, and the longest has " + std::to_string(words_max);
      }
      if (!DataPacketCrcGood(packet)) return "a message in its " + name + " incoming FIFO is damaged";
      if (data_header::IsSystem(packet.header)) {
        return "a message in its " + name + " incoming FIFO has a tag of the system";
      }
    }
    for (const DataPacket& packet : of.out) {
      // Whatever else is wrong with it the port finds when it takes it.
      const auto length = static_cast<uint32_t>(packet.header >> 40);
      if (length - 1 < kCm5eWordsMax && length > words_max) {
        return "a message in its " + name + " outgoing FIFO has " + std::to_string(length) +
               " words, and the longest has " + std::to_string(words_max);
      }
    }
  }
  for (unsigned fifo = 0; fifo < VCM5_CONTROL_FIFOS; ++fifo) {
    const SavedControlFifo& of = saved.fifo[fifo];
    const uint32_t depth = geometry.control_depth[fifo];
    const std::string name = FifoName(fifo);
    if (of.out.size() > depth) return TooMany((name + " outgoing").c_str(), of.out.size(), depth);
    if (of.in.size() > depth) return TooMany((name + " incoming").c_str(), of.in.size(), depth);
    if (!InMessages(of.in)) return "what its " + name + " incoming FIFO holds is no messages";
    for (const vcm5_control_entry& entry : of.out) {
      if (VCM5_ENTRY_LENGTH_OF(entry.control) > depth) {
        return "a message in its " + name + " outgoing FIFO is longer than the FIFO";
      }
    }
  }
  if (VCM5_ERROR_KIND(saved.error) >= kControlFaults) return "its error is of no known kind";
  if (saved.async_or > 1 || saved.async_or_told > 1 || saved.async_or_result > 1) {
    return "its asynchronous OR is neither 0 nor 1";
  }
  return "";
}

}  // namespace vcm5
