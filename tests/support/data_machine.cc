#include "tests/support/data_machine.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <numeric>

#include "absl/strings/match.h"
#include "daemons/driver/node_memory.h"
#include "daemons/driver/part_links.h"
#include "daemons/link/link.h"
#include "runtime/base/check.h"
#include "switches/topology/fat_tree.h"

namespace vcm5 {
namespace {

struct MemoryFrame {
  uint32_t wire;
  uint32_t credits;  // 0: a packet
  unsigned length;
  DataPacket packet;
};

// What one direction of a link carries. Everything before `flushed` can be received.
struct MemoryLane {
  std::deque<MemoryFrame> frames;
  size_t flushed = 0;
};

// A link between two parts in one process, which delivers as much at a time as its seed says.
class MemoryLink final : public Link {
 public:
  MemoryLink(std::shared_ptr<MemoryLane> out, std::shared_ptr<MemoryLane> in, size_t frames_max,
             uint64_t seed)
      : out_(std::move(out)), in_(std::move(in)), frames_max_(frames_max), prng_(seed) {}

  void SendPacket(uint32_t wire, const DataPacket& packet, unsigned length) override {
    MemoryFrame frame{wire, 0, length, {}};
    CopyPacket(&frame.packet, &packet, length);
    Add(frame);
  }
  void SendCredit(uint32_t wire, uint32_t packets) override { Add({wire, packets, 0, {}}); }
  void Flush() override { out_->flushed = out_->frames.size(); }
  unsigned Receive(LinkReceiver& receiver) override {
    const unsigned most = prng_.Below(8);
    unsigned received = 0;
    for (; received < most && in_->flushed != 0; ++received) {
      const MemoryFrame& frame = in_->frames.front();
      if (frame.credits != 0) {
        receiver.OnCredit(frame.wire, frame.credits);
      } else {
        receiver.OnPacket(frame.wire, frame.packet, frame.length);
      }
      in_->frames.pop_front();
      --in_->flushed;
    }
    // What it holds back counts as work: there is more to come.
    return in_->flushed != 0 ? std::max(received, 1u) : received;
  }
  absl::Status status() const override { return absl::OkStatus(); }

 private:
  void Add(const MemoryFrame& frame) {
    out_->frames.push_back(frame);
    VCM5_CHECK_MSG(out_->frames.size() <= frames_max_, "a link carries more than credit allows");
  }

