// Standard output, error and input of the nodes of an embedded machine: each node has streams of its
// own, lines of different nodes do not mix, and a label can be put before each.
//
// The C library's `stdout`, `stderr` and `stdin` are variables; the scheduler points them at the
// streams of the node whose turn it is. C++ streams write through them.
#ifndef VCM5_RUNTIME_EMBEDDED_NODE_STDIO_H_
#define VCM5_RUNTIME_EMBEDDED_NODE_STDIO_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace vcm5 {

// One a process: it redirects the process's standard streams while it lives.
class NodeStdio {
 public:
  // What each node's lines begin with; `reader` gets the process's input.
  NodeStdio(const std::vector<std::string>& labels, uint32_t reader);
  ~NodeStdio();
  NodeStdio(const NodeStdio&) = delete;
  NodeStdio& operator=(const NodeStdio&) = delete;

  void Enter(uint32_t node);  // its turn begins
  void Leave();               // and ends: the process's own streams again

  // Writes out what a node has written; an unfinished last line gets its newline.
  void Finish(uint32_t node);

  // Why standard output could not be written: an errno, or 0.
  int write_error() const;

 private:
  struct Line;    // gathers one stream's bytes into whole lines
  struct Streams;
  class CxxStreams;
  std::vector<std::unique_ptr<Streams>> nodes_;
  std::unique_ptr<CxxStreams> cxx_;
  FILE* own_out_;
  FILE* own_err_;
  FILE* own_in_;
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_EMBEDDED_NODE_STDIO_H_
