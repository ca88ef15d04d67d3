// A `vcm5 run` under test: started, watched, killed in parts, and looked after when it is gone.
//
// The test process is the subreaper of everything below it, so that what a job leaves behind
// becomes its child and can be waited for, instead of being looked for.
#ifndef VCM5_TESTS_PROCESS_JOB_PROCESS_H_
#define VCM5_TESTS_PROCESS_JOB_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace vcm5 {

class JobProcess {
 public:
  struct Options {
    std::string input;            // standard input, if not empty; else /dev/null
    bool close_stdout = false;    // nobody reads standard output
    std::vector<std::string> environment;  // "NAME=value"
  };

  // Runs the built vcm5 with these arguments; "@probe" stands for the probe program.
  explicit JobProcess(std::vector<std::string> arguments) : JobProcess(arguments, Options()) {}
  JobProcess(const std::vector<std::string>& arguments, const Options& options);
  ~JobProcess();  // kills what is left

  pid_t pid() const { return pid_; }

  // Reads until standard output holds `lines` lines, or its end, or 10 s.
  void WaitForLines(size_t lines);

  // Reads until standard output holds `text`; false at its end, or after 10 s.
  bool WaitForText(const std::string& text);
  // The same of standard error.
  bool WaitForError(const std::string& text);

  // Processes below the launcher whose name begins with `name`; those of any name for "".
  std::vector<pid_t> Children(const std::string& name) const;

  // Waits for the launcher, and reads all that it prints; then for every process that it has left.
  // False, with failures recorded, if that takes longer than `limit`.
  bool Finish(std::chrono::milliseconds limit = std::chrono::seconds(10));

  // After Finish.
  int status() const { return status_; }  // as a shell shows it
  const std::string& out() const { return out_; }
  const std::string& err() const { return err_; }
  std::chrono::milliseconds took() const { return took_; }
  // Processes that were still there when the launcher was gone; they have ended since.
  int left_behind() const { return left_behind_; }

 private:
  using Clock = std::chrono::steady_clock;

  // Reads what there is, waiting for some until `deadline`. False at the end of everything.
  bool ReadSome(Clock::time_point deadline);
  bool WaitForOrphans(Clock::time_point deadline);

  pid_t pid_ = -1;
  int pidfd_ = -1;
  int out_fd_ = -1;
  int err_fd_ = -1;
  int in_fd_ = -1;
  std::string input_;
  std::string out_;
  std::string err_;
  int status_ = -1;
  int left_behind_ = 0;
  std::chrono::milliseconds took_{0};
};

// Lines of a text, without newlines; a last line without one counts.
std::vector<std::string> Lines(const std::string& text);

// A few instructions, `count` times: a seeded delay that is no sleep.
void Spin(uint32_t count);

}  // namespace vcm5

#endif  // VCM5_TESTS_PROCESS_JOB_PROCESS_H_
