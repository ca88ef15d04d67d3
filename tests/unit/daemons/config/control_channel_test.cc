#include "daemons/config/control_channel.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "daemons/config/control_plane.pb.h"

namespace vcm5 {
namespace {

using ::testing::HasSubstr;

class ControlChannelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int sockets[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    for (int end = 0; end < 2; ++end) end_[end] = std::make_unique<ControlChannel>(sockets[end]);
  }

  static config::FromDaemon Message(const std::string& text) {
    config::FromDaemon message;
    message.mutable_failed()->set_reason(text);
    return message;
  }

  // The next frame, which must be there.
  ControlChannel::Frame Take(int end) {
    auto frame = end_[end]->Receive();
    EXPECT_TRUE(frame.ok()) << frame.status();
    EXPECT_TRUE(frame.ok() && frame->has_value());
    return frame.ok() && frame->has_value() ? std::move(**frame) : ControlChannel::Frame();
  }

  std::unique_ptr<ControlChannel> end_[2];
};

TEST_F(ControlChannelTest, HasNothingBeforeSomethingIsSent) {
  const auto frame = end_[1]->Receive();
  ASSERT_TRUE(frame.ok());
  EXPECT_FALSE(frame->has_value());
}

TEST_F(ControlChannelTest, CarriesMessagesWholeAndInOrder) {
  const std::vector<std::string> texts = {"", "a", std::string(100000, 'x'), "b"};
  for (const std::string& text : texts) ASSERT_TRUE(end_[0]->Send(Message(text)).ok());
  for (const std::string& text : texts) {
    config::FromDaemon message;
    ASSERT_TRUE(message.ParseFromString(Take(1).payload));
    EXPECT_EQ(message.failed().reason(), text);
  }
}

TEST_F(ControlChannelTest, QueuesWhatTheSocketDoesNotTake) {
  const std::string text(1 << 20, 'y');
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(end_[0]->Send(Message(text)).ok());
  EXPECT_TRUE(end_[0]->pending());
  int received = 0;
  while (received < 3) {
    ASSERT_TRUE(end_[0]->Flush().ok());
    const auto frame = end_[1]->Receive();
    ASSERT_TRUE(frame.ok());
    received += frame->has_value();
  }
  EXPECT_FALSE(end_[0]->pending());
}

TEST_F(ControlChannelTest, CarriesDescriptorsBesideTheirOwnMessage) {
  // Four pipes; the byte in each says which.
  std::vector<int> read_ends;
  for (char mark = 'a'; mark < 'e'; ++mark) {
    int pipe_ends[2];
    ASSERT_EQ(pipe2(pipe_ends, O_CLOEXEC), 0);
    ASSERT_EQ(write(pipe_ends[1], &mark, 1), 1);
    close(pipe_ends[1]);
    read_ends.push_back(pipe_ends[0]);
  }
  const absl::Span<const int> all(read_ends);
  ASSERT_TRUE(end_[0]->Send(Message("none")).ok());
  ASSERT_TRUE(end_[0]->Send(Message("three"), all.subspan(0, 3)).ok());
  ASSERT_TRUE(end_[0]->Send(Message("one"), all.subspan(3)).ok());
  for (const int fd : read_ends) close(fd);
  EXPECT_TRUE(Take(1).descriptors.empty());
  char expected = 'a';
  for (const size_t count : {3u, 1u}) {
    const ControlChannel::Frame frame = Take(1);
    ASSERT_EQ(frame.descriptors.size(), count);
    for (const int fd : frame.descriptors) {
      char mark = 0;
      EXPECT_EQ(read(fd, &mark, 1), 1);
      EXPECT_EQ(mark, expected++);
      close(fd);
    }
  }
}

TEST_F(ControlChannelTest, SaysThatTheOtherEndIsGone) {
  ASSERT_TRUE(end_[0]->Send(Message("last words")).ok());
  end_[0].reset();
  Take(1);
  EXPECT_EQ(end_[1]->Receive().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(end_[1]->Send(Message("hello?")).ok());
}

TEST_F(ControlChannelTest, RefusesFramesThatAreNone) {
  for (const uint32_t header : {0xffffffffu, 9u << 20}) {
    SetUp();
    const uint32_t bytes[2] = {header, 0};
    ASSERT_EQ(send(end_[0]->fd(), bytes, sizeof bytes, 0), 8);
    EXPECT_EQ(end_[1]->Receive().status().code(), absl::StatusCode::kDataLoss);
  }
  SetUp();
  const uint32_t lost[2] = {0, 3};  // three descriptors that did not come
  ASSERT_EQ(send(end_[0]->fd(), lost, sizeof lost, 0), 8);
  EXPECT_THAT(std::string(end_[1]->Receive().status().message()), HasSubstr("descriptors were lost"));
}

}  // namespace
}  // namespace vcm5
