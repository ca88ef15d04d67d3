// What is being measured, on standard error, once that has taken more than a second: one line that
// rewrites itself on a terminal, elsewhere a line now and then.
#ifndef VCM5_BENCH_PROGRESS_H_
#define VCM5_BENCH_PROGRESS_H_

#include <string>

namespace vcm5::bench {

class Progress {
 public:
  Progress();
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Say(const std::string& what);
  // Makes room for output.
  void Clear();

 private:
  const bool terminal_;
  double next_;  // when to speak, in seconds of bench_now()
  bool shown_ = false;
};

}  // namespace vcm5::bench

#endif  // VCM5_BENCH_PROGRESS_H_
