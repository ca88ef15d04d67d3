// Whom `vcm5 bench --against` knows: message-passing libraries, and what the machine itself sets as
// the least. A new one is a line of the table in peer_kind.cc.
#ifndef VCM5_BENCH_PEER_KIND_H_
#define VCM5_BENCH_PEER_KIND_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vcm5::bench {

struct PeerKind {
  const char* name;
  const char* title;
  std::vector<std::string> compilers;         // the first of these that is in $PATH
  std::vector<std::string> launchers;         // likewise
  std::vector<std::string> launch_arguments;  // before `-n N PROGRAM`
  std::vector<std::string> variables;         // NAME=value, for the launcher
  std::vector<std::string> root_variables;    // the same, when root
  const char* packages;                       // Debian's, to install
  const char* version_line = "";  // what the line of `launcher --version` begins with that tells it
  // Or a program of ours (FindDaemon) that needs none of these, and what it can measure.
  const char* program = nullptr;
  std::vector<std::string_view> benchmarks = {};  // empty: all
  uint32_t nodes = 0;                             // 0: any number

  bool CanMeasure(std::string_view benchmark, uint32_t on_nodes) const;
};

const PeerKind* FindPeerKind(std::string_view name);  // or null
std::string PeerNames();                              // "openmpi, mpich or floor"

}  // namespace vcm5::bench

#endif  // VCM5_BENCH_PEER_KIND_H_
