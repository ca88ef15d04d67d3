// One of the launcher's own outputs (standard output or error), as the job writes to it: a bounded
// buffer that is emptied when the other side takes something. Nothing here blocks the launcher on
// a slow pipe or terminal; files are written at once.
#ifndef VCM5_RUNTIME_LAUNCH_OUTPUT_SINK_H_
#define VCM5_RUNTIME_LAUNCH_OUTPUT_SINK_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "runtime/launch/unique_fd.h"

namespace vcm5 {

class OutputSink {
 public:
  enum class Event {
    kRoom,    // a full sink has room again
    kEmpty,   // everything is written
    kBroken,  // its reader is gone, or it cannot be written
  };

  // `fd` stays the caller's. Events are not told from within Append.
  OutputSink(boost::asio::io_context& io, int fd, std::function<void(Event)> on_event);

  // Takes all of `bytes`, also when full; whoever can should stop before that.
  void Append(std::string_view bytes);

  bool full() const { return buffer_.size() - begin_ >= kFullBytes; }
  bool empty() const { return buffer_.size() == begin_; }
  bool broken() const { return broken_; }
  int error() const { return error_; }  // why: an errno
  // The last byte given to Append was no newline.
  bool mid_line() const { return mid_line_; }

 private:
  static constexpr size_t kFullBytes = 256 << 10;

  void WriteSoon();
  void Write();

  boost::asio::io_context& io_;
  const int fd_;
  // A description of our own for the same pipe or terminal, which may be non-blocking: the one that
  // we inherited belongs to others too. Not open for anything else.
  boost::asio::posix::stream_descriptor own_;
  std::function<void(Event)> on_event_;
  std::string buffer_;  // [begin_, end) is not yet written
  size_t begin_ = 0;
  bool scheduled_ = false;
  bool broken_ = false;
  int error_ = 0;
  bool mid_line_ = false;
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_LAUNCH_OUTPUT_SINK_H_
