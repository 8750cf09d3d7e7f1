// SPDX-License-Identifier: GPL-2.0-only
#include "unit/transport/roce-fixture.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/simulator.h"
#include "ns3/spine-leaf-topology.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <tuple>
#include <vector>

namespace ns3::gradsync
{
namespace
{

TEST_F(RoceTransportTest, MessageTakesSerialisationOnceAndAPacketMorePerHop)
{
    Set("Mtu", UintegerValue(1418)); // 1500 B on the wire: 12 us at 1 Gb/s
    InstallStar(2);
    Send(0, 1, uint64_t{100} * 1418, 7);
    Simulator::Run();
    // 100 packets leave in 1200 us, the last is stored once more (12 us) and passes two links of 1
    // us.
    EXPECT_EQ(m_handler.lastDelivery, MicroSeconds(1214));
    EXPECT_EQ(m_handler.delivered, (std::map<uint64_t, int>{{7, 1}}));
}

TEST_F(RoceTransportTest, CountsEveryByteOnTheWire)
{
    Set("Mtu", UintegerValue(1000));
    Set("AckEvery", UintegerValue(2));
    InstallStar(2);
    Send(0, 1, 2500, 1);
    Simulator::Run();
    // Data: 1000 + 1000 + 500 payload and 3 * 82 of headers, preamble, FCS and gap, on two links.
    // Acknowledgements: after packet 2 and at the end of the message, 86 B each, on two links.
    const auto statistics = m_transport->GetStatistics();
    EXPECT_EQ(statistics.goodputBytes, 2500u);
    EXPECT_EQ(statistics.wireBytes, 2u * (2500 + 3 * 82) + 2u * 2 * 86);
    EXPECT_EQ(statistics.dataPacketHops, 6u);
    EXPECT_EQ(statistics.controlPacketHops, 4u);
}

TEST_F(RoceTransportTest, EmptyMessageCostsOnePacket)
{
    InstallStar(2);
    Send(0, 1, 0, 3);
    Simulator::Run();
    EXPECT_EQ(m_handler.delivered.at(3), 1);
    EXPECT_EQ(m_transport->GetStatistics().dataPacketHops, 2u);
}

TEST_F(RoceTransportTest, QueuePairsOfOneNicShareItRoundRobin)
{
    Set("Mtu", UintegerValue(1418));
    Set("AckEvery", UintegerValue(0));
    InstallStar(3);
    Send(0, 1, uint64_t{100} * 1418, 1);
    Send(0, 2, uint64_t{50} * 1418, 2);
    Simulator::Run();
    // The short one ends after 50 rounds of two packets: 100 packets, 1200 us; the long one after
    // all 150.
    EXPECT_EQ(m_handler.lastDelivery, MicroSeconds(1800 + 14));
}

TEST_F(RoceTransportTest, IncastUnderPfcLosesNothingAndKeepsTheBottleneckBusy)
{
    Set("Mtu", UintegerValue(1418));
    Set("AckEvery", UintegerValue(0));
    SetFabric("BufferBytes", UintegerValue(200000));
    InstallStar(9);
    for (uint32_t src = 1; src < 9; ++src)
    {
        Send(src, 0, uint64_t{200} * 1418, src);
    }
    Simulator::Run();
    const auto statistics = m_transport->GetStatistics();
    EXPECT_EQ(m_handler.delivered.size(), 8u);
    EXPECT_EQ(statistics.droppedPackets, 0u);
    EXPECT_EQ(statistics.retransmittedPackets, 0u);
    EXPECT_GT(statistics.pfcPause, Time(0));
    // 1600 packets of 12 us through one link, the first stored once before it: 19,200 + 12 + 2 us.
    EXPECT_EQ(m_handler.lastDelivery, MicroSeconds(19214));
}

TEST_F(RoceTransportTest, WithoutPfcIncastDropsAndGoBackNDeliversAllTheSame)
{
    SetFabric("Pfc", BooleanValue(false));
    SetFabric("BufferBytes", UintegerValue(100000));
    // Without any jitter timeouts fall into step, and the same packet is dropped again and again.
    Set("RetryLimit", UintegerValue(100));
    InstallStar(9);
    for (uint32_t src = 1; src < 9; ++src)
    {
        Send(src, 0, 500000, src);
    }
    Simulator::Run();
    const auto statistics = m_transport->GetStatistics();
    EXPECT_GT(statistics.droppedPackets, 0u);
    EXPECT_GT(statistics.retransmittedPackets, 0u);
    EXPECT_EQ(statistics.goodputBytes, 8u * 500000);
    EXPECT_EQ(m_handler.delivered.size(), 8u);
    EXPECT_THAT(m_handler.delivered, ::testing::Each(::testing::Pair(::testing::_, 1)));
}

TEST_F(RoceTransportTest, TraceSourcesCountWhatTheStatisticsCount)
{
    SetFabric("LossRate", DoubleValue(0.2));
    SetFabric("BufferBytes", UintegerValue(200000));
    Tally tally;
    m_transport->GetFabric()->TraceConnectWithoutContext("Drop",
                                                         MakeCallback(&Tally::OnDrop, &tally));
    m_transport->TraceConnectWithoutContext("Recovery", MakeCallback(&Tally::OnRecovery, &tally));
    InstallStar(4);
    Send(1, 0, 300000, 1);
    Send(2, 0, 300000, 2);
    Simulator::Run();
    EXPECT_GT(tally.drops, 0u);
    EXPECT_EQ(tally.drops, m_transport->GetStatistics().droppedPackets);
    EXPECT_GT(tally.recoveries, 0u);
    EXPECT_LE(tally.recoveries, m_transport->GetStatistics().retransmittedPackets);
}

TEST_F(RoceTransportTest, BufferSmallerThanTheHeadroomIsRefused)
{
    SetFabric("BufferBytes", UintegerValue(10000));
    EXPECT_THROW(InstallStar(4), std::invalid_argument);
}

TEST_F(RoceTransportTest, DeadNetworkEndsInANamedFailure)
{
    SetFabric("LossRate", DoubleValue(1.0));
    Set("Timeout", TimeValue(MilliSeconds(1)));
    Set("RetryLimit", UintegerValue(3));
    InstallStar(2);
    Send(0, 1, 5000, 1);
    Send(0, 1, 5000, 2);
    Simulator::Run();
    ASSERT_EQ(m_handler.failures.size(), 2u);
    EXPECT_THAT(m_handler.failures.at(1),
                ::testing::HasSubstr("host0 -> host1 gave up after 4 timeouts of 1 ms"));
    EXPECT_TRUE(m_handler.delivered.empty());
}

TEST_F(RoceTransportTest, TimeoutComesExactlyOneTimeoutAfterTheLastActivity)
{
    // Everything is lost: packet 1 of 1 leaves at 0; timeouts at 1, 2, 3 ms each send it again and
    // the fourth, at 4 ms, gives up.
    SetFabric("LossRate", DoubleValue(1.0));
    Set("Timeout", TimeValue(MilliSeconds(1)));
    Set("RetryLimit", UintegerValue(3));
    InstallStar(2);
    Send(0, 1, 100, 1);
    Simulator::Run();
    EXPECT_EQ(m_handler.failures.size(), 1u);
    EXPECT_EQ(Simulator::Now(), MilliSeconds(4));
}

/// Go-back-N at 1 % loss. Parameters: window in packets, seed.
class GoBackNLossTest : public RoceTransportTest,
                        public ::testing::WithParamInterface<std::tuple<uint32_t, uint32_t>>
{
};

TEST_P(GoBackNLossTest, HasTheThroughputOfTheClosedForm)
{
    // 10 Gb/s, packets of 1500 B: a slot is t = 1.2 us. Either of two links loses a packet with 1
    // %: q = 1 - 0.99^2 for data and for negative acknowledgements alike.
    //
    // A lost packet is sent again R slots after it was sent first: the next packet (1 slot) tells
    // the receiver, 2 (1.2 + 1) us there and 2 (0.07 + 1) us back, then the next slot begins:
    // R = ceil(1 + 6.54 / 1.2) = 7, and one more each time that next packet is lost, too.
    // A gap is reported once. If the report is lost, only the timeout of 100 slots helps. It runs
    // since the last progress, the acknowledgement of the packet before the lost one, which comes
    // 6.54 / 1.2 - 1 = 4.45 slots after the lost packet left: X = ceil(104.45) = 105.
    // If the repeated packet is lost, the timeout runs since that left: Y = 100.
    //   first attempt: E = (1 - q) + q ((1 - q) R + q X + B), repeated: B = 1 + Y q / (1 - q)
    // None of it depends on the window, as long as that is no less than R.
    const auto [window, seed] = GetParam();
    RngSeedManager::SetSeed(seed);
    SetFabric("LossRate", DoubleValue(0.01));
    Set("Mtu", UintegerValue(1418));
    Set("AckEvery", UintegerValue(1));
    Set("WindowPackets", UintegerValue(window));
    Set("Timeout", TimeValue(MicroSeconds(120)));
    Set("RetryLimit", UintegerValue(1000));
    InstallStar(2, "10Gbps");
    const uint32_t packets = 300000;
    Send(0, 1, uint64_t{packets} * 1418, 1);
    Simulator::Run();
    ASSERT_EQ(m_handler.delivered.at(1), 1);
    const double q = 1 - 0.99 * 0.99;
    const double x = 105;
    const double y = 100;
    const double r = 7 + q / (1 - q);
    const double slots = (1 - q) + q * ((1 - q) * r + q * x + 1 + y * q / (1 - q));
    const auto measured = m_handler.lastDelivery.GetSeconds() / 1.2e-6 / packets;
    // 6000 losses: a standard error of 1.3 % in the quarter of the time that they cost.
    EXPECT_NEAR(measured / slots, 1.0, 0.02);
}

INSTANTIATE_TEST_SUITE_P(Windows,
                         GoBackNLossTest,
                         ::testing::Combine(::testing::Values(0, 16, 1000),
                                            ::testing::Values(1, 2, 3)));

/// Notes when queue pairs learn of losses.
struct RecoveryLog
{
    void OnRecovery(uint32_t src, uint32_t dst, bool isTimeout)
    {
        entries.emplace_back(src, dst, isTimeout, Simulator::Now());
    }

