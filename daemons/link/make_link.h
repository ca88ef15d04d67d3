// Making links of each kind: the launcher makes the two ends as descriptors, and each daemon turns
// the ones that it is given into its end.
#ifndef VCM5_DAEMONS_LINK_MAKE_LINK_H_
#define VCM5_DAEMONS_LINK_MAKE_LINK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "daemons/link/link.h"
#include "daemons/link/link_frame.h"

namespace vcm5 {

enum class LinkKind : uint32_t { kShm = 0, kUnix = 1 };

// Descriptors of one link, as many for each side; close-on-exec, the receiver's to close.
struct LinkEnds {
  std::vector<int> side[2];
};

// How many descriptors an end of this kind is.
constexpr size_t LinkDescriptors(LinkKind kind) { return kind == LinkKind::kShm ? 2 : 1; }

absl::StatusOr<LinkEnds> CreateLink(LinkKind kind, const LinkGeometry& geometry);

// Takes the descriptors, also on failure. `ring_peer` is called after each Flush that sent
// something; it must not block.
absl::StatusOr<std::unique_ptr<Link>> AttachLink(LinkKind kind, int side,
                                                 const std::vector<int>& descriptors,
                                                 const LinkGeometry& geometry,
                                                 std::function<void()> ring_peer);

}  // namespace vcm5

#endif  // VCM5_DAEMONS_LINK_MAKE_LINK_H_
