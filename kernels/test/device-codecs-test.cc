// SPDX-License-Identifier: GPL-2.0-only
/**
 * The codecs of device-codecs.h without a GPU: what they make of memory, messages and iterations,
 * with the CPU's functions in the place of the kernels (cpu-kernels.cc). Says nothing of the
 * kernels.
 */
#include "case-runner.h"

namespace ns3::gradsync
{

const std::vector<Case>&
GetCases()
{
    static const std::vector<Case> cases{{"messages of codecs", TestDeviceCodecs},
                                         {"error feedback and momentum", TestDecoratedCodecs},
                                         {"broken messages", TestBrokenMessages}};
    return cases;
}

} // namespace ns3::gradsync
