// The processes below this one: how one of them ended, in words, and what descendants are left.
#ifndef VCM5_RUNTIME_LAUNCH_CHILDREN_H_
#define VCM5_RUNTIME_LAUNCH_CHILDREN_H_

#include <string>

namespace vcm5 {

// "SIGKILL", or "" for a number that is none.
std::string SignalName(int number);

// Of a status from waitpid: "exited with status 3", "was killed by signal 9 (SIGKILL)".
std::string DescribeEnd(int status);

// As a shell shows it: the exit status, or 128 + signal.
int ShellStatus(int status);

// Makes orphaned descendants children of this process, so that they can be found.
void AdoptOrphans();

// Kills and reaps every child that is left, and the orphans that become children by that.
void KillRemainingChildren();

}  // namespace vcm5

#endif  // VCM5_RUNTIME_LAUNCH_CHILDREN_H_
