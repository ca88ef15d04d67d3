#include "runtime/node/node_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace vcm5 {
namespace {

using ::testing::HasSubstr;

std::string FaultIn(const std::string& text) {
  const auto environment = NodeEnvironment::Parse(text.c_str());
  return environment.ok() ? "no fault" : std::string(environment.status().message());
}

TEST(NodeEnvironment, ParsesWhatItFormats) {
  const NodeEnvironment before{.memory = 3,
                               .memory_bytes = 53248,
                               .data_doorbell = 4,
                               .data_bells = 144,
                               .control_doorbell = 5,
                               .control_bells = 72,
                               .interrupt_line = 6};
  const auto after = NodeEnvironment::Parse(before.Format().c_str());
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(after->Format(), before.Format());
}

TEST(NodeEnvironment, RefusesEverythingElse) {
  EXPECT_THAT(FaultIn(""), HasSubstr("field 1 of 8"));
  EXPECT_THAT(FaultIn("1:2:3"), HasSubstr("field 3 of 8"));
  EXPECT_THAT(FaultIn("1:2:3:4:5:6:7:8:9"), HasSubstr("field 8 of 8"));
  EXPECT_THAT(FaultIn("1:2:3:4:5:6:7:-1"), HasSubstr("field 8 of 8"));
  EXPECT_THAT(FaultIn("1:2: 3:4:5:6:7:8"), HasSubstr("field 3 of 8"));
  EXPECT_THAT(FaultIn("1:9999999999:3:4:5:6:7:8"), HasSubstr("field 2 of 8"));
  EXPECT_THAT(FaultIn("2:2:3:4:5:6:7:8"), HasSubstr("different versions"));
}

TEST(BootEnvironment, ParsesWhatItFormats) {
  const BootEnvironment before{
      .supervisor_memory = 7, .pages = 33, .page = 32, .program = 8, .program_bytes = 423385};
  const auto after = BootEnvironment::Parse(before.Format().c_str());
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(after->Format(), before.Format());
  EXPECT_EQ(after->page, 32u);
  EXPECT_EQ(after->program, 8);
}

TEST(BootEnvironment, RefusesEverythingElse) {
  const auto fault = [](const char* text) {
    return std::string(BootEnvironment::Parse(text).status().message());
  };
  EXPECT_THAT(fault(""), HasSubstr("VCM5_BOOT is malformed: field 1 of 6"));
  EXPECT_THAT(fault("1:7:33:32:8"), HasSubstr("field 5 of 6"));
  EXPECT_THAT(fault("1:7:33:x:8:9"), HasSubstr("field 4 of 6"));
  EXPECT_THAT(fault("2:7:33:32:8:9"), HasSubstr("different versions"));
}

}  // namespace
}  // namespace vcm5
