#include "tests/process/job_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

constexpr std::chrono::seconds kPatience{kSanitized ? 50 : 10};

int MillisecondsUntil(std::chrono::steady_clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::max<int64_t>(0, left.count() + 1));
}

// Once: adopts orphans, and keeps SIGCHLD for sigtimedwait.
void PrepareTestProcess() {
  static const bool done = [] {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, nullptr);
    signal(SIGPIPE, SIG_IGN);
    return true;
  }();
  static_cast<void>(done);
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// What /proc lists as children of a process with one thread.
std::vector<pid_t> ChildrenOf(pid_t pid) {
  const std::string id = std::to_string(pid);
  std::stringstream list(ReadFile("/proc/" + id + "/task/" + id + "/children"));
  std::vector<pid_t> children;
  pid_t child;
  while (list >> child) children.push_back(child);
  return children;
}

// For a failure: what a process and its children are and do.
std::string DescribeTree(pid_t pid) {
  std::string text;
  std::vector<pid_t> list = ChildrenOf(pid);
  list.insert(list.begin(), pid);
  for (const pid_t each : list) {
    const std::string proc = "/proc/" + std::to_string(each);
    text += "\n  " + ReadFile(proc + "/stat").substr(0, 60) + " in " + ReadFile(proc + "/wchan");
  }
  return text;
}

void KillOwnChildren() {
  for (const pid_t child : ChildrenOf(getpid())) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

void Take(int* fd, std::string* text) {
  char buffer[16 << 10];
  const ssize_t got = read(*fd, buffer, sizeof buffer);
  if (got > 0) {
    text->append(buffer, static_cast<size_t>(got));
  } else if (got == 0 || errno != EINTR) {
    close(*fd);
    *fd = -1;
  }
}

}  // namespace

JobProcess::JobProcess(const std::vector<std::string>& arguments, const Options& options)
    : input_(options.input) {
  PrepareTestProcess();
  int out[2];
  int err[2];
  int in[2] = {-1, -1};
  EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
  EXPECT_EQ(pipe2(err, O_CLOEXEC), 0);
  if (!input_.empty()) {
    EXPECT_EQ(pipe2(in, O_CLOEXEC), 0);
  }
  std::vector<std::string> words = {VCM5_PROGRAM};
  for (const std::string& argument : arguments) {
    words.push_back(argument == "@probe" ? VCM5_PROBE : argument);
  }
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    dup2(in[0] >= 0 ? in[0] : open("/dev/null", O_RDONLY), 0);
    dup2(out[1], 1);
    dup2(err[1], 2);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    signal(SIGPIPE, SIG_DFL);
    for (const std::string& variable : options.environment) putenv(const_cast<char*>(variable.c_str()));
    execv(argv[0], argv.data());
    _exit(127);
  }
  pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  close(out[1]);
  close(err[1]);
  out_fd_ = out[0];
  err_fd_ = err[0];
  if (options.close_stdout) {
    close(out_fd_);
    out_fd_ = -1;
  }
  if (in[0] >= 0) {
    close(in[0]);
    in_fd_ = in[1];
    fcntl(in_fd_, F_SETFL, O_NONBLOCK);
  }
}

JobProcess::~JobProcess() {
  if (status_ < 0) {
    kill(pid_, SIGKILL);
    Finish();
  }
  for (const int fd : {pidfd_, out_fd_, err_fd_, in_fd_}) {
    if (fd >= 0) close(fd);
  }
}

bool JobProcess::ReadSome(Clock::time_point deadline) {
  if (out_fd_ < 0 && err_fd_ < 0) return false;
  // poll ignores negative descriptors.
  pollfd entries[] = {{out_fd_, POLLIN, 0}, {err_fd_, POLLIN, 0}, {in_fd_, POLLOUT, 0}};
  if (poll(entries, 3, MillisecondsUntil(deadline)) <= 0) return Clock::now() < deadline;
  if (entries[0].revents != 0) Take(&out_fd_, &out_);
  if (entries[1].revents != 0) Take(&err_fd_, &err_);
  if (entries[2].revents != 0) {
    const ssize_t sent = write(in_fd_, input_.data(), input_.size());
    if (sent > 0) input_.erase(0, static_cast<size_t>(sent));
    if (input_.empty() || (sent < 0 && errno != EAGAIN)) {
      close(in_fd_);
      in_fd_ = -1;
    }
  }
  return true;
}

void JobProcess::WaitForLines(size_t lines) {
  const auto deadline = Clock::now() + kPatience;
  while (static_cast<size_t>(std::count(out_.begin(), out_.end(), '\n')) < lines &&
         out_fd_ >= 0 && ReadSome(deadline)) {
  }
}

bool JobProcess::WaitForText(const std::string& text) {
  const auto deadline = Clock::now() + kPatience;
  while (out_.find(text) == std::string::npos) {
    if (out_fd_ < 0 || !ReadSome(deadline)) return false;
  }
  return true;
}

bool JobProcess::WaitForError(const std::string& text) {
  const auto deadline = Clock::now() + kPatience;
  while (err_.find(text) == std::string::npos) {
    if (err_fd_ < 0 || !ReadSome(deadline)) return false;
  }
  return true;
}

std::vector<pid_t> JobProcess::Children(const std::string& name) const {
  std::vector<pid_t> children = ChildrenOf(pid_);
  std::erase_if(children, [&](pid_t child) {
    return ReadFile("/proc/" + std::to_string(child) + "/comm").rfind(name, 0) != 0;
  });
  return children;
}

bool JobProcess::Finish(std::chrono::milliseconds limit) {
  // Programs are several times as large and as slow; a host's are broadcast.
  if (kSanitized) limit *= 5;
  const auto begin = Clock::now();
  const auto deadline = begin + limit;
  bool in_time = true;
  while (ReadSome(deadline)) {
  }
  pollfd ended{pidfd_, POLLIN, 0};
  in_time = poll(&ended, 1, MillisecondsUntil(deadline)) == 1;
  EXPECT_TRUE(in_time) << "the launcher still runs:" << DescribeTree(pid_) << "\n" << out_ << err_;
  if (!in_time) kill(pid_, SIGKILL);
  int status = 0;
  waitpid(pid_, &status, 0);
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  in_time = WaitForOrphans(std::max(deadline, Clock::now() + std::chrono::seconds(1))) && in_time;
  took_ = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
  return in_time;
}

bool JobProcess::WaitForOrphans(Clock::time_point deadline) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  for (;;) {
    const pid_t ended = waitpid(-1, nullptr, WNOHANG);
    if (ended > 0) {
      ++left_behind_;
      continue;
    }
    if (ended < 0) return true;  // there is no child any more
    const int left = MillisecondsUntil(deadline);
    const timespec wait{left / 1000, (left % 1000) * 1000000L};
    if (sigtimedwait(&child, nullptr, &wait) < 0 && errno == EAGAIN && Clock::now() >= deadline) {
      ADD_FAILURE() << "processes are left behind";
      KillOwnChildren();  // the next test shall not find them
      return false;
    }
  }
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::stringstream stream(text);
  std::string line;
  while (std::getline(stream, line)) lines.push_back(line);
  return lines;
}

void Spin(uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) __asm__ volatile("" ::: "memory");
}

}  // namespace vcm5
