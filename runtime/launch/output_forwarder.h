// What the nodes print, on its way to the launcher's own standard output and error: whole lines,
// never one inside another.
//
// A stream is one output of one node. Its bytes wait here until their line is complete. A line
// that grows longer than kLineHeldMax is passed on in pieces; its stream then has the floor of the
// sink, and the others wait for the end of the line. A stream that has the floor and prints nothing
// for a while loses it (a newline is put in), so that no node can silence the others.
//
// Memory is bounded: a stream that holds enough, or whose sink is full, is not read.
#ifndef VCM5_RUNTIME_LAUNCH_OUTPUT_FORWARDER_H_
#define VCM5_RUNTIME_LAUNCH_OUTPUT_FORWARDER_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/launch/output_sink.h"
#include "runtime/launch/unique_fd.h"

namespace vcm5 {

class OutputForwarder {
 public:
  static constexpr int kStdout = 0;
  static constexpr int kStderr = 1;

  // `on_change` is called when drained() may have become true.
  OutputForwarder(boost::asio::io_context& io, bool label, std::function<void()> on_change);

  // Forwards what comes out of `pipe`, the read end of an output of node `name`, until its end.
  void Add(const std::string& name, int output, UniqueFd pipe);

  // A line of our own, without its newline, on standard error.
  void Say(std::string_view line);

  // Every stream has ended and everything is written.
  bool drained() const { return open_streams_ == 0 && flushed(); }
  bool flushed() const { return outputs_[0].sink.empty() && outputs_[1].sink.empty(); }
  // Standard output's reader has gone: nodes die of SIGPIPE, as they would without us.
  bool broken() const { return outputs_[kStdout].sink.broken(); }
  // Why standard output could not be written, if not for want of a reader: an errno, or 0.
  int write_error() const {
    const int error = outputs_[kStdout].sink.error();
    return error == EPIPE ? 0 : error;
  }

 private:
  struct Output;
  struct Stream {
    Stream(boost::asio::io_context& io, Output& target, std::string prefix)
        : output(target), pipe(io), label(std::move(prefix)) {}
    Output& output;
    boost::asio::posix::stream_descriptor pipe;
    const std::string label;
    std::string held;  // not yet passed on
    bool line_begun = false;  // a piece of its line has been passed on
    bool reading = false;
    bool ended = false;
  };

  struct Output {
    Output(boost::asio::io_context& io, int fd, OutputForwarder* owner);
    OutputSink sink;
    Stream* floor = nullptr;
    Stream* last = nullptr;  // who wrote last
    boost::asio::steady_timer floor_timer;
    bool floor_active = false;  // its stream has written since the timer was set
  };

  static constexpr size_t kLineHeldMax = 64 << 10;

  Output& Target(int output) { return outputs_[merged_ ? kStdout : output]; }
  void Read(Stream& stream);
  void OnReadable(Stream& stream);
  void End(Stream& stream);
  void Pass(Stream& stream);
  void Emit(Stream& stream, std::string_view bytes);
  void TakeFloor(Stream& stream);
  void WatchFloor(Output& output);
  void DropFloor(Output& output);
  void OnSink(Output& output, OutputSink::Event event);

  boost::asio::io_context& io_;
  const bool label_;
  // Standard output and error are one file (2>&1): then one sink, for a line's sake.
  const bool merged_;
  std::function<void()> on_change_;
  Output outputs_[2];
  std::vector<std::unique_ptr<Stream>> streams_;
  size_t open_streams_ = 0;
  std::vector<char> buffer_;
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_LAUNCH_OUTPUT_FORWARDER_H_
