// How a message interrupts a node that is a process and does not poll (NI5).
#include "runtime/node/interrupt_line.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>

#include "tests/support/ni_memory.h"
#include "tests/support/packets.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

// What the handler does; it runs in a signal handler, so that is little.
struct Handler {
  vcm5_port* port;
  volatile sig_atomic_t calls = 0;
  volatile uint32_t word = 0;

  static void Run(void* argument) {
    auto* self = static_cast<Handler*>(argument);
    self->word = vcm5_port_receive_word(self->port, VCM5_LEFT);
    self->calls = self->calls + 1;
  }
};

// A node's NI with its interrupt line; the network is the test.
class InterruptLineTest : public ::testing::Test {
 protected:
  InterruptLineTest() : memory_(MakeSpec()), network_(memory_.PortOptions(VCM5_LEFT, 0)) {
    memory_.Attach(&port_);
    handler_.port = &port_;
    port_.interrupt_handler = Handler::Run;
    port_.interrupt_argument = &handler_;
    port_.interrupts_enabled = true;
    memory_.page()->node_data.interrupt_mask = 1u << 6;
    EXPECT_EQ(pipe2(line_.data(), O_NONBLOCK | O_CLOEXEC), 0);
  }
  ~InterruptLineTest() override {
    signal(SIGURG, SIG_IGN);
    for (const int fd : line_) close(fd);
  }
  static MachineSpec MakeSpec() {
    MachineSpec spec;
    spec.nodes = 1;
    return spec;
  }

  // As the data agent does: publishes, then writes a byte if the tag interrupts.
  void Arrive(uint32_t id, unsigned tag) {
    ASSERT_EQ(network_.Deliver(MakePacket(0, 0, 1, tag, id), 1), Arrival::kDelivered);
    const char byte = 1;
    if (network_.PublishDelivered() != 0) {
      ASSERT_EQ(write(line_[1], &byte, 1), 1);
    }
  }

  NiMemory memory_;
  DataPort network_;
  vcm5_port port_;
  Handler handler_;
  std::array<int, 2> line_;
};

TEST_F(InterruptLineTest, CallsTheHandlerOfAProgramThatDoesNotPoll) {
  if (kSanitized) GTEST_SKIP() << "ThreadSanitizer holds signals back";
  ASSERT_TRUE(ConnectInterruptLine(line_[0], &port_).ok());
  for (int message = 1; message <= 3; ++message) {
    Arrive(100u + static_cast<uint32_t>(message), 6);
    while (handler_.calls < message) {
    }
    EXPECT_EQ(handler_.word, 100u + static_cast<uint32_t>(message));
  }
}

TEST_F(InterruptLineTest, WaitsWhileInterruptsAreDisabled) {
  ASSERT_TRUE(ConnectInterruptLine(line_[0], &port_).ok());
  port_.interrupts_enabled = false;
  Arrive(7, 6);
  // The signal was this thread's own, so it has come.
  EXPECT_EQ(handler_.calls, 0);
  port_.interrupts_enabled = true;
  EXPECT_TRUE(vcm5_port_take_interrupts(&port_));
  EXPECT_EQ(handler_.word, 7u);
}

TEST_F(InterruptLineTest, RefusesWhatIsNoPipe) {
  const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  EXPECT_FALSE(ConnectInterruptLine(fd, &port_).ok());
  EXPECT_FALSE(ConnectInterruptLine(-1, &port_).ok());
  close(fd);
}

}  // namespace
}  // namespace vcm5
