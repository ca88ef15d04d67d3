// One program, loaded once for each node of an embedded machine, so that every node has the
// program's globals to itself.
//
// The dynamic loader gives the same image to everybody who asks for the same file, and refuses
// executables. So each node gets a private copy of the file: anonymous memory that holds what the
// program headers map, with the mark "position-independent executable" cleared. Nothing of it has a
// name in the file system. Shared libraries that the program links (libc among them) are loaded once.
#ifndef VCM5_RUNTIME_EMBEDDED_PROGRAM_IMAGE_H_
#define VCM5_RUNTIME_EMBEDDED_PROGRAM_IMAGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace vcm5 {

class ProgramImage {
 public:
  using Main = int (*)(int argc, char** argv, char** environment);

  // Reads and checks the program: an ELF shared object or position-independent executable of this
  // machine's kind. The error says what is wrong with it and what to do.
  static absl::StatusOr<ProgramImage> Read(const std::string& path);

  // A copy of its own for one node.
  struct Copy {
    void* handle = nullptr;  // for dlclose, which runs the copy's destructors
    Main main = nullptr;
  };
  absl::StatusOr<Copy> Load() const;

 private:
  std::string path_;
  std::vector<uint8_t> bytes_;   // up to the last loaded byte, patched
  uint64_t main_offset_ = 0;     // from the symbol table; 0: ask the loader for `main`
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_EMBEDDED_PROGRAM_IMAGE_H_
