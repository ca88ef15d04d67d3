// Help, and what the examples say about wrong input: one line, from one node, and status 2.
#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/examples/run_example.h"

namespace vcm5 {
namespace {

const MachineChoice kTwo[] = {{"embedded", 3}, {"daemons", 3}};

class UsageTest : public testing::TestWithParam<MachineChoice> {
 protected:
  void ExpectRefusal(const std::string& example, const std::vector<std::string>& arguments,
                     const std::string& part) {
    SCOPED_TRACE(example + ": " + part);
    const Outcome outcome = RunExample(GetParam(), example, arguments);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find(example + ": "), 0u) << outcome.err;
  }
};

TEST_P(UsageTest, HelpIsPrintedOnce) {
  for (const std::string example : {"fetch", "life", "ring", "sort", "stencil", "wordcount"}) {
    const Outcome outcome = RunExample(GetParam(), example, {"--help"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    const size_t first = outcome.out.find("Usage: " + example);
    EXPECT_NE(first, std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.out.find("Usage:", first + 1), std::string::npos) << outcome.out;
  }
}

TEST_P(UsageTest, CommandLines) {
  ExpectRefusal("ring", {"--trips", "0"}, "--trips wants a number");
  ExpectRefusal("ring", {"--trips", "-1"}, "--trips wants a number");
  ExpectRefusal("ring", {"--trips=12x"}, "12x");
  ExpectRefusal("ring", {"--rounds"}, "cannot make sense of --rounds");
  ExpectRefusal("life", {}, "--pattern is required");
  ExpectRefusal("life", {"--pattern", DataPath("acorn.rle"), "--size", "0x10"}, "--size");
  ExpectRefusal("life", {"--pattern", DataPath("acorn.rle"), "--size", "10"}, "--size");
  ExpectRefusal("life", {"--pattern", DataPath("acorn.rle"), "--generations", "-3"}, "generations");
  ExpectRefusal("fetch", {"--entries", "0"}, "--entries");
  ExpectRefusal("stencil", {"--size", "2x2"}, "--size");
  ExpectRefusal("stencil", {"--tolerance", "0"}, "--tolerance");
  ExpectRefusal("sort", {"a", "b"}, "b");
}

TEST_P(UsageTest, Files) {
  ExpectRefusal("life", {"--pattern", "/no/such/file"}, "/no/such/file: No such file");
  ExpectRefusal("sort", {"/no/such/file"}, "/no/such/file: No such file");
  ExpectRefusal("sort", {"/"}, "cannot read /");
  ExpectRefusal("wordcount", {DataPath("carroll.txt"), "/no/such/file"}, "No such file");
  ExpectRefusal("stencil", {"--size=5x5", "--output=/no/such/folder/plate.pgm"}, "cannot write");
  ExpectRefusal("sort", {DataPath("carroll.txt")}, "not `JABBERWOCKY`");
  ExpectRefusal("sort", {WriteTemporary("big", "1 2 99999999999999999999\n")},
                "99999999999999999999");
}

TEST_P(UsageTest, Patterns) {
  const auto refuse = [&](const std::string& text, const std::string& part) {
    ExpectRefusal("life", {"--pattern", WriteTemporary("bad.rle", text), "--size", "20x20"}, part);
  };
  refuse("", "expected a header");
  refuse("x = 3\n3o!", "expected a header");
  refuse("x = 3, y = 1, rule = B3/S29\n3o!", "cannot read the rule");
  refuse("#C comment\nx = 3, y = 1\n4o!", "line 3: cells outside of the 3 by 1");
  refuse("x = 3, y = 1\n3o$o!", "cells outside");
  refuse("x = 3, y = 1\n3z!", "not `z`");
  refuse("x = 3, y = 1\n3o", "does not end with");
  refuse("x = 21, y = 1\n3o!", "does not fit");
}

INSTANTIATE_TEST_SUITE_P(Machines, UsageTest, testing::ValuesIn(kTwo), NameOf);

}  // namespace
}  // namespace vcm5
