// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/served-paths.h"

#include <gtest/gtest.h>
#include <vector>

using namespace ns3::gradsync;

namespace
{

using Use = MaxMinAllocator::Use;

constexpr double TOLERANCE_S = 1e-12;

/// Two NICs at links 0 and 1 of 10 bytes a second, which meet in link 2 of 12.
class ServedPathsTest : public testing::TestWithParam<RateSharing>
{
  protected:
    ServedPathsTest()
        : m_paths({10.0, 10.0, 12.0}, GetParam())
    {
        const std::vector<Use> first{{0, 1.0}, {2, 1.0}};
        const std::vector<Use> alone{{0, 1.0}};
        const std::vector<Use> second{{1, 1.0}, {2, 1.0}};
        m_shared = m_paths.Add(first, 0);
        m_alone = m_paths.Add(alone, 0);
        m_other = m_paths.Add(second, 1);
    }

    ServedPaths m_paths;
    uint32_t m_shared{0};
    uint32_t m_alone{0};
    uint32_t m_other{0};
};

TEST_P(ServedPathsTest, ConnectionsOfAPathShareItAndEndInTheOrderOfTheirBytes)
{
    m_paths.Serve(m_alone, {20.0, 7});
    m_paths.Serve(m_alone, {10.0, 8});
    m_paths.Allocate();
    // 5 bytes a second each.
    EXPECT_DOUBLE_EQ(m_paths.GetSecondsToNext(), 2.0);
    m_paths.Advance(2.0);
    const auto first = m_paths.TakeServed(m_alone, TOLERANCE_S);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->connection, 8u);
    EXPECT_FALSE(m_paths.TakeServed(m_alone, TOLERANCE_S));
    m_paths.Allocate();
    // 10 left, and nobody to share with.
    EXPECT_DOUBLE_EQ(m_paths.GetSecondsToNext(), 1.0);
    m_paths.Advance(1.0);
    EXPECT_EQ(m_paths.TakeServed(m_alone, TOLERANCE_S)->connection, 7u);
    m_paths.Allocate();
    EXPECT_TRUE(m_paths.GetActive().empty());
    EXPECT_EQ(m_paths.GetServed(m_alone), 0.0);
}

TEST_P(ServedPathsTest, NicsServeTheirConnectionsAtOneRateAndConnectionsAreFairAlone)
{
    m_paths.Serve(m_shared, {60.0, 0});
    m_paths.Serve(m_alone, {60.0, 1});
    m_paths.Serve(m_other, {60.0, 2});
    m_paths.Allocate();
    m_paths.Advance(1.0);
    // Link 0 has two connections, so 5 each. Max-min fair among connections, link 2 leaves 12 - 5 =
    // 7 to the other; a NIC with one rate has 5 for each, and the other 7, too: link 2 carries one
    // of each NIC.
    EXPECT_DOUBLE_EQ(m_paths.GetServed(m_shared), 5.0);
    EXPECT_DOUBLE_EQ(m_paths.GetServed(m_alone), 5.0);
    EXPECT_DOUBLE_EQ(m_paths.GetServed(m_other), 7.0);
    m_paths.Serve(m_other, {70.0, 3});
    m_paths.Serve(m_other, {70.0, 4});
    m_paths.Allocate();
    const auto before = m_paths.GetServed(m_alone);
    m_paths.Advance(1.0);
    // Four connections in link 2. Among connections 3 each, and 10 - 3 = 7 for the one that does
    // not cross it. NIC 0 has one rate for both of its own: r in link 2 beside 3 r' of NIC 1. Equal
    // rates fill link 2 at r = r' = 3.
    const auto alone = m_paths.GetServed(m_alone) - before;
    EXPECT_DOUBLE_EQ(alone, GetParam() == RateSharing::Nics ? 3.0 : 7.0);
}

INSTANTIATE_TEST_SUITE_P(Sharings,
                         ServedPathsTest,
                         testing::Values(RateSharing::Connections, RateSharing::Nics));

} // namespace
