#include "runtime/boot/program_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/base/prng.h"

namespace vcm5 {
namespace {

using ::testing::HasSubstr;
using Message = ProgramSender::Message;

std::vector<uint8_t> Program(size_t bytes, uint64_t seed = 1) {
  Prng prng(seed);
  std::vector<uint8_t> program(bytes);
  for (uint8_t& byte : program) byte = static_cast<uint8_t>(prng.Below(256));
  return program;
}

std::vector<Message> MessagesOf(const std::vector<uint8_t>& program) {
  std::vector<Message> messages;
  for (ProgramSender sender(program); !sender.done(); sender.Sent()) {
    messages.push_back(sender.message());
  }
  return messages;
}

// What is wrong with the first message that is refused; "": all came, "?": more is awaited.
std::string Take(const std::vector<Message>& messages, ProgramReceiver* receiver) {
  for (const Message& message : messages) {
    const absl::Status status = receiver->Take(message);
    if (!status.ok()) return std::string(status.message());
  }
  return receiver->done() ? "" : "?";
}

TEST(ProgramStream, BringsProgramsOfAnyLength) {
  for (size_t bytes = 1; bytes <= 200; ++bytes) {
    const std::vector<uint8_t> program = Program(bytes, bytes);
    ProgramReceiver receiver;
    EXPECT_FALSE(receiver.done());
    ASSERT_EQ(Take(MessagesOf(program), &receiver), "") << bytes;
    EXPECT_EQ(std::vector<uint8_t>(receiver.program().begin(), receiver.program().end()), program);
    EXPECT_EQ(MessagesOf(program).size(), 1 + (bytes + 15) / 16);
  }
}

TEST(ProgramStream, AnyBitThatIsWrongIsFound) {
  const std::vector<Message> messages = MessagesOf(Program(45));
  for (size_t at = 0; at < messages.size(); ++at) {
    for (unsigned bit = 0; bit < 128; ++bit) {
      std::vector<Message> damaged = messages;
      damaged[at][bit / 32] ^= 1u << bit % 32;
      ProgramReceiver receiver;
      const std::string wrong = Take(damaged, &receiver);
      // Beyond the program's end there are three bytes that mean nothing.
      const bool is_filling = at == 3 && bit >= 8 * (45 - 32);
      ASSERT_EQ(wrong.empty(), is_filling) << "message " << at << " bit " << bit;
    }
  }
}

TEST(ProgramStream, RefusesWhatIsNoProgram) {
  const std::vector<Message> messages = MessagesOf(Program(16));
  ProgramReceiver no_begin;
  EXPECT_THAT(Take({messages[1]}, &no_begin), HasSubstr("does not begin as a program"));
  ProgramReceiver too_long;
  Message begin = messages[0];
  begin[2] = 0xffffffffu;
  EXPECT_THAT(Take({begin}, &too_long), HasSubstr("a program of 4294967295 bytes"));
  begin[2] = 0;
  ProgramReceiver empty;
  EXPECT_THAT(Take({begin}, &empty), HasSubstr("a program of 0 bytes"));
  ProgramReceiver short_message;
  EXPECT_THAT(std::string(short_message.Take({messages[0].data(), 3}).message()),
              HasSubstr("a message of 3 words"));
  ProgramReceiver more;
  EXPECT_EQ(Take(messages, &more), "");
  EXPECT_THAT(std::string(more.Take(messages[1]).message()), HasSubstr("more came"));
}

TEST(ProgramStream, APartIsNoProgram) {
  std::vector<Message> messages = MessagesOf(Program(100));
  messages.pop_back();
  ProgramReceiver receiver;
  EXPECT_EQ(Take(messages, &receiver), "?");
}

}  // namespace
}  // namespace vcm5
