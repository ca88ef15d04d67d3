#include "runtime/launch/node_program.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "runtime/base/elf_file.h"
#include "runtime/launch/unique_fd.h"
#include "runtime/node/node_environment.h"

namespace vcm5 {
namespace {

// Longest file that is read: with symbols and debug information, which stay behind.
constexpr off_t kFileBytesMax = off_t{1} << 30;

using Bytes = std::vector<uint8_t>;

absl::Status Refuse(const std::string& path, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("cannot run ", path, ": ", why));
}

// The first `bytes_max` bytes of a file.
absl::StatusOr<Bytes> Read(const std::string& path, size_t bytes_max) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status;
  if (file.get() < 0 || fstat(file.get(), &status) != 0) {
    return Refuse(path, absl::StrCat("it cannot be read: ", std::strerror(errno)));
  }
  if (status.st_size > kFileBytesMax) {
    return Refuse(path, absl::StrCat("it has ", status.st_size, " bytes; expected at most ",
                                     kFileBytesMax));
  }
  Bytes bytes(std::min(static_cast<size_t>(status.st_size), bytes_max));
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t got = read(file.get(), bytes.data() + at, bytes.size() - at);
    if (got < 0) return Refuse(path, absl::StrCat("it cannot be read: ", std::strerror(errno)));
    if (got == 0) return Refuse(path, "it became shorter while it was read");
    at += static_cast<size_t>(got);
  }
  return bytes;
}

bool IsScript(const Bytes& file) { return file.size() >= 2 && file[0] == '#' && file[1] == '!'; }

std::optional<Elf64_Ehdr> HeaderOf(const Bytes& file) {
  const auto header = ElfAt<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != kElfMachine ||
      (header->e_type != ET_EXEC && header->e_type != ET_DYN)) {
    return std::nullopt;
  }
  return header;
}

// What a program says of its shared libraries that only holds beside its own file, or where it was
// started: a search path with $ORIGIN, a relative search path or name. Empty: nothing.
class Libraries {
 public:
  Libraries(const Bytes& file, const Elf64_Ehdr& header) : file_(file) {
    for (unsigned i = 0; i < header.e_phnum; ++i) {
      const auto segment = ElfAt<Elf64_Phdr>(file, header.e_phoff + uint64_t{i} * sizeof(Elf64_Phdr));
      if (segment && segment->p_type == PT_LOAD) loads_.push_back(*segment);
      if (segment && segment->p_type == PT_DYNAMIC) dynamic_ = *segment;
    }
  }

  std::string Relative() const {
    if (!dynamic_) return "";
    uint64_t strings = 0;
    for (const Elf64_Dyn& entry : Entries()) {
      if (entry.d_tag == DT_STRTAB) strings = OffsetOf(entry.d_un.d_ptr);
    }
    for (const Elf64_Dyn& entry : Entries()) {
      const std::string text = TextAt(strings + entry.d_un.d_val, entry.d_tag);
      if (IsRelative(text, entry.d_tag == DT_NEEDED)) return text;
    }
    return "";
  }

 private:
  std::vector<Elf64_Dyn> Entries() const {
    std::vector<Elf64_Dyn> entries;
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic_->p_filesz; at += sizeof(Elf64_Dyn)) {
      const auto entry = ElfAt<Elf64_Dyn>(file_, dynamic_->p_offset + at);
      if (!entry || entry->d_tag == DT_NULL) break;
      entries.push_back(*entry);
    }
    return entries;
  }
  // Where in the file an address of the running program is.
  uint64_t OffsetOf(uint64_t address) const {
    for (const Elf64_Phdr& load : loads_) {
      if (address - load.p_vaddr < load.p_filesz) return address - load.p_vaddr + load.p_offset;
    }
    return file_.size();
  }
  std::string TextAt(uint64_t offset, int64_t tag) const {
    if (tag != DT_NEEDED && tag != DT_RPATH && tag != DT_RUNPATH) return "";
    if (offset >= file_.size()) return "";
    const auto* text = reinterpret_cast<const char*>(file_.data()) + offset;
    return std::string(text, strnlen(text, file_.size() - offset));
  }
  // A name without a slash is looked for in the search path, of which each part must be absolute.
  static bool IsRelative(const std::string& text, bool is_name) {
    if (is_name) return text.find('/') != std::string::npos && text[0] != '/';
    if (text.empty()) return false;
    bool begins = true;
    for (const char c : text) {
      if (begins && c != '/' && c != ':') return true;
      begins = c == ':';
    }
    return false;
  }

  const Bytes& file_;
  std::vector<Elf64_Phdr> loads_;
  std::optional<Elf64_Phdr> dynamic_;
};

// Cuts off what the system does not map.
absl::Status Trim(const std::string& path, Elf64_Ehdr header, Bytes* file) {
  uint64_t end = header.e_phoff + uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    const auto segment = ElfAt<Elf64_Phdr>(*file, header.e_phoff + uint64_t{i} * sizeof(Elf64_Phdr));
    if (!segment || segment->p_offset > file->size() ||
        segment->p_filesz > file->size() - segment->p_offset) {
      return Refuse(path, "it is a damaged program");
    }
    end = std::max(end, segment->p_offset + segment->p_filesz);
  }
  if (end > file->size()) return Refuse(path, "it is a damaged program");
  header.e_shoff = 0;
  header.e_shnum = 0;
  header.e_shstrndx = 0;
  std::memcpy(file->data(), &header, sizeof header);
  file->resize(end);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<uint8_t>> ReadNodeProgram(const std::string& path) {
  absl::StatusOr<Bytes> file = Read(path, kFileBytesMax);
  if (!file.ok()) return file;
  if (IsScript(*file)) {
    return Refuse(path, "it is a script; a node program is broadcast to nodes that have no files, so "
                        "with --host it must be a program of this processor's");
  }
  const std::optional<Elf64_Ehdr> header = HeaderOf(*file);
  if (!header) return Refuse(path, "it is no program for this system");
  if (absl::Status status = Trim(path, *header, &*file); !status.ok()) return status;
  if (file->size() > kBootBytesMax) {
    return Refuse(path, absl::StrCat("it has ", file->size(), " bytes without its symbols; expected at "
                                     "most ", kBootBytesMax, " of a program that is broadcast"));
  }
  if (const std::string place = Libraries(*file, *header).Relative(); !place.empty()) {
    return Refuse(path, absl::StrCat("it looks for shared libraries at `", place, "`, beside a file "
                                     "that a broadcast program has not; link it with absolute paths"));
  }
  return file;
}

absl::Status CheckHostProgram(const std::string& path) {
  const absl::StatusOr<Bytes> begin = Read(path, sizeof(Elf64_Ehdr));
  // A program need not be readable to be run.
  if (!begin.ok() || IsScript(*begin) || HeaderOf(*begin)) return absl::OkStatus();
  return Refuse(path, "it is no program for this system");
}

}  // namespace vcm5
