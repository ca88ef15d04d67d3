#include "runtime/launch/output_sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"

namespace vcm5 {
namespace {

int OpenAgain(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0 || !(S_ISFIFO(status.st_mode) || isatty(fd))) return -1;
  const std::string path = absl::StrCat("/proc/self/fd/", fd);
  return open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

}  // namespace

OutputSink::OutputSink(boost::asio::io_context& io, int fd, std::function<void(Event)> on_event)
    : io_(io), fd_(fd), own_(io), on_event_(std::move(on_event)) {
  UniqueFd again(OpenAgain(fd));
  boost::system::error_code error;
  if (again.get() >= 0 && !own_.assign(again.get(), error)) again.Release();
}

void OutputSink::Append(std::string_view bytes) {
  if (broken_ || bytes.empty()) return;
  buffer_.append(bytes);
  mid_line_ = bytes.back() != '\n';
  WriteSoon();
}

// Not at once: what many nodes print in one turn of the loop goes out in one call.
void OutputSink::WriteSoon() {
  if (std::exchange(scheduled_, true)) return;
  boost::asio::post(io_, [this] {
    scheduled_ = false;
    Write();
  });
}

void OutputSink::Write() {
  const bool was_full = full();
  while (!empty()) {
    const int fd = own_.is_open() ? own_.native_handle() : fd_;
    const ssize_t written = write(fd, buffer_.data() + begin_, buffer_.size() - begin_);
    if (written >= 0) {
      begin_ += static_cast<size_t>(written);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN && own_.is_open()) {
      scheduled_ = true;
      own_.async_wait(boost::asio::posix::stream_descriptor::wait_write,
                      [this](const boost::system::error_code& error) {
                        scheduled_ = false;
                        if (!error) Write();
                      });
      break;
    }
    // Nobody reads any more, or the disk is full.
    broken_ = true;
    error_ = errno;
    buffer_.clear();
    begin_ = 0;
    on_event_(Event::kBroken);
    return;
  }
  buffer_.erase(0, begin_);
  begin_ = 0;
  if (was_full && !full()) on_event_(Event::kRoom);
  if (empty()) on_event_(Event::kEmpty);
}

}  // namespace vcm5
