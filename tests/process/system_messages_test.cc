// Messages of the system between partitions through real data daemons (NI8, NI9): the test is the
// launcher, and supervises both.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "daemons/config/control_channel.h"
#include "daemons/config/control_plane.pb.h"
#include "daemons/driver/doorbell.h"
#include "runtime/launch/job_fabric.h"
#include "runtime/launch/spawn.h"
#include "runtime/launch/unique_fd.h"

namespace vcm5 {
namespace {

// A data daemon that is ready, until the end of the test.
class DataDaemon {
 public:
  DataDaemon(const Spawner& spawner, const JobFabric& fabric, uint32_t index) {
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return;
    const UniqueFd theirs(sockets[1]);
    channel_.emplace(sockets[0]);
    const absl::StatusOr<pid_t> pid = spawner.Spawn(
        {.path = VCM5_DATAD,
         .arguments = {"vcm5-datad", "--control=3", absl::StrCat("--launcher=", getpid())},
         .variables = {},
         .descriptors = {STDERR_FILENO, STDERR_FILENO, STDERR_FILENO, theirs.get()}});
    if (!pid.ok()) return;
    pid_ = *pid;
    if (!fabric.Configure(index, *channel_).ok()) return;
    while (channel_->pending() && channel_->Flush().ok()) sched_yield();
    for (;;) {
      const std::optional<config::FromDaemon> message = Receive();
      if (!message.has_value() || message->has_failed()) return;
      ready_ = message->has_ready();
      if (ready_) return;
    }
  }
  ~DataDaemon() {
    if (pid_ < 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  bool ready() const { return ready_; }

  // What it says when the job ends: faults, losses, statistics.
  std::optional<config::Finished> Finish(JobFabric& fabric, uint32_t index) {
    config::ToDaemon message;
    message.mutable_finish();
    if (!channel_->Send(message).ok()) return std::nullopt;
    fabric.Wake(index);
    for (;;) {
      std::optional<config::FromDaemon> answer = Receive();
      if (!answer.has_value()) return std::nullopt;
      if (answer->has_finished()) return answer->finished();
    }
  }

 private:
  std::optional<config::FromDaemon> Receive() {
    for (;;) {
      absl::StatusOr<std::optional<ControlChannel::Frame>> frame = channel_->Receive();
      if (!frame.ok()) return std::nullopt;
      if (!frame->has_value()) {
        channel_->WaitToReceive();
        continue;
      }
      config::FromDaemon message;
      if (!message.ParseFromString((*frame)->payload)) return std::nullopt;
      return message;
    }
  }

  std::optional<ControlChannel> channel_;
  pid_t pid_ = -1;
  bool ready_ = false;
};

void Exchange(uint32_t daemons) {
  RunOptions options;
  options.machine.nodes = 32;
  options.machine.control_processors = 1;
  options.data_daemons = daemons;
  options.programs.resize(2);
  options.programs[0].partition = {0, 1, 2, 3, 4};
  options.programs[1].partition = {16, 17};
  absl::StatusOr<std::unique_ptr<JobFabric>> fabric = JobFabric::Create(options);
  ASSERT_TRUE(fabric.ok()) << fabric.status();
  const Spawner spawner({});
  std::vector<std::unique_ptr<DataDaemon>> running;
  for (uint32_t i = 0; i < daemons; ++i) {
    running.push_back(std::make_unique<DataDaemon>(spawner, **fabric, i));
    ASSERT_TRUE(running.back()->ready()) << "data daemon " << i;
  }
  constexpr uint32_t kFronts[] = {0, 16};
  constexpr uint32_t kRounds = 100;
  for (uint32_t round = 0; round < kRounds; ++round) {
    const int half = round % 2 == 0 ? VCM5_LEFT : VCM5_RIGHT;
    for (const uint32_t from : {0u, 1u}) {
      const std::vector<uint32_t> words(1 + round % 5, 1000 * from + round);
      while (!(*fabric)->supervisor(from).SendMessage(half, kFronts[1 - from], 14, words)) {
        sched_yield();
      }
      vcm5_system_message message;
      while (!(*fabric)->supervisor(1 - from).ReceiveMessage(half, &message)) sched_yield();
      ASSERT_EQ(message.address, kFronts[1 - from]);
      ASSERT_EQ(message.control, VCM5_SYSTEM_CONTROL(14, words.size()));
      ASSERT_EQ(std::vector<uint32_t>(message.words, message.words + words.size()), words);
    }
  }
  uint64_t delivered = 0;
  for (uint32_t i = 0; i < daemons; ++i) {
    const std::optional<config::Finished> finished = running[i]->Finish(**fabric, i);
    ASSERT_TRUE(finished.has_value());
    EXPECT_EQ(finished->faults_size(), 0);
    EXPECT_EQ(finished->unbalanced_size(), 0);
    for (const config::Stat& stat : finished->stats()) {
      if (absl::EndsWith(stat.name(), ": messages delivered")) {
        EXPECT_EQ(stat.value(), 0u);
      }
      if (absl::EndsWith(stat.name(), "of the system delivered")) delivered += stat.value();
    }
  }
  EXPECT_EQ(delivered, 2 * kRounds);
}

TEST(SystemMessages, PassBetweenPartitionsOfOneDaemon) { Exchange(1); }
TEST(SystemMessages, PassBetweenPartitionsOfSeveralDaemons) { Exchange(3); }

}  // namespace
}  // namespace vcm5