  std::shared_ptr<MemoryLane> out_;
  std::shared_ptr<MemoryLane> in_;
  size_t frames_max_;
  Prng prng_;
};

}  // namespace

DataMachine::DataMachine(const MachineSpec& spec, uint32_t parts, uint64_t seed, Members members_of)
    : spec_(spec),
      parts_(parts),
      page_bytes_(NodeMemoryBytes(spec)),
      members_(members_of == Members::kNodes ? spec.nodes : spec.leaves()),
      ports_(members_),
      supervisor_ports_(members_) {
  const FatTree tree(spec.leaves(), spec.parents_per_level);
  std::vector<uint32_t> bells(parts);
  for (uint32_t leaf = 0; leaf < spec.leaves(); ++leaf) bells[tree.PartOfLeaf(leaf, parts)]++;
  for (uint32_t i = 0; i < VCM5_HALVES * parts; ++i) {
    const uint32_t bytes = Doorbell::BytesFor(bells[i % parts]);
    bell_memory_.emplace_back(static_cast<uint8_t*>(std::aligned_alloc(64, bytes)));
    std::memset(bell_memory_.back().get(), 0, bytes);
    Doorbell::Create(bell_memory_.back().get(), bells[i % parts]);
    doorbells_.emplace_back(bell_memory_.back().get(), bells[i % parts]);
  }
  MakeNodes();
  MakeAgents(seed);
}

void DataMachine::MakeNodes() {
  const FatTree tree(spec_.leaves(), spec_.parents_per_level);
  const size_t bytes = size_t{members_} * (page_bytes_ + kFenceBytes) + kFenceBytes;
  pages_.reset(static_cast<uint8_t*>(std::aligned_alloc(4096, bytes)));
  std::memset(pages_.get(), kFence, bytes);
  std::vector<uint32_t> bell(parts_);
  for (uint32_t node = 0; node < members_; ++node) {
    std::memset(page(node), 0, page_bytes_);
    NodeIdentity identity;
    identity.self = node;
    identity.partition_size = members_;
    InitializeNodePage(page(node), spec_, identity);
    const char* wrong = vcm5_port_attach(&ports_[node], page(node), page_bytes_);
    VCM5_CHECK_MSG(wrong == nullptr, wrong);
    const uint32_t part = tree.PartOfLeaf(node, parts_);
    for (uint32_t half = 0; half < VCM5_HALVES; ++half) {
      const Doorbell& doorbell = doorbells_[half * parts_ + part];
      ports_[node].data_bell[half] = doorbell.bell(bell[part]);
      ports_[node].data_doorbell[half] = doorbell.shared();
    }
    supervisor_pages_.emplace_back(
        static_cast<uint8_t*>(std::calloc(1, sizeof(vcm5_supervisor_page))));
    auto* supervisors = reinterpret_cast<vcm5_supervisor_page*>(supervisor_pages_.back().get());
    vcm5_supervisor_page_init(supervisors, node, members_);
    wrong = vcm5_supervisor_attach(&supervisor_ports_[node], supervisors);
    VCM5_CHECK_MSG(wrong == nullptr, wrong);
    std::copy_n(ports_[node].data_doorbell, VCM5_HALVES, supervisor_ports_[node].data_doorbell);
    ++bell[part];
  }
}

void DataMachine::MakeAgents(uint64_t seed) {
  const FatTree tree(spec_.leaves(), spec_.parents_per_level);
  std::vector<uint32_t> members(members_);
  std::iota(members.begin(), members.end(), 0u);
  std::vector<vcm5_ni_page*> pages(members_);
  for (uint32_t node = 0; node < members_; ++node) pages[node] = page(node);
  for (uint32_t half = 0; half < VCM5_HALVES; ++half) {
    std::vector<std::vector<std::unique_ptr<Link>>> links(parts_);
    for (auto& row : links) row.resize(parts_);
    for (uint32_t a = 0; a < parts_; ++a) {
      for (uint32_t b = a + 1; b < parts_; ++b) {
        const uint32_t wires = WiresBetween(spec_, parts_, a, b);
        if (wires == 0) continue;
        auto forth = std::make_shared<MemoryLane>();
        auto back = std::make_shared<MemoryLane>();
        const size_t most = size_t{2} * wires * spec_.link_depth;
        links[a][b] = std::make_unique<MemoryLink>(forth, back, most, ++seed);
        links[b][a] = std::make_unique<MemoryLink>(back, forth, most, ++seed);
      }
    }
    for (uint32_t part = 0; part < parts_; ++part) {
      DataAgentOptions options;
      options.spec = spec_;
      options.half = static_cast<int>(half);
      options.part = part;
      options.parts = parts_;
      options.pages = pages;
      for (const vcm5_supervisor_port& port : supervisor_ports_) {
        options.supervisor_pages.push_back(port.page);
      }
      options.partitions = {members};
      uint32_t first = 0;
      while (tree.PartOfLeaf(first, parts_) != part) ++first;
      const Doorbell& doorbell = doorbells_[half * parts_ + part];
      options.bells = {{doorbell, 0, first, doorbell.shared()->bells}};
      options.supervisor_doorbell = doorbell;
      options.links = std::move(links[part]);
      agents_.push_back(MakeDataAgent(std::move(options)));
    }
  }
}

vcm5_ni_page* DataMachine::page(uint32_t node) {
  return reinterpret_cast<vcm5_ni_page*>(pages_.get() + kFenceBytes +
                                         size_t{node} * (page_bytes_ + kFenceBytes));
}

void DataMachine::RingAllBells(uint32_t node) {
  for (int half = 0; half < VCM5_HALVES; ++half) {
    vcm5_doorbell* doorbell = ports_[node].data_doorbell[half];
    std::memset(doorbell + 1, 0xff, (doorbell->bells + 63) & ~63u);
  }
}

std::vector<DataNetworkAgent*> DataMachine::data_agents() const {
  std::vector<DataNetworkAgent*> agents;
  for (const auto& agent : agents_) agents.push_back(agent.get());
  return agents;
}

unsigned DataMachine::RunAll() {
  unsigned work = 0;
  for (const auto& agent : agents_) work += agent->DoWork();
  return work;
}

const std::vector<FabricError>& DataMachine::errors() {
  for (const auto& agent : agents_) {
    for (FabricError& error : agent->TakeErrors()) errors_.push_back(std::move(error));
  }
  return errors_;
}

uint64_t DataMachine::Stat(const std::string& name) const {
  uint64_t sum = 0;
  for (const auto& agent : agents_) {
    for (const FabricStat& stat : agent->Stats()) {
      if (!stat.is_link && absl::EndsWith(stat.name, ": " + name)) sum += stat.value;
    }
  }
  return sum;
}

void DataMachine::CheckFences() const {
  const uint8_t* at = pages_.get();
  for (uint32_t fence = 0; fence <= members_; ++fence, at += kFenceBytes + page_bytes_) {
    for (uint32_t i = 0; i < kFenceBytes; ++i) VCM5_CHECK(at[i] == kFence);
  }
}

}  // namespace vcm5
