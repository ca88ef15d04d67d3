#include "bench/bench.h"

#include <cstdio>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "bench/options.h"
#include "bench/session.h"
#include "runtime/launch/run_options.h"

namespace vcm5 {

int BenchMain(int argc, char** argv) {
  const std::variant<bench::Options, int> read = bench::ReadCommandLine(argc, argv);
  if (const int* status = std::get_if<int>(&read)) return *status;
  const absl::Status status = bench::RunSession(std::get<bench::Options>(read));
  if (status.ok()) return 0;
  std::fprintf(stderr, "vcm5: bench: %s\n", std::string(status.message()).c_str());
  return absl::IsInvalidArgument(status) ? kExitUsage : kExitFailure;
}

}  // namespace vcm5
