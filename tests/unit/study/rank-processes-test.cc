// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/rank-processes.h"

#include <gtest/gtest.h>

namespace ns3::gradsync
{
namespace
{

TEST(RankProcessesTest, WhatMpirunSaysOfAKilledProcessIsPutShortly)
{
    // Open MPI 4.1.4.
    const auto* words =
        "--------------------------------------------------------------------------\n"
        "Primary job  terminated normally, but 1 process returned\n"
        "a non-zero exit code. Per user-direction, the job has been aborted.\n"
        "--------------------------------------------------------------------------\n"
        "mpirun noticed that process rank 1 with PID 0 on node host exited on signal 9 (Killed).\n"
        "--------------------------------------------------------------------------\n";
    EXPECT_EQ(DescribeRankFailure(words, 137 << 8), "rank 1 crashed: signal 9 (Killed)");
}

TEST(RankProcessesTest, OtherwiseTheLastWordsBeforeAdviceAreTold)
{
    EXPECT_EQ(DescribeRankFailure("one\ntwo\n------\n", 3 << 8),
              "mpirun ended with exit code 3: two");
    EXPECT_EQ(DescribeRankFailure("one\n\n------\nNo host.\nThis usually is:\n------\n", 3 << 8),
              "mpirun ended with exit code 3: one; No host.");
    EXPECT_EQ(DescribeRankFailure("------\nNo host.\nAdvice\n------\n", 3 << 8),
              "mpirun ended with exit code 3: No host.");
    EXPECT_EQ(DescribeRankFailure("", 1 << 8), "mpirun ended with exit code 1");
}

} // namespace
} // namespace ns3::gradsync
