#include "tests/campaign/workers.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"

namespace vcm5::campaign {
namespace {

// What a worker says: that it begins a run, and what came of it. Written as a whole, so that lines
// of several workers do not mix.
struct Record {
  uint64_t run;
  uint32_t worker;
  bool ended;
  Kind kind;
  char why[300];
  Row row;
};
static_assert(sizeof(Record) <= 512, "POSIX lets less be written as a whole");

double Now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

class Pool {
 public:
  Pool(const CampaignOptions& options, const RunFunction& run)
      : options_(options), run_(run), workers_(std::max(1u, options.jobs)) {
    next_ = static_cast<std::atomic<uint64_t>*>(mmap(nullptr, sizeof *next_, PROT_READ | PROT_WRITE,
                                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    VCM5_CHECK(next_ != MAP_FAILED);
    new (next_) std::atomic<uint64_t>(1);
    VCM5_CHECK(pipe2(pipe_, O_CLOEXEC) == 0);
    for (uint32_t i = 0; i < workers_.size(); ++i) Start(i);
  }
  ~Pool() {
    for (Worker& worker : workers_) {
      if (worker.pid == 0) continue;
      kill(worker.pid, SIGKILL);
      waitpid(worker.pid, nullptr, 0);
    }
    close(pipe_[0]);
    close(pipe_[1]);
    munmap(next_, sizeof *next_);
  }

  Outcome Run(const std::function<bool(const Outcome&)>& progress) {
    while (outcome_.done < options_.runs) {
      if (Await(100)) {
        Take();
      } else {
        LookAfterWorkers();
      }
      if (!progress(outcome_)) {
        outcome_.interrupted = true;
        break;
      }
    }
    std::sort(outcome_.failures.begin(), outcome_.failures.end(),
              [](const Failure& a, const Failure& b) { return a.run < b.run; });
    return std::move(outcome_);
  }

 private:
  struct Worker {
    pid_t pid = 0;
    std::optional<uint64_t> run;
    double since = 0;
  };

  void Start(uint32_t index) {
    workers_[index].run.reset();
    const pid_t parent = getpid();
    const pid_t pid = fork();
    VCM5_CHECK_MSG(pid >= 0, "no process");
    workers_[index].pid = pid;
    if (pid != 0) return;
    signal(SIGINT, SIG_IGN);  // the owner sees to it
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent) Work(index);
    _exit(0);
  }

  // In the worker.
  void Work(uint32_t index) {
    for (;;) {
      const uint64_t run = next_->fetch_add(1, std::memory_order_relaxed);
      if (run > options_.runs) return;
      Record record{};
      record.run = run;
      record.worker = index;
      Say(record);
      const Result result = run_(options_.seed, run);
      record.ended = true;
      record.kind = result.kind;
      record.row = result.row;
      std::strncpy(record.why, result.why.c_str(), sizeof record.why - 1);
      Say(record);
    }
  }
  void Say(const Record& record) {
    if (write(pipe_[1], &record, sizeof record) != sizeof record) _exit(1);
  }

  // Whether a worker has said something.
  bool Await(int milliseconds) {
    pollfd waits = {pipe_[0], POLLIN, 0};
    return poll(&waits, 1, milliseconds) > 0;
  }

  void Take() {
    Record record;
    VCM5_CHECK(read(pipe_[0], &record, sizeof record) == sizeof record);
    Worker& worker = workers_[record.worker];
    if (!record.ended) {
      worker.run = record.run;
      worker.since = Now();
      return;
    }
    worker.run.reset();
    Note(record.run, record.kind, record.row, record.why);
  }

  // When the pipe is empty: a run of a process that has ended has ended, too.
  void LookAfterWorkers() {
    for (uint32_t i = 0; i < workers_.size(); ++i) {
      Worker& worker = workers_[i];
      if (worker.pid == 0) continue;
      const bool hangs = worker.run && Now() - worker.since > options_.watchdog_s;
      if (hangs) kill(worker.pid, SIGKILL);
      int status;
      if (waitpid(worker.pid, &status, hangs ? 0 : WNOHANG) != worker.pid) continue;
      worker.pid = 0;
      // It may have said something between our look into the pipe and its end.
      while (Await(0)) Take();
      if (!worker.run) continue;
      const uint64_t run = *worker.run;
      Row row;
      row.runs = row.failed = 1;
      row.hangs = hangs ? 1 : 0;
      Note(run, DrawScenario(options_.seed, run).kind, row,
           hangs ? absl::StrCat("hangs: no end after ", options_.watchdog_s, " s")
           : WIFSIGNALED(status)
               ? absl::StrCat("the process ended with signal ", WTERMSIG(status))
               : absl::StrCat("the process ended with status ", WEXITSTATUS(status)));
      Start(i);
    }
  }
  void Note(uint64_t run, Kind kind, const Row& row, const std::string& why) {
    ++outcome_.done;
    outcome_.table.Add(kind, row);
    if (row.failed != 0) outcome_.failures.push_back({run, kind, why});
  }

  const CampaignOptions options_;
  const RunFunction& run_;
  std::vector<Worker> workers_;
  std::atomic<uint64_t>* next_;  // run that nobody has begun, shared by all
  int pipe_[2];
  Outcome outcome_;
};

}  // namespace

Result CarryOut(uint64_t seed, uint64_t run) {
  constexpr uint64_t kTwice = 16;  // one in so many
  Result result = RunOne(DrawScenario(seed, run));
  if (run % kTwice != 0) return result;
  const Result again = RunOne(DrawScenario(seed, run));
  if (again.row == result.row && again.why == result.why) return result;
  result.row.failed = 1;
  result.why = absl::StrCat("is not the same twice; ", result.why);
  return result;
}

Outcome RunCampaign(const CampaignOptions& options, const RunFunction& run,
                    const std::function<bool(const Outcome&)>& progress) {
  return Pool(options, run).Run(progress);
}

}  // namespace vcm5::campaign
