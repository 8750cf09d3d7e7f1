// SPDX-License-Identifier: GPL-2.0-only
#include "support/bottleneck-fixture.h"

#include "ns3/dcqcn-control.h"
#include "ns3/ecn-marker.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

namespace ns3::gradsync
{
namespace
{

constexpr TimeStepCount US = 1'000'000; // picoseconds

TEST(EcnMarker, MarksByRedBetweenKminAndKmax)
{
    // SIGCOMM'15, figure 5.
    const EcnMarker red({.minBytes = 5000, .maxBytes = 205000, .maxProbability = 0.01}, 1);
    EXPECT_EQ(red.GetProbability(5000), 0.0);
    EXPECT_DOUBLE_EQ(red.GetProbability(105000), 0.005);
    EXPECT_DOUBLE_EQ(red.GetProbability(205000), 0.01);
    EXPECT_EQ(red.GetProbability(205001), 1.0);
    const EcnMarker step({.minBytes = 65000, .maxBytes = 65000, .maxProbability = 0.01}, 1);
    EXPECT_EQ(step.GetProbability(65000), 0.0);
    EXPECT_EQ(step.GetProbability(65001), 1.0);
}

/// One flow of an algorithm, without a network.
class DcqcnTest : public ::testing::Test
{
  protected:
    void SetUp() override
    {
        tests::UsePicoseconds();
        m_flow.lineRate = 40e9;
        m_flow.windowLimit = UINT32_MAX;
        m_control->Install();
        m_control->Open(m_flow);
    }

    double GetRateAt(TimeStepCount at)
    {
        m_control->OnSent(m_flow, 0, at);
        return DcqcnControl::GetRate(m_flow) / 1e9;
    }

