// SPDX-License-Identifier: GPL-2.0-only
#include "unit/transport/random-racks-fixture.h"

#include "ns3/boolean.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

namespace ns3::gradsync
{
namespace
{

class SwitchRoundsTest : public RandomRacksTest
{
};

TEST_F(SwitchRoundsTest, ASwitchTakesPacketsWithoutAnEvent)
{
    Set("Mtu", UintegerValue(1418)); // 1500 B on the wire: 12 us at 1 Gb/s
    Set("AckEvery", UintegerValue(0));
    InstallStar(2);
    Send(0, 1, uint64_t{100} * 1418, 7);
    Simulator::Run();
    // As MessageTakesSerialisationOnceAndAPacketMorePerHop.
    EXPECT_EQ(m_handler.lastDelivery, MicroSeconds(1214));
    const auto statistics = m_transport->GetStatistics();
    EXPECT_EQ(statistics.switchPackets, 100U);
    // A round is as long as the delay of a link, 1 us, so here each packet has one of its own.
    EXPECT_EQ(statistics.switchRounds, 100U);
    // And one event for each packet's arrival at the host.
    EXPECT_EQ(Simulator::GetEventCount() - statistics.timerLooks, 200U);
}

TEST_F(SwitchRoundsTest, OtherSchedulersKnowNoOrderSoThereAreEvents)
{
    Simulator::Destroy(); // the next one has ns-3's own scheduler
    InstallStar(2);
    Send(0, 1, 100'000, 7);
    Simulator::Run();
    EXPECT_EQ(m_transport->GetStatistics().switchPackets, 0U);
}

TEST_F(SwitchRoundsTest, RandomMessagesAreThoseOfAnEventForEachPacket)
{
    uint32_t paused = 0;
    for (uint32_t seed = 0; seed < 300; ++seed)
    {
        std::vector<Outcome> outcomes;
        for (const bool goesInRounds : {true, false})
        {
            TearDown();
            SetUp();
            m_handler = {};
            SetFabric("SwitchRounds", BooleanValue(goesInRounds));
            InstallVariedRacks(seed);
            SendAtRandom(seed);
            Simulator::Run();
            outcomes.push_back(GetOutcome());
            const auto statistics = m_transport->GetStatistics();
            EXPECT_EQ(statistics.switchPackets > 0, goesInRounds);
            paused += statistics.pfcPause > Time(0) ? 1 : 0;
        }
        EXPECT_EQ(outcomes[0], outcomes[1]) << "seed " << seed;
    }
    EXPECT_GT(paused, 100U); // of 600 runs: departures that must be seen in time are among it
}

TEST_F(SwitchRoundsTest, WhatIsCountedInTheMiddleIsWhatHasHappened)
{
    for (uint32_t seed = 0; seed < 20; ++seed)
    {
        std::vector<std::vector<uint64_t>> counted;
        for (const bool goesInRounds : {true, false})
        {
            TearDown();
            SetUp();
            SetFabric("SwitchRounds", BooleanValue(goesInRounds));
            InstallPatientRacks();
            SendAtRandom(seed);
            Simulator::Stop(NanoSeconds(40'000 + 7'777 * seed)); // with packets everywhere
            Simulator::Run();
            counted.emplace_back();
            for (const auto& link : m_transport->GetLinkStatistics())
            {
                counted.back().push_back(link.packets);
                counted.back().push_back(link.wireBytes);
            }
            counted.back().push_back(GetOutcome().events);
        }
        EXPECT_EQ(counted[0], counted[1]) << "seed " << seed;
    }
}

TEST_F(SwitchRoundsTest, WhoChangesTheNetworkMustKeepItInStep)
{
    LinkState down;
    down.up = false;
    for (const bool isKept : {false, true})
    {
        TearDown();
        SetUp();
        m_handler = {};
        InstallStar(2);
        if (isKept)
        {
            m_transport->KeepInStep();
        }
        bool isRefused = false;
        Send(0, 1, 100'000, 7);
        Simulator::Schedule(MicroSeconds(100), [&] {
            try
            {
                m_transport->SetLinkState(1, down);
            }
            catch (const std::logic_error& error)
            {
                EXPECT_THAT(error.what(), ::testing::HasSubstr("KeepInStep"));
                isRefused = true;
                Simulator::Stop();
            }
        });
        Simulator::Run();
        EXPECT_EQ(isRefused, !isKept);
        EXPECT_EQ(m_handler.failures.size(), isKept ? 1U : 0U);
    }
}

TEST_F(SwitchRoundsTest, WhoHearsOfWhatHappensHasItInStep)
{
    Tally tally;
    m_transport->GetFabric()->TraceConnectWithoutContext("Drop",
                                                         MakeCallback(&Tally::OnDrop, &tally));
    InstallStar(2);
    Send(0, 1, 100'000, 7);
    Simulator::Run();
    EXPECT_EQ(m_transport->GetStatistics().switchPackets, 0U);
    EXPECT_EQ(m_handler.delivered.at(7), 1);
}

} // namespace
} // namespace ns3::gradsync
