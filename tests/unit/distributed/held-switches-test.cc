// SPDX-License-Identifier: GPL-2.0-only
// Switches that go on ahead of hosts, as WindowProtocol has them do.
#include "unit/transport/random-racks-fixture.h"

#include "ns3/boolean.h"
#include "ns3/global-value.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/switch-rounds.h"
#include "ns3/window-simulator-impl.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace ns3::gradsync
{
namespace
{

class HeldSwitchesTest : public RandomRacksTest
{
  protected:
    void SetUp() override
    {
        GlobalValue::Bind("SimulatorImplementationType",
                          StringValue("ns3::gradsync::WindowSimulatorImpl"));
        RandomRacksTest::SetUp();
    }

    void TearDown() override
    {
        RandomRacksTest::TearDown();
        GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::DefaultSimulatorImpl"));
    }

    /// As WindowProtocol, by windows of random lengths up to 1 us. \returns how many there were
    static uint64_t RunHeld(SwitchRounds& switches, uint32_t seed)
    {
        auto& simulator = dynamic_cast<WindowSimulatorImpl&>(*Simulator::GetImplementation());
        std::mt19937 random(seed);
        uint64_t windows = 0;
        for (int64_t clock = 0;; ++windows)
        {
            const auto next = std::min(simulator.GetNextTime(), switches.GetNext());
            if (next == INT64_MAX)
            {
                return windows;
            }
            const auto quiet = std::max(clock, next);
            clock = quiet + 1 + static_cast<int64_t>(random() % 1'000'000);
            simulator.AdvanceTo(quiet);
            switches.RunHeld(quiet, clock);
            simulator.RunUntil(clock);
            simulator.AdvanceTo(clock - 1);
        }
    }
};

TEST_F(HeldSwitchesTest, AheadOfHostsTheyDoWhatEventsDo)
{
    for (uint32_t seed = 0; seed < 120; ++seed)
    {
        std::vector<Outcome> outcomes;
        for (const bool areHeld : {true, false})
        {
            TearDown();
            SetUp();
            m_handler = {};
            SetFabric("SwitchRounds", BooleanValue(areHeld));
            InstallVariedRacks(seed);
            SendAtRandom(seed);
            auto* switches = m_transport->GetFabric()->HoldRounds(MicroSeconds(1).GetTimeStep());
            ASSERT_EQ(switches != nullptr, areHeld);
            if (switches)
            {
                // Packets of 1000 B and 10 Gb/s take 0.8 us: 300 us of sending are not one window.
                EXPECT_GT(RunHeld(*switches, seed), 100U);
                EXPECT_GT(m_transport->GetStatistics().switchPackets, 0U);
                EXPECT_EQ(m_transport->GetStatistics().switchRounds, 0U); // none is an event
            }
            Simulator::Run();
            outcomes.push_back(GetOutcome());
        }
        EXPECT_EQ(outcomes[0], outcomes[1]) << "seed " << seed;
    }
}

TEST_F(HeldSwitchesTest, TheyAreOnlyWhereAllHaveTheLookahead)
{
    InstallPatientRacks(); // links of 1 us
    EXPECT_EQ(m_transport->GetFabric()->HoldRounds(MicroSeconds(1).GetTimeStep() + 1), nullptr);
    m_transport = CreateObject<RoceTransport>();
    InstallPatientRacks(MicroSeconds(2)); // leaves may be ahead by 1 us, spines by 2
    EXPECT_EQ(m_transport->GetFabric()->HoldRounds(1), nullptr);
}

} // namespace
} // namespace ns3::gradsync
