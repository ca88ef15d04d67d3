#include "netif/shm/shared_memory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace vcm5 {
namespace {

using ::testing::HasSubstr;

constexpr size_t kBytes = 8192;

SharedMemory Make() {
  absl::StatusOr<SharedMemory> memory = SharedMemory::Create("vcm5-test", kBytes);
  EXPECT_TRUE(memory.ok()) << memory.status();
  return *std::move(memory);
}

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

TEST(SharedMemory, BeginsZeroed) {
  const SharedMemory memory = Make();
  ASSERT_EQ(memory.size(), kBytes);
  for (size_t i = 0; i < kBytes; ++i) ASSERT_EQ(memory.data()[i], 0);
}

TEST(SharedMemory, AttachedMemoryIsTheSameMemory) {
  const SharedMemory creator = Make();
  const absl::StatusOr<SharedMemory> other = SharedMemory::Attach(dup(creator.fd()), kBytes);
  ASSERT_TRUE(other.ok()) << other.status();
  ASSERT_NE(creator.data(), other->data());
  creator.data()[kBytes - 1] = 42;
  EXPECT_EQ(other->data()[kBytes - 1], 42);
}

TEST(SharedMemory, SizeCannotBeChanged) {
  const SharedMemory memory = Make();
  EXPECT_NE(ftruncate(memory.fd(), 0), 0);
  EXPECT_NE(ftruncate(memory.fd(), 2 * kBytes), 0);
}

TEST(SharedMemory, IsNotInheritedAcrossExec) {
  const SharedMemory memory = Make();
  EXPECT_EQ(fcntl(memory.fd(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(SharedMemory, RefusesAnotherSize) {
  const SharedMemory memory = Make();
  const int fd = dup(memory.fd());
  const auto other = SharedMemory::Attach(fd, kBytes + 1);
  EXPECT_THAT(std::string(other.status().message()),
              HasSubstr("8192 bytes where 8193 were expected"));
  EXPECT_FALSE(IsOpen(fd)) << "a refused descriptor is taken all the same";
}

TEST(SharedMemory, RefusesMemoryThatCouldShrink) {
  const int fd = memfd_create("vcm5-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(ftruncate(fd, kBytes), 0);
  const auto memory = SharedMemory::Attach(fd, kBytes);
  EXPECT_THAT(std::string(memory.status().message()), HasSubstr("not sealed"));
}

TEST(SharedMemory, RefusesWhatIsNoMemory) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_FALSE(SharedMemory::Attach(ends[0], kBytes).ok());
  EXPECT_FALSE(SharedMemory::Attach(-1, kBytes).ok());
  close(ends[1]);
}

TEST(SharedMemory, MappingOutlivesTheDescriptor) {
  SharedMemory memory = Make();
  const int fd = memory.fd();
  memory.CloseFd();
  EXPECT_EQ(memory.fd(), -1);
  EXPECT_FALSE(IsOpen(fd));
  memory.data()[0] = 1;
  EXPECT_EQ(memory.data()[0], 1);
}

TEST(SharedMemory, MovesWithItsDescriptor) {
  SharedMemory memory = Make();
  const int fd = memory.fd();
  {
    SharedMemory moved = std::move(memory);
    EXPECT_EQ(moved.fd(), fd);
    EXPECT_EQ(memory.data(), nullptr);  // NOLINT: what a moved-from one looks like
  }
  EXPECT_FALSE(IsOpen(fd));
}

}  // namespace
}  // namespace vcm5
