// SPDX-License-Identifier: GPL-2.0-only
/// Every kernel against the CPU function of the same name, and every codec against the CPU's.
#include "case-runner.h"

namespace ns3::gradsync
{

const std::vector<Case>&
GetCases()
{
    static const std::vector<Case> cases{{"int8", TestInt8},
                                         {"fp16 and bf16", TestSixteenBits},
                                         {"two-bit", TestTwoBits},
                                         {"fixed point", TestFixedPoint},
                                         {"QSGD", TestQsgd},
                                         {"TernGrad", TestTernGrad},
                                         {"signSGD and its vote", TestSignSgd},
                                         {"int8 in switches", TestSwitchInt8},
                                         {"top-k", TestTopK},
                                         {"sparse messages", TestSparseMessages},
                                         {"THC", TestThc},
                                         {"PowerSGD", TestLowRank},
                                         {"Ok-Topk", TestOkTopK},
                                         {"DGC", TestDgc},
                                         {"bbTopk", TestBlockTopK},
                                         {"norm, DGT, OmniReduce", TestSums},
                                         {"additions", TestAdditions},
                                         {"messages of codecs", TestDeviceCodecs},
                                         {"error feedback and momentum", TestDecoratedCodecs},
                                         {"broken messages", TestBrokenMessages},
                                         {"sizes of codecs", TestDeviceCodecSizes, false}};
    return cases;
}

} // namespace ns3::gradsync
