// SPDX-License-Identifier: GPL-2.0-only
#include "support/picosecond-clock.h"

#include "ns3/failure-text.h"

#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::gradsync;

TEST(FailureText, WritesTimeoutsToThePicosecond)
{
    tests::UsePicoseconds();
    const auto describe = [](int64_t picoseconds) {
        return DescribeTimeout(PicoSeconds(picoseconds));
    };
    EXPECT_EQ(describe(1), "timed out, not done 0.000000000001 s after it began");
    EXPECT_EQ(describe(60'000'000), "timed out, not done 0.00006 s after it began");
    EXPECT_EQ(describe(5'000'000'000'000), "timed out, not done 5 s after it began");
    EXPECT_EQ(describe(100'000'000'000'001),
              "timed out, not done 100.000000000001 s after it began");
}
