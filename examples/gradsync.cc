// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/program-verbs.h"

int
main(int argc, char* argv[])
{
    return ns3::gradsync::RunProgram(argc, argv);
}
