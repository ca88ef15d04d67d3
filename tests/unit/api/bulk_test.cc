// Bulk puts: any offset, length and alignment, from everybody at once.
#include "vcm5/bulk.hpp"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/base/prng.h"
#include "vcm5/embedded.hpp"

namespace vcm5 {
namespace {

EmbeddedOptions Options(uint32_t nodes, uint32_t words_max, uint64_t seed) {
  EmbeddedOptions options;
  options.spec.nodes = nodes;
  options.spec.words_max = words_max;
  options.spec.data_fifo_depth = 8;
  options.seed = seed;
  options.random_schedule = true;
  return options;
}

uint8_t Pattern(uint32_t from, size_t at) { return static_cast<uint8_t>(37 * from + 11 * at + 1); }

TEST(BulkTest, EveryOffsetAndLength) {
  for (const uint32_t words_max : {5u, 18u}) {
    EmbeddedMachine machine(Options(3, words_max, 1));
    const absl::Status status = machine.Run([](Node& node) {
      std::vector<uint8_t> memory(200);
      const BufferId buffer = node.RegisterBuffer(std::span(memory));
      const uint32_t to = (node.self() + 1) % node.size();
      const uint32_t from = (node.self() + 2) % node.size();
      std::vector<uint8_t> data(100);
      for (size_t i = 0; i < data.size(); ++i) data[i] = Pattern(node.self(), i);
      uint64_t expected = 0;
      for (size_t offset = 0; offset < 9; ++offset) {
        for (size_t length = 0; length <= 80; length += length < 24 ? 1 : 7) {
          for (const size_t misalignment : {size_t{0}, size_t{1}}) {
            std::fill(memory.begin(), memory.end(), uint8_t{0});
            node.Barrier();
            node.Put(to, buffer, offset, std::span(data).subspan(misalignment, length));
            expected += length;
            node.PollUntil([&] { return node.BytesReceived(buffer) == expected; });
            for (size_t i = 0; i < memory.size(); ++i) {
              const bool inside = i >= offset && i < offset + length;
              ASSERT_EQ(memory[i], inside ? Pattern(from, i - offset + misalignment) : 0);
            }
            node.Barrier();
          }
        }
      }
    });
    ASSERT_TRUE(status.ok()) << status;
  }
}

TEST(BulkTest, AllToAllAtOnce) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    EmbeddedMachine machine(Options(7, 5, seed));
    const absl::Status status = machine.Run([](Node& node) {
      constexpr size_t kPart = 333;
      std::vector<uint8_t> inbox(kPart * node.size());
      std::vector<uint8_t> empty;
      node.RegisterBuffer(std::span(empty));
      const BufferId buffer = node.RegisterBuffer(std::span(inbox));
      std::vector<uint8_t> data(kPart);
      for (uint32_t dest = 0; dest < node.size(); ++dest) {
        for (size_t i = 0; i < kPart; ++i) data[i] = Pattern(node.self() + 10 * dest, i);
        node.Put(dest, buffer, kPart * node.self(), std::span(data));
      }
      node.Quiesce();
      EXPECT_EQ(node.BytesReceived(buffer), inbox.size());
      for (uint32_t from = 0; from < node.size(); ++from) {
        for (size_t i = 0; i < kPart; ++i) {
          ASSERT_EQ(inbox[kPart * from + i], Pattern(from + 10 * node.self(), i));
        }
      }
    });
    ASSERT_TRUE(status.ok()) << status;
  }
}

TEST(BulkTest, HandlerPutsAsAReply) {
  EmbeddedMachine machine(Options(5, 5, 3));
  const absl::Status status = machine.Run([](Node& node) {
    std::vector<uint64_t> page(50, 7 * node.self());
    std::vector<uint64_t> pages(50 * node.size());
    const BufferId buffer = node.RegisterBuffer(std::span(pages));
    const auto fetch_page = node.AddHandler(
        [&](uint32_t from) { node.Put(from, buffer, 400 * node.self(), std::span(page)); });
    for (uint32_t owner = 0; owner < node.size(); ++owner) {
      node.Request(owner, fetch_page, node.self());
    }
    node.PollUntil([&] { return node.BytesReceived(buffer) == 400 * node.size(); });
    for (size_t i = 0; i < pages.size(); ++i) ASSERT_EQ(pages[i], 7 * (i / 50));
    node.Quiesce();
  });
  ASSERT_TRUE(status.ok()) << status;
}

TEST(BulkTest, MovedBufferCountsAnew) {
  EmbeddedMachine machine(2);
  const absl::Status status = machine.Run([](Node& node) {
    std::vector<uint32_t> first(4);
    std::vector<uint32_t> second(8);
    const BufferId buffer = node.RegisterBuffer(std::span(first));
    const std::vector<uint32_t> data = {1, 2, 3, 4, 5, 6, 7, 8};
    node.Put(1 - node.self(), buffer, 0, std::span(data).first(4));
    node.Quiesce();
    EXPECT_EQ(first[3], 4u);
    node.MoveBuffer(buffer, std::span(second));
    EXPECT_EQ(node.BytesReceived(buffer), 0u);
    node.Barrier();
    node.Put(1 - node.self(), buffer, 0, std::span(data));
    node.Quiesce();
    EXPECT_EQ(second, data);
  });
  ASSERT_TRUE(status.ok()) << status;
}

TEST(BulkDeathTest, PutBeyondTheEndStopsTheProgram) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto run = [] {
    EmbeddedMachine machine(2);
    (void)machine.Run([](Node& node) {
      std::vector<uint8_t> memory(node.self() == 0 ? 100 : 50);
      const BufferId buffer = node.RegisterBuffer(std::span(memory));
      if (node.self() == 0) node.Put(1, buffer, 48, std::span(memory).first(4));
      node.Quiesce();
    });
  };
  EXPECT_DEATH(run(),
               "node 1: a put of 4 bytes at offset 48 does not fit into buffer 0 of 50 bytes");
}

}  // namespace
}  // namespace vcm5
