// Sending, receiving and polling are loads and stores (paper section 2; NI1): a process that has
// given up its system calls does all of it.
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/support/seeds.h"
#include "tests/unit/netif/port/ni_port_fixture.h"

namespace vcm5 {
namespace {

constexpr int kRight = 0;
constexpr int kWrong = 1;
constexpr int kNotAllowed = 2;  // the host does not let a process give up its system calls

// The one call of those left in strict mode that ends a thread.
[[noreturn]] void Exit(int status) {
  for (;;) syscall(SYS_exit, status);
}

// Runs `body` in a child that the kernel kills at its first system call; how that ended. Nothing
// but memory may be touched in it.
template <class Body>
int StatusWithoutSystemCalls(Body&& body) {
  const pid_t child = fork();
  if (child == 0) {
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) Exit(kNotAllowed);
    Exit(body() ? kRight : kWrong);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

class NoSystemCallTest : public NiPortTest {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitizer makes system calls of its own";
    const int status = StatusWithoutSystemCalls([] { return true; });
    if (WIFEXITED(status) && WEXITSTATUS(status) == kNotAllowed) {
      GTEST_SKIP() << "this host has no strict mode";
    }
  }

  // What came for one half, word by word, into a sum.
  uint32_t ReceiveAll(int half) {
    uint32_t sum = 0;
    while (vcm5_port_receive_ok(&port_, half)) sum += vcm5_port_receive_word(&port_, half);
    return sum;
  }
};

TEST_F(NoSystemCallTest, WouldBeNoticed) {
  const int status = StatusWithoutSystemCalls([] { return getppid() != 0; });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

TEST_F(NoSystemCallTest, IsNeededOnTheDataNetwork) {
  for (uint32_t id = 1; id <= 3; ++id) Arrive(id, 1, 4, VCM5_RIGHT);
  const int status = StatusWithoutSystemCalls([this] {
    // Sends until the FIFO refuses; looks at every register; receives; polls in vain.
    uint32_t sent = 0;
    do {
      vcm5_port_send_first(&port_, kHalf, 0, 0, 1);
      vcm5_port_send_word(&port_, kHalf, sent);
    } while (vcm5_port_send_ok(&port_, kHalf) && ++sent < 2 * kDepth);
    const uint32_t words[] = {1, 2, 3, 4, 5};
    const bool whole = vcm5_port_send(&port_, VCM5_RIGHT, 0, 1, words, 5);
    return sent == kDepth && whole && vcm5_port_send_space(&port_, kHalf) == 0 &&
           vcm5_port_receive_tag(&port_, VCM5_RIGHT) == 4 &&
           vcm5_port_receive_length(&port_, VCM5_RIGHT) == 1 && ReceiveAll(VCM5_RIGHT) == 6 &&
           ReceiveAll(VCM5_LEFT) == 0;
  });
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), kRight);
}

TEST_F(NoSystemCallTest, IsNeededOnTheControlNetwork) {
  vcm5_ni_page* page = memory_.page();
  for (int fifo = 0; fifo < VCM5_CONTROL_FIFOS; ++fifo) {
    port_.fifo[fifo].in[0] = {7, VCM5_ENTRY_LENGTH(1) | VCM5_ENTRY_FIRST | VCM5_ENTRY_LAST};
    page->control.in_tail[fifo] = 1;
  }
  page->control.async_or_result = 1;
  const int status = StatusWithoutSystemCalls([this] {
    bool right = true;
    for (int fifo = 0; fifo < VCM5_CONTROL_FIFOS; ++fifo) {
      vcm5_port_control_first(&port_, fifo, 0, 1, 5);
      right &= vcm5_port_control_send_ok(&port_, fifo);
      right &= vcm5_port_control_receive_ok(&port_, fifo);
      right &= vcm5_port_control_receive_word(&port_, fifo) == 7;
      right &= !vcm5_port_control_receive_ok(&port_, fifo);
      right &= vcm5_port_set_abstain(&port_, fifo, true);
    }
    vcm5_port_set_async_or(&port_, 1);
    return right && vcm5_port_async_or(&port_) == 1;
  });
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), kRight);
}

}  // namespace
}  // namespace vcm5
