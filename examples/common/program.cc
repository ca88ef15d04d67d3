#include "examples/common/program.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

namespace examples {
namespace {

// From argv[0]: the C library's own idea is that of the process, which may be the whole machine.
std::string program_name = "program";

// Everybody waits until node 0 has spoken, for the first node that ends may end the job.
[[noreturn]] void End(vcm5::Node& node, int status, std::FILE* stream, const std::string& text) {
  if (node.self() == 0) {
    std::fputs(text.c_str(), stream);
    std::fflush(stream);
  }
  node.Barrier();
  std::exit(status);
}

std::string ReadAll(std::FILE* file) {
  std::string text;
  char part[1 << 16];
  while (const size_t bytes = std::fread(part, 1, sizeof part, file)) text.append(part, bytes);
  return text;
}

}  // namespace

void Fail(vcm5::Node& node, const std::string& why) {
  End(node, 2, stderr, program_name + ": " + why + "\n");
}

void ParseCommandLine(vcm5::Node& node, CLI::App& app, int argc, char** argv) {
  if (argc > 0) program_name = argv[0];
  program_name.erase(0, program_name.rfind('/') + 1);
  app.name(program_name);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    End(node, 0, stdout, app.help());
  } catch (const CLI::ParseError& error) {
    Fail(node, std::string(error.what()) + " (--help shows the options)");
  }
}

std::string ReadOnNodeZero(vcm5::Node& node, const std::string& path) {
  std::string text;
  std::string wrong;
  if (node.self() == 0) {
    std::FILE* file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
    if (file != nullptr) {
      errno = 0;
      text = ReadAll(file);
      if (std::ferror(file) != 0) wrong = std::strerror(errno);
      if (file != stdin) std::fclose(file);
    } else {
      wrong = std::strerror(errno);
    }
  }
  if (node.SyncOr(!wrong.empty())) Fail(node, "cannot read " + path + ": " + wrong);
  return text;
}

std::string DealOut(vcm5::Node& node, std::string_view whole,
                    const std::function<bool(char)>& ends) {
  // Where each part begins, and the end of the last.
  std::vector<uint64_t> begins(node.size() + 1);
  if (node.self() == 0) {
    for (uint32_t i = 1; i < node.size(); ++i) {
      uint64_t at = std::max<uint64_t>(begins[i - 1], whole.size() * i / node.size());
      while (at > 0 && at < whole.size() && !ends(whole[at - 1])) ++at;
      begins[i] = at;
    }
    begins[node.size()] = whole.size();
  }
  node.Broadcast(0, std::span(begins));

  std::string part(begins[node.self() + 1] - begins[node.self()], '\0');
  const vcm5::BufferId buffer = node.RegisterBuffer(std::span(part));
  if (node.self() == 0) {
    for (uint32_t i = 0; i < node.size(); ++i) {
      const std::string_view text = whole.substr(begins[i], begins[i + 1] - begins[i]);
      node.Put(i, buffer, 0, std::span(text));
    }
  }
  node.PollUntil([&] { return node.BytesReceived(buffer) == part.size(); });
  // The string moves when it is returned; nobody puts into it any more.
  node.MoveBuffer(buffer, std::span<std::byte>());
  return part;
}

std::string Gather(vcm5::Node& node, std::string_view part) {
  const uint64_t offset = node.ScanForward(vcm5::kAdd, uint64_t{part.size()});
  const uint64_t total = node.Reduce(vcm5::kAdd, uint64_t{part.size()});
  std::string whole(node.self() == 0 ? total : 0, '\0');
  const vcm5::BufferId buffer = node.RegisterBuffer(std::span(whole));
  node.Put(0, buffer, offset, std::span(part));
  node.PollUntil([&] { return node.BytesReceived(buffer) == whole.size(); });
  node.MoveBuffer(buffer, std::span<std::byte>());
  return whole;
}

void PrintOnNodeZero(vcm5::Node& node, std::string_view text) {
  if (node.self() != 0) return;
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace examples
