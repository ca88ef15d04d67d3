#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "bench/plan.h"
#include "bench/sampler.h"
#include "bench/spmd/measure.h"
#include "bench/spmd/workload.h"
#include "runtime/engines/embedded.h"
#include "vcm5/node.hpp"

namespace vcm5::bench {
namespace {

class EmbeddedSampler final : public Sampler {
 public:
  explicit EmbeddedSampler(const Options& options) : options_(options) {}

  absl::Status Run(const Case& what, uint32_t repetitions,
                   const std::function<void(double)>& on_value) override {
    const Workload workload(MakePlan(options_, what, repetitions), what.nodes);
    EmbeddedOptions embedded;
    embedded.spec.nodes = what.nodes;
    embedded.spec.seed = options_.seed;
    embedded.seed = options_.seed;
    embedded.threads = ThreadsFor(options_, *what.benchmark);
    Embedded engine(std::move(embedded));
    std::mutex mutex;
    std::string wrong;
    const ReportSample report = [&](double seconds, uint64_t iterations) {
      on_value(ValueOf(what, seconds, iterations));
    };
    const absl::Status status = engine.Run([&](vcm5_port& port) {
      Node node(port);
      const std::string complaint = Measure(node, workload, report);
      if (complaint.empty()) return;
      const std::lock_guard<std::mutex> lock(mutex);
      wrong = absl::StrCat("node ", node.self(), ": ", complaint);
    });
    if (!status.ok()) return status;
    return wrong.empty() ? absl::OkStatus() : absl::InternalError(wrong);
  }

 private:
  const Options& options_;
};

}  // namespace

std::unique_ptr<Sampler> MakeEmbeddedSampler(const Options& options) {
  return std::make_unique<EmbeddedSampler>(options);
}

}  // namespace vcm5::bench