    CongestionFlow m_flow{};
    Ptr<DcqcnControl> m_control = CreateObject<DcqcnControl>();
};

TEST_F(DcqcnTest, NotificationCutsByHalfAlpha)
{
    EXPECT_EQ(m_flow.stepsPerByte, 0.0);
    m_control->OnNotification(m_flow, 0);
    // Equation 1 with alpha = 1: 40 (1 - 1/2); alpha stays (1 - g) 1 + g = 1.
    EXPECT_DOUBLE_EQ(DcqcnControl::GetRate(m_flow), 20e9);
    EXPECT_DOUBLE_EQ(m_flow.stepsPerByte, 400.0); // 8 bits / 20 Gb/s = 400 ps
    m_control->OnNotification(m_flow, 50 * US);
    EXPECT_DOUBLE_EQ(DcqcnControl::GetRate(m_flow), 10e9);
}

TEST_F(DcqcnTest, FastRecoveryHalvesTheDistanceEveryTimer)
{
    m_control->OnNotification(m_flow, 0);
    // Equation 3 with R_T = 40: R_C = 40 - 20 / 2^k after k timers of 55 us.
    EXPECT_DOUBLE_EQ(GetRateAt(54 * US), 20.0);
    EXPECT_DOUBLE_EQ(GetRateAt(55 * US), 30.0);
    EXPECT_DOUBLE_EQ(GetRateAt(5 * 55 * US), 40.0 - 20.0 / 32);
    // 20 / 2^9 is the first distance below 0.1 % of 40: the flow is free again.
    EXPECT_LT(GetRateAt(8 * 55 * US), 40.0);
    EXPECT_EQ(GetRateAt(9 * 55 * US), 40.0);
    EXPECT_EQ(m_flow.stepsPerByte, 0.0);
}

TEST_F(DcqcnTest, TargetGrowsByAdditiveThenHyperIncrease)
{
    m_control->OnNotification(m_flow, 0);
    m_control->OnNotification(m_flow, 1 * US); // R_T = 20, R_C = 10
    // 6 timers: five of fast recovery, R_C = 20 - 10 / 32, then R_T = 20.04 and half way there.
    EXPECT_NEAR(GetRateAt((1 + 6 * 55) * US), (20.0 - 10.0 / 32 + 20.04) / 2, 1e-9);
    // Six byte counters on top: the first five have max = 6 > F but min <= F and add 40 Mb/s each,
    // the sixth has min = 6 = F + 1 and adds 1 * 400 Mb/s. Each averages R_C with the target.
    auto rate = (20.0 - 10.0 / 32 + 20.04) / 2;
    auto target = 20.04;
    for (const double step : {0.04, 0.04, 0.04, 0.04, 0.04, 0.4})
    {
        target += step;
        rate = (rate + target) / 2;
        m_control->OnSent(m_flow, 10'000'000, (1 + 6 * 55) * US);
    }
    EXPECT_NEAR(GetRateAt((1 + 6 * 55) * US), rate, 1e-9);
}

TEST_F(DcqcnTest, AlphaDecaysWhileNoNotificationComes)
{
    m_control->OnNotification(m_flow, 0);
    m_control->OnNotification(m_flow, 100 * 55 * US);
    // Equation 2 a hundred times: alpha = (1 - 1/256)^100; the flow was back at 40.
    EXPECT_NEAR(GetRateAt(100 * 55 * US), 40.0 * (1 - std::pow(255.0 / 256, 100) / 2), 1e-9);
}

class DcqcnNetworkTest : public tests::BottleneckFixture
{
};

TEST_F(DcqcnNetworkTest, ReceiversNotifyOnceAnInterval)
{
    Set("CongestionControl", StringValue("dcqcn"));
    Set("AckEvery", UintegerValue(0)); // notifications are the only control packets then
    SetFabric("EcnMinBytes", UintegerValue(0));
    SetFabric("EcnMaxBytes", UintegerValue(0)); // every packet that waits is marked
    InstallStar(3, "40Gbps");
    Start(1, 0);
    Start(2, 0);
    Simulator::Stop(MicroSeconds(500));
    Simulator::Run();
    // 500 us hold at most 10 intervals of 50 us and the first notification: 11 for each of the two,
    // on two links each. Packets wait as long as the two together are faster than the link, so that
    // at the very least the first cuts come.
    const auto notifications = m_transport->GetStatistics().controlPacketHops / 2;
    EXPECT_GE(notifications, 4U);
    EXPECT_LE(notifications, 22U);
}

TEST_F(DcqcnNetworkTest, FlowsConvergeToEqualSharesOfABusyLinkAndAShortQueue)
{
    Set("CongestionControl", StringValue("dcqcn"));
    Set("Mtu", UintegerValue(1000));
    InstallStar(3, "40Gbps");
    Start(1, 0);
    Simulator::Schedule(MilliSeconds(5), [this] { Start(2, 0); }); // starts at the line rate
    const auto rates = MeasureRates(MilliSeconds(50), MilliSeconds(250));
    const auto total = rates.at(1) + rates.at(2);
    // Payload share of a packet: 1000 / 1082.
    EXPECT_GT(total, 0.95 * 40e9 * 1000 / 1082);
    EXPECT_NEAR(rates.at(1) / total, 0.5, 0.05);
    EXPECT_EQ(m_transport->GetStatistics().pfcPause, Time(0));
    // Fixed point of the fluid model (Zhu, Ghobadi, Misra, Padhye, "ECN or delay", CoNEXT 2016,
    // equation 14), in packets of 1082 B: C = 4.62e6 /s, R_AI = 4621 /s, B = 9242, tau' = 50 us,
    // T = 55 us, N = 2:
    //   p* = cbrt(R_AI N^2 / (tau' C^2) (1/B + N/(T C))^2) = 1.03e-3,
    // which RED gives at a queue of 5 kB + p* / 1 % * 195 kB = 25 kB.
    const auto share = GetMarkShare();
    EXPECT_GT(share, 1.03e-3 / 2);
    EXPECT_LT(share, 1.03e-3 * 2);
}

} // namespace
} // namespace ns3::gradsync
