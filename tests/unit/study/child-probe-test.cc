// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/child-probe.h"
#include "ns3/fatal-error.h"

#include <csignal>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>

namespace ns3::gradsync
{
namespace
{

TEST(ChildProbe, SaysNothingOfWhatComesToItsEnd)
{
    int changed = 0;
    EXPECT_EQ(ProbeInChild([&changed] { changed = 1; }), "");
    EXPECT_EQ(changed, 0); // it ran in a process of its own
}

TEST(ChildProbe, TellsWhyInTheWordsOfNs3)
{
    EXPECT_EQ(ProbeInChild([] { NS_FATAL_ERROR("there are no flows"); }), "there are no flows");
}

TEST(ChildProbe, TellsTheSignalOfAnythingElse)
{
    // One that the sanitizers leave alone; of SIGFPE they make an exit code of their own.
    EXPECT_THAT(ProbeInChild([] { raise(SIGALRM); }), testing::HasSubstr("signal 14"));
    EXPECT_EQ(ProbeInChild([] { throw std::runtime_error("no room"); }), "no room");
}

} // namespace
} // namespace ns3::gradsync
