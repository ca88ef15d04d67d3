#include "runtime/launch/output_forwarder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"

namespace vcm5 {
namespace {

using boost::asio::posix::stream_descriptor;

constexpr size_t kReadBytes = 64 << 10;
constexpr std::chrono::seconds kFloorTime{1};

bool SameFile(int a, int b) {
  struct stat first;
  struct stat second;
  return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

}  // namespace

OutputForwarder::Output::Output(boost::asio::io_context& io, int fd, OutputForwarder* owner)
    : sink(io, fd, [owner, this](OutputSink::Event event) { owner->OnSink(*this, event); }),
      floor_timer(io) {}

OutputForwarder::OutputForwarder(boost::asio::io_context& io, bool label,
                                 std::function<void()> on_change)
    : io_(io),
      label_(label),
      merged_(SameFile(STDOUT_FILENO, STDERR_FILENO)),
      on_change_(std::move(on_change)),
      outputs_{{io, STDOUT_FILENO, this}, {io, STDERR_FILENO, this}},
      buffer_(kReadBytes) {}

void OutputForwarder::Add(const std::string& name, int output, UniqueFd pipe) {
  Output& target = Target(output);
  auto stream =
      std::make_unique<Stream>(io_, target, label_ ? absl::StrCat("[", name, "] ") : std::string());
  boost::system::error_code error;
  if (target.sink.broken() || stream->pipe.assign(pipe.get(), error)) return;
  pipe.Release();
  ++open_streams_;
  streams_.push_back(std::move(stream));
  Read(*streams_.back());
}

void OutputForwarder::Say(std::string_view line) {
  OutputSink& sink = Target(kStderr).sink;
  if (sink.mid_line()) sink.Append("\n");
  sink.Append(absl::StrCat("vcm5: ", absl::string_view(line.data(), line.size()), "\n"));
}

void OutputForwarder::Read(Stream& stream) {
  if (stream.reading || stream.ended || stream.held.size() >= kLineHeldMax ||
      stream.output.sink.full()) {
    return;
  }
  stream.reading = true;
  stream.pipe.async_wait(stream_descriptor::wait_read,
                         [this, &stream](const boost::system::error_code& error) {
                           stream.reading = false;
                           if (!error && !stream.ended) OnReadable(stream);
                         });
}

void OutputForwarder::OnReadable(Stream& stream) {
  const ssize_t got = read(stream.pipe.native_handle(), buffer_.data(), buffer_.size());
  if (got > 0) {
    stream.held.append(buffer_.data(), static_cast<size_t>(got));
    Pass(stream);
  } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
    End(stream);
    return;
  }
  Read(stream);
}

void OutputForwarder::End(Stream& stream) {
  stream.ended = true;
  stream.pipe.close();
  --open_streams_;
  Pass(stream);
  on_change_();
}

// Passes on what may go now: whole lines, and the rest of a stream that has ended or is too long.
void OutputForwarder::Pass(Stream& stream) {
  Output& output = stream.output;
  if (output.floor != nullptr && output.floor != &stream) return;
  const size_t newline = stream.held.rfind('\n');
  const size_t lines = newline == std::string::npos ? 0 : newline + 1;
  const bool all = stream.ended || stream.held.size() - lines >= kLineHeldMax || stream.line_begun;
  Emit(stream, std::string_view(stream.held).substr(0, all ? std::string::npos : lines));
  stream.held.erase(0, all ? std::string::npos : lines);
  if (stream.line_begun && !stream.ended) {
    TakeFloor(stream);
  } else if (output.floor == &stream) {
    DropFloor(output);
  }
}

void OutputForwarder::Emit(Stream& stream, std::string_view bytes) {
  if (bytes.empty()) return;
  Output& output = stream.output;
  if (output.last != &stream && output.sink.mid_line()) output.sink.Append("\n");
  output.last = &stream;
  output.floor_active = true;
  if (stream.label.empty()) {
    output.sink.Append(bytes);
  } else {
    for (size_t at = 0; at < bytes.size();) {
      const size_t newline = bytes.find('\n', at);
      const size_t end = newline == std::string_view::npos ? bytes.size() : newline + 1;
      if (at != 0 || !stream.line_begun) output.sink.Append(stream.label);
      output.sink.Append(bytes.substr(at, end - at));
      at = end;
    }
  }
  stream.line_begun = bytes.back() != '\n';
}

void OutputForwarder::TakeFloor(Stream& stream) {
  Output& output = stream.output;
  if (std::exchange(output.floor, &stream) != &stream) WatchFloor(output);
}

void OutputForwarder::WatchFloor(Output& output) {
  output.floor_active = false;
  output.floor_timer.expires_after(kFloorTime);
  output.floor_timer.async_wait([this, &output](const boost::system::error_code& error) {
    if (error || output.floor == nullptr) return;
    if (output.floor_active || output.sink.full()) {
      WatchFloor(output);
    } else {
      DropFloor(output);
    }
  });
}

void OutputForwarder::DropFloor(Output& output) {
  output.floor = nullptr;
  output.floor_timer.cancel();
  for (const auto& stream : streams_) {
    if (&stream->output != &output || stream->held.empty()) continue;
    Pass(*stream);
    Read(*stream);
  }
}

void OutputForwarder::OnSink(Output& output, OutputSink::Event event) {
  if (event == OutputSink::Event::kEmpty) {
    on_change_();
    return;
  }
  for (const auto& stream : streams_) {
    if (&stream->output != &output || stream->ended) continue;
    if (event == OutputSink::Event::kBroken) {
      End(*stream);
    } else {
      Read(*stream);
    }
  }
  on_change_();
}

}  // namespace vcm5
