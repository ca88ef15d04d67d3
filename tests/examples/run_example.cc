#include "tests/examples/run_example.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <string>

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace vcm5 {
namespace {

std::string TemporaryPath(const std::string& name) {
  // Gone when the test program ends.
  static struct Files {
    std::set<std::string> paths;
    ~Files() {
      for (const std::string& path : paths) unlink(path.c_str());
    }
  } files;
  return *files.paths.insert(testing::TempDir() + "vcm5-" + std::to_string(getpid()) + "-" + name)
              .first;
}

void Redirect(const std::string& path, int flags, int fd) {
  const int opened = open(path.c_str(), flags, 0600);
  if (opened < 0 || dup2(opened, fd) < 0) _exit(127);
  close(opened);
}

}  // namespace

std::string NameOf(const testing::TestParamInfo<MachineChoice>& info) {
  return std::string(info.param.engine) + std::to_string(info.param.nodes);
}

Outcome RunExample(const MachineChoice& machine, const std::string& example,
                   const std::vector<std::string>& arguments, const std::string& input,
                   const std::vector<std::string>& options) {
  std::vector<std::string> command = {VCM5_BINARY_DIR "/bin/vcm5",
                                      "run",
                                      "-n",
                                      std::to_string(machine.nodes),
                                      "--engine",
                                      machine.engine,
                                      "--timeout",
                                      "60"};
  command.insert(command.end(), options.begin(), options.end());
  command.push_back(VCM5_BINARY_DIR "/examples/" + example);
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);

  const std::string in = WriteTemporary("in", input);
  const std::string out = TemporaryPath("out");
  const std::string err = TemporaryPath("err");
  const pid_t child = fork();
  if (child == 0) {
    Redirect(in, O_RDONLY, STDIN_FILENO);
    Redirect(out, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    Redirect(err, O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), ReadFile(out),
                  ReadFile(err)};
  for (const std::string& path : {in, out, err}) unlink(path.c_str());
  return outcome;
}

std::string DataPath(const std::string& name) { return VCM5_SOURCE_DIR "/examples/data/" + name; }

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

std::string WriteTemporary(const std::string& name, const std::string& content) {
  const std::string path = TemporaryPath(name);
  std::ofstream file(path, std::ios::binary);
  file << content;
  return path;
}

}  // namespace vcm5