    std::vector<std::tuple<uint32_t, uint32_t, bool, Time>> entries;
};

TEST_F(RoceTransportTest, TheTimeoutRunsSinceTheLastProgressWhileASenderWithoutWindowGoesOn)
{
    // 10 Gb/s, packets of 1500 B: packet i leaves at 1.2 i us and arrives at 1.2 i + 4.4 us; an
    // acknowledgement of 86 B takes 2 (0.0688 + 1) us back.
    //
    // From 100 us to 102 us whatever is on the receiver's link is lost: packet 80 on, which would
    // arrive at 100.4 us, and the acknowledgement of packet 79, which left at 99.2 us. That of
    // packet 78 left at 98 us and comes to the sender at 100.1376 us: the last progress.
    // Packet 84 is the first to leave the switch afterwards, and arrives at 105.2 us. It is
    // answered by the only negative acknowledgement for the gap, which would be on the sender's
    // link from 106.3 us to 107.3 us: that is down from 104 us to 110 us.
    //
    // So the sender, which may send all 2,000 packets without a pause (2.4 ms), goes back after a
    // timeout, at 100.1376 + 200 us, to packet 79, with the next slot: at 251 * 1.2 = 301.2 us.
    Set("Mtu", UintegerValue(1418));
    Set("AckEvery", UintegerValue(1));
    Set("Timeout", TimeValue(MicroSeconds(200)));
    InstallStar(2, "10Gbps");
    RecoveryLog log;
    m_transport->TraceConnectWithoutContext("Recovery",
                                            MakeCallback(&RecoveryLog::OnRecovery, &log));
    const auto setLink = [this](uint64_t microseconds, LinkId link, bool isUp) {
        Simulator::Schedule(MicroSeconds(microseconds), [this, link, isUp] {
            LinkState state;
            state.up = isUp;
            m_transport->SetLinkState(link, state);
        });
    };
    setLink(100, 1, false);
    setLink(102, 1, true);
    setLink(104, 0, false);
    setLink(110, 0, true);
    const uint32_t packets = 2000;
    Send(0, 1, uint64_t{packets} * 1418, 1);
    Simulator::Run();
    ASSERT_EQ(log.entries.size(), 1U);
    EXPECT_EQ(log.entries[0], std::make_tuple(0U, 1U, true, PicoSeconds(300137600)));
    EXPECT_EQ(m_handler.lastDelivery, NanoSeconds(301200 + (packets - 79 - 1) * 1200 + 4400));
}

TEST_F(RoceTransportTest, SelectiveRepeatAtOnePercentLossSendsEachLostPacketOnceMore)
{
    // As above, but nothing holds the sender back: the line is never idle but for the timeouts at
    // the very end, and each packet takes 1 / (1 - q) = 1.0203 slots. A packet beyond a gap whose
    // own negative acknowledgement is lost is sent again for nothing: a gap stays open for 7 to 8
    // slots, so that 0.15 of the packets come beyond one, and q of 0.15 makes 0.003 slots.
    SetFabric("LossRate", DoubleValue(0.01));
    Set("Mtu", UintegerValue(1418));
    Set("AckEvery", UintegerValue(1));
    Set("Recovery", StringValue("selective-repeat"));
    Set("Timeout", TimeValue(MicroSeconds(120)));
    Set("RetryLimit", UintegerValue(1000));
    InstallStar(2, "10Gbps");
    const uint32_t packets = 300000;
    Send(0, 1, uint64_t{packets} * 1418, 1);
    Simulator::Run();
    ASSERT_EQ(m_handler.delivered.at(1), 1);
    const double q = 1 - 0.99 * 0.99;
    const auto measured = m_handler.lastDelivery.GetSeconds() / 1.2e-6 / packets;
    // 6000 losses are known to 1.3 %, which is 0.0003 slots; the timeouts are 100 slots each.
    EXPECT_NEAR(measured, 1 / (1 - q) + 0.15 * q, 0.003);
}

TEST_F(RoceTransportTest, SelectiveRepeatNeedsAcknowledgements)
{
    Set("Recovery", StringValue("selective-repeat"));
    Set("AckEvery", UintegerValue(0));
    EXPECT_THROW(InstallStar(2), std::invalid_argument);
}

TEST_F(RoceTransportTest, SprayingWithGoBackNIsRefused)
{
    SetFabric("LoadBalancing", StringValue("spray"));
    EXPECT_THROW(InstallStar(2), std::invalid_argument);
}

/// How long one connection at full rate takes beside another that the hash puts on its path.
class LoadBalancingTest : public RoceTransportTest
{
  protected:
    /// Time in which `flows` connections between two racks, over as many spines, carry 1,000
    /// packets each; 1,200 us when they share nothing.
    Time Run(const char* loadBalancing, uint32_t flows)
    {
        Set("Mtu", UintegerValue(1418)); // 1500 B on the wire: 1.2 us at 10 Gb/s
        Set("Recovery", StringValue("selective-repeat"));
        Set("ReorderTolerance", UintegerValue(1000));
        SetFabric("LoadBalancing", StringValue(loadBalancing));
        SpineLeafOptions options;
        options.spines = flows;
        options.leaves = 2;
        options.hostsPerLeaf = flows;
        options.hostLink = {DataRate("10Gbps"), MicroSeconds(1)};
        options.fabricLink = options.hostLink;
        Install(MakeSpineLeafTopology(options));
        for (uint32_t i = 0; i < flows; ++i)
        {
            Send(i, flows + i, uint64_t{1000} * 1418, i);
        }
        Simulator::Run();
        return m_handler.lastDelivery;
    }
};

TEST_F(LoadBalancingTest, HashPutsTwoOfEightFlowsOnOneSpine)
{
    // 8 flows over 8 spines share nothing with probability 8! / 8^8 = 0.24 %: some spine has two,
    // which takes twice the time.
    EXPECT_GE(Run("hash", 8), MicroSeconds(2400));
}

TEST_F(LoadBalancingTest, AdaptiveUsesAllSpinesEvenly)
{
    // Each leaf has a free port for each packet: it leaves at once. What waits is at the other
    // leaf, where several spines may send to one host at a time; a packet or two each.
    EXPECT_LE(Run("adaptive", 8), MicroSeconds(1200 + 30));
}

TEST_F(LoadBalancingTest, SprayingUsesAllSpinesAlmostEvenly)
{
    // Random choices at a load of 1 queue like M/D/1 at saturation: after n packets a port is
    // behind by about sqrt(n) slots. n = 1000: 32 slots of 1.2 us, the worst of 8 ports twice that.
    EXPECT_LE(Run("spray", 8), MicroSeconds(1200 + 120));
}

} // namespace
} // namespace ns3::gradsync
