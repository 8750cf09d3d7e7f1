// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PROGRAM_VERBS_H
#define GRADSYNC_PROGRAM_VERBS_H

namespace ns3::gradsync
{

/**
 * The program: reads the verb and its options, which are declared here alone, and carries it out.
 * \returns the exit code; what goes wrong is one line on standard error
 */
int RunProgram(int argc, char* argv[]);

} // namespace ns3::gradsync

#endif // GRADSYNC_PROGRAM_VERBS_H
