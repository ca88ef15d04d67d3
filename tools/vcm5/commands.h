// The subcommands of `vcm5`. argv[0] is the subcommand's own name. Each returns the exit status.
#ifndef VCM5_TOOLS_VCM5_COMMANDS_H_
#define VCM5_TOOLS_VCM5_COMMANDS_H_

namespace vcm5 {

int RunCommand(int argc, char** argv);
int MachineCommand(int argc, char** argv);

}  // namespace vcm5

#endif  // VCM5_TOOLS_VCM5_COMMANDS_H_
