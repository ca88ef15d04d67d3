// What every example needs around its computation: the command line, input files, and an orderly
// end when they are not as they should be.
//
// All of it is collective: every node calls the same functions in the same order. Input files need
// to be readable on node 0 only.
#ifndef VCM5_EXAMPLES_COMMON_PROGRAM_H_
#define VCM5_EXAMPLES_COMMON_PROGRAM_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "vcm5/vcm5.hpp"

namespace examples {

// Ends the program on all nodes with exit status 2; node 0 says why, in one line.
[[noreturn]] void Fail(vcm5::Node& node, const std::string& why);

// Parses the command line, the same on all nodes. Node 0 prints the help or what is wrong.
void ParseCommandLine(vcm5::Node& node, CLI::App& app, int argc, char** argv);

// Node 0 reads a file ("-": standard input); the others get an empty string. Fails if it cannot.
std::string ReadOnNodeZero(vcm5::Node& node, const std::string& path);

// Deals out a text that node 0 has: each node gets a part of about the same length. Parts end after
// a byte for which `ends(byte)` holds, so that no word, or line, is cut in two.
std::string DealOut(vcm5::Node& node, std::string_view whole,
                    const std::function<bool(char)>& ends);

// The concatenation of all nodes' parts in node order, on node 0; the others get an empty string.
std::string Gather(vcm5::Node& node, std::string_view part);

// Node 0 writes to standard output, whole.
void PrintOnNodeZero(vcm5::Node& node, std::string_view text);

}  // namespace examples

#endif  // VCM5_EXAMPLES_COMMON_PROGRAM_H_
