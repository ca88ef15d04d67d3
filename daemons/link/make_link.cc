#include "daemons/link/make_link.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "daemons/link/shm_link.h"
#include "daemons/link/unix_link.h"

namespace vcm5 {
namespace {

// Bytes that the kernel may hold for each direction of a socket link.
constexpr int kSocketBufferBytes = 256 << 10;

absl::Status Failure(const char* what) {
  return absl::InternalError(absl::StrCat("making a link: ", what, ": ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<LinkEnds> CreateLink(LinkKind kind, const LinkGeometry& geometry) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return Failure("socketpair");
  LinkEnds ends;
  if (kind == LinkKind::kShm) {
    absl::StatusOr<SharedMemory> memory =
        SharedMemory::Create("vcm5-link", 2 * ShmLinkLayout(geometry).bytes);
    if (!memory.ok()) {
      close(sockets[0]);
      close(sockets[1]);
      return memory.status();
    }
    for (std::vector<int>& side : ends.side) side.push_back(fcntl(memory->fd(), F_DUPFD_CLOEXEC, 0));
  } else {
    for (const int socket : sockets) {
      setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &kSocketBufferBytes, sizeof kSocketBufferBytes);
    }
  }
  for (int side = 0; side < 2; ++side) ends.side[side].push_back(sockets[side]);
  return ends;
}

absl::StatusOr<std::unique_ptr<Link>> AttachLink(LinkKind kind, int side,
                                                 const std::vector<int>& descriptors,
                                                 const LinkGeometry& geometry,
                                                 std::function<void()> ring_peer) {
  if (descriptors.size() != LinkDescriptors(kind)) {
    for (const int fd : descriptors) close(fd);
    return absl::InvalidArgumentError("attaching a link: wrong number of descriptors");
  }
  if (kind == LinkKind::kUnix) {
    return std::make_unique<UnixLink>(descriptors[0], geometry, std::move(ring_peer));
  }
  absl::StatusOr<SharedMemory> memory =
      SharedMemory::Attach(descriptors[0], 2 * ShmLinkLayout(geometry).bytes);
  if (!memory.ok()) {
    close(descriptors[1]);
    return memory.status();
  }
  return std::make_unique<ShmLink>(std::move(*memory), descriptors[1], side, geometry,
                                   std::move(ring_peer));
}

}  // namespace vcm5
