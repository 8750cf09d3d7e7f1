// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fabric-port.h"
#include "ns3/path-selector.h"

#include <array>
#include <cstddef>
#include <gtest/gtest.h>
#include <memory>

namespace ns3::gradsync
{
namespace
{

/// Four ports, of which some do not let data leave: how likely a packet gets an idle one.
class IdleShareTest : public ::testing::Test
{
  protected:
    IdleShareTest()
    {
        for (size_t i = 0; i < m_ports.size(); ++i)
        {
            m_owners[i] = Ptr<FabricPort>(new FabricPort, false);
            m_ports[i] = PeekPointer(m_owners[i]);
        }
    }

    void Hold(std::initializer_list<size_t> ports)
    {
        for (const auto port : ports)
        {
            m_ports[port]->SetHeld(true, 0);
        }
    }

    double GetIdleShare(LoadBalancing loadBalancing)
    {
        return MakePathSelector(loadBalancing, 1, GAP)
            ->GetIdleShare(m_packet, NEXT_HOPS, m_ports, 0);
    }

    static constexpr TimeStepCount GAP = 100;
    static constexpr std::array<uint16_t, 4> NEXT_HOPS{0, 1, 2, 3};
    FabricPacket m_packet{};
    std::array<Ptr<FabricPort>, 4> m_owners;
    std::array<FabricPort*, 4> m_ports;
};

TEST_F(IdleShareTest, SprayingDrawsAnIdlePortByTheirShare)
{
    EXPECT_EQ(GetIdleShare(LB_SPRAY), 1.0);
    Hold({2});
    EXPECT_EQ(GetIdleShare(LB_SPRAY), 0.75);
    Hold({0, 1, 3});
    EXPECT_EQ(GetIdleShare(LB_SPRAY), 0.0);
}

TEST_F(IdleShareTest, AdaptiveChoiceFindsTheOnlyIdlePort)
{
    Hold({0, 1, 3});
    EXPECT_EQ(GetIdleShare(LB_ADAPTIVE), 1.0);
    Hold({2});
    EXPECT_EQ(GetIdleShare(LB_ADAPTIVE), 0.0);
}

TEST_F(IdleShareTest, AFlowletStaysWithItsPortUntilItsGap)
{
    const auto selector = MakePathSelector(LB_FLOWLET, 1, GAP);
    auto* chosen = selector->Select(m_packet, NEXT_HOPS, m_ports, 0);
    chosen->SetHeld(true, 0);
    EXPECT_EQ(selector->GetIdleShare(m_packet, NEXT_HOPS, m_ports, GAP), 0.0);
    // The next flowlet draws among all four.
    EXPECT_EQ(selector->GetIdleShare(m_packet, NEXT_HOPS, m_ports, GAP + 1), 0.75);
    // To ask changes nothing.
    EXPECT_EQ(selector->Select(m_packet, NEXT_HOPS, m_ports, GAP), chosen);
}

} // namespace
} // namespace ns3::gradsync
