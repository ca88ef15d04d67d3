#include "runtime/embedded/node_stdio.h"

#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <streambuf>
#include <string>

#include "runtime/base/check.h"

namespace vcm5 {
namespace {

constexpr size_t kLineMax = 1 << 20;  // a longer line is passed on in pieces

bool WriteAll(int fd, const char* data, size_t bytes) {
  while (bytes != 0) {
    const ssize_t n = write(fd, data, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    data += n;
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

// A C++ stream buffer that writes to whichever FILE `stream` points to now.
class CurrentStreamBuffer : public std::streambuf {
 public:
  explicit CurrentStreamBuffer(FILE** stream) : stream_(stream) {}

 protected:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    return std::putc(c, *stream_) == EOF ? traits_type::eof() : c;
  }
  std::streamsize xsputn(const char* data, std::streamsize bytes) override {
    return static_cast<std::streamsize>(
        std::fwrite(data, 1, static_cast<size_t>(bytes), *stream_));
  }
  int sync() override { return std::fflush(*stream_); }

 private:
  FILE** stream_;
};

}  // namespace

struct NodeStdio::Line {
  int fd;
  std::string label;
  std::string pending;  // label and an unfinished line
  int error = 0;        // errno of the first write that failed

  static ssize_t Write(void* cookie, const char* data, size_t bytes) {
    return static_cast<Line*>(cookie)->Put(data, bytes) ? static_cast<ssize_t>(bytes) : 0;
  }

  bool Put(const char* data, size_t bytes) {
    std::string ready;
    for (size_t at = 0; at < bytes;) {
      const void* newline = __builtin_memchr(data + at, '\n', bytes - at);
      const size_t end = newline == nullptr
                             ? bytes
                             : static_cast<size_t>(static_cast<const char*>(newline) - data) + 1;
      if (pending.empty()) pending = label;
      pending.append(data + at, end - at);
      if (newline != nullptr || pending.size() > kLineMax) {
        ready += pending;
        pending.clear();
      }
      at = end;
    }
    return Out(ready);
  }

  bool Out(const std::string& ready) {
    if (WriteAll(fd, ready.data(), ready.size())) return true;
    if (error == 0) error = errno;
    return false;
  }

  void Finish() {
    if (pending.empty()) return;
    pending += '\n';
    Out(pending);
    pending.clear();
  }
};

struct NodeStdio::Streams {
  Line out_line;
  Line err_line;
  FILE* out = nullptr;
  FILE* err = nullptr;
  FILE* in = nullptr;

  // `input`: of the process, or null.
  Streams(const std::string& prefix, FILE* input) {
    out_line = {STDOUT_FILENO, prefix, "", 0};
    err_line = {STDERR_FILENO, prefix, "", 0};
    const cookie_io_functions_t functions{nullptr, &Line::Write, nullptr, nullptr};
    out = fopencookie(&out_line, "w", functions);
    err = fopencookie(&err_line, "w", functions);
    in = input != nullptr ? input : fopencookie(nullptr, "r", {});  // empty, and no open file
    VCM5_CHECK_MSG(out != nullptr && err != nullptr && in != nullptr, "no standard streams");
    setvbuf(out, nullptr, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
    setvbuf(err, nullptr, _IONBF, 0);
    owns_in = input == nullptr;
  }
  ~Streams() {
    if (owns_in) std::fclose(in);
    std::fclose(err);
    std::fclose(out);
  }
  bool owns_in;
};

class NodeStdio::CxxStreams {
 public:
  CxxStreams()
      : out_(&stdout), err_(&stderr),
        own_out_(std::cout.rdbuf(&out_)),
        own_err_(std::cerr.rdbuf(&err_)),
        own_log_(std::clog.rdbuf(&err_)) {}
  ~CxxStreams() {
    std::cout.rdbuf(own_out_);
    std::cerr.rdbuf(own_err_);
    std::clog.rdbuf(own_log_);
  }

 private:
  CurrentStreamBuffer out_;
  CurrentStreamBuffer err_;
  std::streambuf* own_out_;
  std::streambuf* own_err_;
  std::streambuf* own_log_;
};

NodeStdio::NodeStdio(const std::vector<std::string>& labels, uint32_t reader)
    : cxx_(std::make_unique<CxxStreams>()), own_out_(stdout), own_err_(stderr), own_in_(stdin) {
  std::fflush(stdout);
  nodes_.reserve(labels.size());
  for (uint32_t node = 0; node < labels.size(); ++node) {
    nodes_.push_back(std::make_unique<Streams>(labels[node], node == reader ? own_in_ : nullptr));
  }
}

NodeStdio::~NodeStdio() {
  Leave();
  for (uint32_t node = 0; node < nodes_.size(); ++node) Finish(node);
  // The C library looks for a stream that is closed from the last one opened on.
  while (!nodes_.empty()) nodes_.pop_back();
}

void NodeStdio::Enter(uint32_t node) {
  const Streams& streams = *nodes_[node];
  stdout = streams.out;
  stderr = streams.err;
  stdin = streams.in;
}

void NodeStdio::Leave() {
  stdout = own_out_;
  stderr = own_err_;
  stdin = own_in_;
}

int NodeStdio::write_error() const {
  for (const auto& streams : nodes_) {
    if (streams->out_line.error != 0) return streams->out_line.error;
  }
  return 0;
}

void NodeStdio::Finish(uint32_t node) {
  Streams& streams = *nodes_[node];
  std::fflush(streams.out);
  streams.out_line.Finish();
  streams.err_line.Finish();
}

}  // namespace vcm5
