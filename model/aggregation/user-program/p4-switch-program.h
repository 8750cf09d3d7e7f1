// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_SWITCH_PROGRAM_H
#define GRADSYNC_P4_SWITCH_PROGRAM_H

#include "ns3/p4-program.h"

#include <memory>
#include <string>

namespace ns3::gradsync
{

/// A P4 program for a switch, and its configuration.
struct P4SwitchProgram
{
    std::shared_ptr<const P4Program> program;
    std::string configuration;     //!< commands of simple_switch_CLI
    std::string configurationName; //!< for messages
    bool takesAll{false}; //!< packets that cannot be read back pass it, too: of RoCE, of ATP
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_SWITCH_PROGRAM_H
