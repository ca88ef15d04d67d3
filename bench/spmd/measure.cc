#include "bench/spmd/measure.h"

#include <memory>

#include "bench/spmd/kernel.h"

namespace vcm5::bench {
namespace {

struct Context {
  Node& node;
  Kernel& kernel;
  const ReportSample& report;
};

Context& From(void* context) { return *static_cast<Context*>(context); }

std::unique_ptr<Kernel> MakeKernel(Node& node, const Workload& workload) {
  for (const auto make : {MakePointToPoint, MakePermutation, MakeCollective}) {
    if (std::unique_ptr<Kernel> kernel = make(node, workload)) return kernel;
  }
  return nullptr;
}

}  // namespace

std::string Measure(Node& node, const Workload& workload, const ReportSample& report) {
  const std::unique_ptr<Kernel> kernel = MakeKernel(node, workload);
  if (kernel == nullptr) return "there is no such benchmark";
  Context context{node, *kernel, report};
  bench_world world;
  world.context = &context;
  world.self = node.self();
  world.barrier = [](void* c) { RegisterBarrier(&From(c).node.port()); };
  world.broadcast = [](void* c, uint64_t value) {
    From(c).node.Broadcast(0, value);
    return value;
  };
  world.run = [](void* c, uint64_t iterations) { From(c).kernel.Run(iterations); };
  world.report = [](void* c, double seconds, uint64_t iterations) {
    From(c).report(seconds, iterations);
  };
  bench_repeat(&workload.plan(), &world);
  return kernel->wrong() == nullptr ? "" : kernel->wrong();
}

std::string PassRing(Node& node) {
  constexpr uint32_t kTokenTag = 1;
  const uint32_t right = (node.self() + 1) % node.size();
  uint32_t token = 0;
  if (node.self() == 0) node.Send(right, kTokenTag, token);
  token = node.Receive().As<uint32_t>() + 1;
  if (node.self() != 0) node.Send(right, kTokenTag, token);
  node.Barrier();
  return node.self() != 0 || token == node.size() ? "" : "the token missed a node";
}

}  // namespace vcm5::bench
