// What can be told of a node program before it is broadcast, of files made for it.
#include "runtime/launch/node_program.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/process/temporary_file.h"

namespace vcm5 {
namespace {

using ::testing::HasSubstr;

// A program of one loaded segment, the first `mapped` bytes, and `symbols` bytes that are not mapped.
std::string Elf(uint64_t mapped, size_t symbols = 0) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_type = ET_DYN;
#if defined(__aarch64__)
  header.e_machine = EM_AARCH64;
#else
  header.e_machine = EM_X86_64;
#endif
  header.e_phoff = sizeof header;
  header.e_phnum = 1;
  header.e_shoff = mapped;
  header.e_shnum = 3;
  Elf64_Phdr load{};
  load.p_type = PT_LOAD;
  load.p_filesz = mapped;
  std::string file(mapped + symbols, 'x');
  std::memcpy(file.data(), &header, sizeof header);
  std::memcpy(file.data() + sizeof header, &load, sizeof load);
  return file;
}

std::string WrongWith(const std::string& text) {
  const TemporaryFile file(text, 0700);
  return std::string(ReadNodeProgram(file.path()).status().message());
}

TEST(NodeProgram, GoesWithoutWhatIsNotMapped) {
  const TemporaryFile file(Elf(500, 3000), 0700);
  const auto program = ReadNodeProgram(file.path());
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->size(), 500u);
  Elf64_Ehdr header;
  std::memcpy(&header, program->data(), sizeof header);
  EXPECT_EQ(header.e_shoff, 0u);
  EXPECT_EQ(header.e_shnum, 0u);
}

TEST(NodeProgram, MustBeWhole) {
  EXPECT_THAT(WrongWith(Elf(500).substr(0, 499)), HasSubstr("it is a damaged program"));
  EXPECT_THAT(WrongWith(Elf(500).substr(0, sizeof(Elf64_Ehdr) + 3)), HasSubstr("a damaged program"));
  EXPECT_THAT(WrongWith(Elf(500).substr(0, 20)), HasSubstr("no program for this system"));
  std::string other = Elf(500);
  other[EI_CLASS] = ELFCLASS32;
  EXPECT_THAT(WrongWith(other), HasSubstr("no program for this system"));
}

TEST(NodeProgram, MayNotBeTooLong) {
  const TemporaryFile file(Elf(200), 0700);
  const std::string path = file.path();
  constexpr off_t kMapped = (off_t{64} << 20) + 1;
  Elf64_Phdr load{};
  load.p_type = PT_LOAD;
  load.p_filesz = kMapped;
  FILE* program = std::fopen(path.c_str(), "r+");
  ASSERT_NE(program, nullptr);
  std::fseek(program, sizeof(Elf64_Ehdr), SEEK_SET);
  std::fwrite(&load, sizeof load, 1, program);
  std::fclose(program);
  ASSERT_EQ(truncate(path.c_str(), kMapped), 0);
  EXPECT_THAT(std::string(ReadNodeProgram(path).status().message()),
              HasSubstr("it has 67108865 bytes without its symbols; expected at most 67108864"));
}

TEST(NodeProgram, ScriptsAreForHostsOnly) {
  const TemporaryFile script("#!/bin/sh\n", 0700);
  EXPECT_THAT(std::string(ReadNodeProgram(script.path()).status().message()),
              HasSubstr("it is a script"));
  EXPECT_TRUE(CheckHostProgram(script.path()).ok());
  const TemporaryFile text("hello\n", 0700);
  EXPECT_THAT(std::string(CheckHostProgram(text.path()).message()),
              HasSubstr("it is no program for this system"));
}

// Of a program with a dynamic section whose string table begins with these two texts.
std::string WithLibraries(const std::string& needed, const std::string& run_path) {
  constexpr size_t kDynamic = 300;
  constexpr size_t kStrings = 400;
  std::string file = Elf(600);
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  header.e_phnum = 2;
  std::memcpy(file.data(), &header, sizeof header);
  const Elf64_Dyn entries[] = {{DT_NEEDED, {1}},
                               {DT_RUNPATH, {needed.size() + 2}},
                               {DT_STRTAB, {kStrings}},
                               {DT_NULL, {0}}};
  Elf64_Phdr dynamic{};
  dynamic.p_type = PT_DYNAMIC;
  dynamic.p_offset = kDynamic;
  dynamic.p_filesz = sizeof entries;
  std::memcpy(file.data() + sizeof header + sizeof dynamic, &dynamic, sizeof dynamic);
  std::memcpy(file.data() + kDynamic, entries, sizeof entries);
  const std::string strings = '\0' + needed + '\0' + run_path + '\0';
  file.replace(kStrings, strings.size(), strings);
  return file;
}

TEST(NodeProgram, LooksForLibrariesAtAbsolutePathsOnly) {
  EXPECT_EQ(WrongWith(WithLibraries("libm.so.6", "/opt/lib:/usr/lib")), "");
  EXPECT_EQ(WrongWith(WithLibraries("/opt/lib/libx.so", "")), "");
  EXPECT_THAT(WrongWith(WithLibraries("libm.so.6", "/opt/lib:$ORIGIN/../lib")),
              HasSubstr("shared libraries at `/opt/lib:$ORIGIN/../lib`"));
  EXPECT_THAT(WrongWith(WithLibraries("libm.so.6", "lib")), HasSubstr("shared libraries at `lib`"));
  EXPECT_THAT(WrongWith(WithLibraries("./libx.so", "")), HasSubstr("shared libraries at `./libx.so`"));
}

TEST(NodeProgram, ProgramsOfThisSystemAreThemselves) {
  const auto self = ReadNodeProgram("/proc/self/exe");
  EXPECT_TRUE(self.ok()) << self.status();
}

}  // namespace
}  // namespace vcm5
