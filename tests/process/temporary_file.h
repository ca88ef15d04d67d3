// A file of a test's own, gone with it.
#ifndef VCM5_TESTS_PROCESS_TEMPORARY_FILE_H_
#define VCM5_TESTS_PROCESS_TEMPORARY_FILE_H_

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace vcm5 {

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text, mode_t mode = 0600) {
    char name[] = "/tmp/vcm5-test-XXXXXX";
    const int fd = mkstemp(name);
    EXPECT_GE(fd, 0);
    close(fd);
    path_ = name;
    std::ofstream(path_) << text;
    chmod(path_.c_str(), mode);
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace vcm5

#endif  // VCM5_TESTS_PROCESS_TEMPORARY_FILE_H_
