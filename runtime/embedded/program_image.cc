#include "runtime/embedded/program_image.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/elf_file.h"

#ifndef DF_1_PIE
#define DF_1_PIE 0x08000000
#endif

namespace vcm5 {
namespace {

// Address of `main` in the full symbol table, for programs that do not export it.
uint64_t FindMain(const std::vector<uint8_t>& file, const Elf64_Ehdr& header) {
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const auto section = ElfAt<Elf64_Shdr>(file, header.e_shoff + uint64_t{i} * sizeof(Elf64_Shdr));
    if (!section || section->sh_type != SHT_SYMTAB) continue;
    const auto names = ElfAt<Elf64_Shdr>(
        file, header.e_shoff + uint64_t{section->sh_link} * sizeof(Elf64_Shdr));
    if (!names) continue;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= section->sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = ElfAt<Elf64_Sym>(file, section->sh_offset + at);
      if (!symbol) break;
      if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF) continue;
      const auto name = ElfAt<std::array<char, 5>>(file, names->sh_offset + symbol->st_name);
      if (name && std::memcmp(name->data(), "main", 5) == 0) return symbol->st_value;
    }
  }
  return 0;
}

}  // namespace

absl::StatusOr<ProgramImage> ProgramImage::Read(const std::string& path) {
  ProgramImage image;
  image.path_ = path;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    return absl::NotFoundError(
        absl::StrCat("cannot run ", path, ": it cannot be read: ", std::strerror(errno)));
  }
  std::vector<uint8_t>& file = image.bytes_;
  file.assign(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());

  auto refuse = [&](const char* what) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": ", what, "; the engine `embedded` loads a program once per node and needs a "
        "position-independent executable (-fPIC -pie) or shared object; `--engine daemons` runs any"));
  };
  const auto header = ElfAt<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return refuse("not an ELF program");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != kElfMachine) {
    return refuse("a program for another kind of processor");
  }
  if (header->e_type != ET_DYN) return refuse("not position-independent");

  uint64_t end = sizeof(Elf64_Ehdr) + uint64_t{header->e_phnum} * sizeof(Elf64_Phdr);
  bool dynamic = false;
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const auto segment = ElfAt<Elf64_Phdr>(file, header->e_phoff + uint64_t{i} * sizeof(Elf64_Phdr));
    if (!segment) return refuse("a damaged program");
    if (segment->p_offset > file.size() || segment->p_filesz > file.size() - segment->p_offset) {
      return refuse("a damaged program");
    }
    if (segment->p_type == PT_LOAD) end = std::max(end, segment->p_offset + segment->p_filesz);
    if (segment->p_type != PT_DYNAMIC) continue;
    dynamic = true;
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment->p_filesz; at += sizeof(Elf64_Dyn)) {
      auto entry = ElfAt<Elf64_Dyn>(file, segment->p_offset + at);
      if (!entry || entry->d_tag == DT_NULL) break;
      if (entry->d_tag != DT_FLAGS_1) continue;
      entry->d_un.d_val &= ~static_cast<uint64_t>(DF_1_PIE);
      std::memcpy(file.data() + segment->p_offset + at, &*entry, sizeof *entry);
    }
  }
  if (!dynamic) return refuse("a static program");
  image.main_offset_ = FindMain(file, *header);

  // What the loader does not map (debug information, section headers) is not copied.
  Elf64_Ehdr trimmed = *header;
  trimmed.e_shoff = 0;
  trimmed.e_shnum = 0;
  trimmed.e_shstrndx = 0;
  std::memcpy(file.data(), &trimmed, sizeof trimmed);
  file.resize(std::min<uint64_t>(end, file.size()));
  return image;
}

absl::StatusOr<ProgramImage::Copy> ProgramImage::Load() const {
  const int fd = memfd_create("vcm5-program", MFD_CLOEXEC);
  if (fd < 0) return absl::InternalError(absl::StrCat("memfd_create: ", std::strerror(errno)));
  size_t written = 0;
  while (written < bytes_.size()) {
    const ssize_t n = write(fd, bytes_.data() + written, bytes_.size() - written);
    if (n < 0) {
      const int error = errno;
      close(fd);
      return absl::ResourceExhaustedError(
          absl::StrCat(path_, ": no memory for a copy of the program: ", std::strerror(error)));
    }
    written += static_cast<size_t>(n);
  }
  // The loader knows a file by its path, then by device and inode. Each memfd is a file of its own;
  // the path must be, too, though descriptor numbers come again: it spells the copy's number in ways
  // to write a slash.
  static uint64_t copies = 0;
  std::string alias = "/proc/self/fd";
  for (uint64_t bits = ++copies; bits != 0; bits >>= 1) alias += (bits & 1) != 0 ? "/." : "/";
  Copy copy;
  copy.handle = dlopen(absl::StrCat(alias, "/", fd).c_str(), RTLD_NOW | RTLD_LOCAL);
  const char* error = copy.handle == nullptr ? dlerror() : nullptr;
  close(fd);
  if (copy.handle == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": cannot be loaded: ", error));
  }
  copy.main = reinterpret_cast<Main>(dlsym(copy.handle, "main"));
  if (copy.main == nullptr && main_offset_ != 0) {
    link_map* map = nullptr;
    if (dlinfo(copy.handle, RTLD_DI_LINKMAP, &map) == 0) {
      copy.main = reinterpret_cast<Main>(map->l_addr + main_offset_);
    }
  }
  if (copy.main == nullptr) {
    dlclose(copy.handle);
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ": its `main` cannot be found: link it with -rdynamic, or do not strip it"));
  }
  return copy;
}

}  // namespace vcm5
