// SPDX-License-Identifier: GPL-2.0-only
// Runs gradsync's ns-3 TestSuites stand-alone; inside an ns-3 tree ns-3's own test-runner does.
#include "ns3/test.h"

int
main(int argc, char* argv[])
{
    return ns3::TestRunner::Run(argc, argv);
}
