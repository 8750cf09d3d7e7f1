// SPDX-License-Identifier: GPL-2.0-only
#include "support/bottleneck-fixture.h"

#include "ns3/dcqcn-control.h"
#include "ns3/dctcp-control.h"
#include "ns3/ecn-marker.h"
#include "ns3/hpcc-control.h"
#include "ns3/swift-control.h"
#include "ns3/timely-control.h"

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
    EcnMarker drawn({.minBytes = 5000, .maxBytes = 205000, .maxProbability = 0.01}, 1);
    uint32_t marks = 0;
    for (uint32_t packet = 0; packet < 1'000'000; ++packet)
    {
        marks += drawn.IsMarked(105000, 0) ? 1 : 0;
    }
    EXPECT_NEAR(marks, 5000, 4 * 71); // binomial: a standard deviation of 71
    const EcnMarker step({.minBytes = 65000, .maxBytes = 65000, .maxProbability = 0.01}, 1);
    EXPECT_EQ(step.GetProbability(65000), 0.0);
    EXPECT_EQ(step.GetProbability(65001), 1.0);
}

TEST(EcnMarker, ThePortsDrawEachForItself)
{
    const EcnMarker::Config config{.minBytes = 0, .maxBytes = 1000, .maxProbability = 0.5};
    EcnMarker alone(config, 1);
    EcnMarker among(config, 1);
    std::vector<bool> marksAlone;
    std::vector<bool> marksAmong;
    std::vector<bool> others;
    for (uint32_t packet = 0; packet < 1000; ++packet)
    {
        marksAlone.push_back(alone.IsMarked(500, 7));
        others.push_back(among.IsMarked(500, 3));
        marksAmong.push_back(among.IsMarked(500, 7));
    }
    EXPECT_EQ(marksAmong, marksAlone);
    EXPECT_NE(marksAmong, others); // streams of their own
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
    EXPECT_DOUBLE_EQ(GetRateAt(5 * (55 * US)), 40.0 - 20.0 / 32);
    // 20 / 2^9 is the first distance below 0.1 % of 40: the flow is free again.
    EXPECT_LT(GetRateAt(8 * (55 * US)), 40.0);
    EXPECT_EQ(GetRateAt(9 * (55 * US)), 40.0);
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
    m_control->OnNotification(m_flow, 100 * (55 * US));
    // Equation 2 a hundred times: alpha = (1 - 1/256)^100; the flow was back at 40.
    EXPECT_NEAR(GetRateAt(100 * (55 * US)), 40.0 * (1 - std::pow(255.0 / 256, 100) / 2), 1e-9);
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

/// A flow at 10 Gb/s with packets of 1500 B and a base round trip of 40 us, without a network.
class SingleFlow
{
  public:
    explicit SingleFlow(const Ptr<CongestionControl>& control)
        : m_control(control)
    {
        m_flow.lineRate = 10e9;
        m_flow.baseRtt = 40 * US;
        m_flow.hops = 2;
        m_flow.packetWireBytes = 1500;
        m_flow.windowLimit = UINT32_MAX;
        m_control->Install();
        m_control->Open(m_flow);
    }

    void Acknowledge(CongestionFeedback feedback, TimeStepCount now = 0)
    {
        m_control->OnAcknowledgement(m_flow, feedback, now);
    }

    template <typename STATE>
    const STATE& GetState() const
    {
        return *static_cast<const STATE*>(m_flow.state);
    }

    CongestionFlow m_flow{};
    Ptr<CongestionControl> m_control;
};

TEST(DctcpControl, ShrinksOnceAWindowByTheMarkedShare)
{
    tests::UsePicoseconds();
    SingleFlow flow(CreateObject<DctcpControl>());
    // 10 Gb/s * 40 us / 8 / 1500 B = 33.3 packets.
    EXPECT_EQ(flow.m_flow.windowPackets, 33U);
    CongestionFeedback feedback{};
    feedback.ackedPsn = 10;
    feedback.newPackets = 10;
    feedback.markedPackets = 5;
    feedback.nextPsn = 43;
    flow.Acknowledge(feedback);
    // Equation 1 from alpha = 1: 15/16 + 1/16 * 5/10 = 31/32; equation 2: W (1 - alpha / 2).
    const auto once = 100.0 / 3 * (1 - 31.0 / 64);
    EXPECT_NEAR(flow.GetState<DctcpState>().window, once, 1e-9);
    feedback.ackedPsn = 43; // the rest of the same window
    flow.Acknowledge(feedback);
    EXPECT_NEAR(flow.GetState<DctcpState>().window, once, 1e-9);
}

TEST(TimelyControl, FollowsAlgorithm1)
{
    tests::UsePicoseconds();
    SingleFlow flow(CreateObject<TimelyControl>());
    const auto acknowledge = [&flow](int64_t rttUs) {
        CongestionFeedback feedback{};
        feedback.roundTrip = rttUs * US;
        flow.Acknowledge(feedback);
        return flow.GetState<TimelyState>().rate / 1e9;
    };
    acknowledge(1000); // the first tells no difference
    // Above T_high = 500 us: R (1 - 0.8 (1 - 500 / 1000)).
    EXPECT_NEAR(acknowledge(1000), 6.0, 1e-9);
    EXPECT_NEAR(acknowledge(40), 6.01, 1e-9); // below T_low: + 10 Mb/s
    // The difference is averaged: -840 after 960 of fall (weight 7/8), then 7/8 * 60 - 1/8 * 840.
    EXPECT_NEAR(acknowledge(100), 6.02, 1e-9); // gradient -52.5 / 20 us
    // 7/8 * 80 - 1/8 * 52.5 = 63.4 us: a gradient above 1 counts as 1, R (1 - 0.8).
    EXPECT_NEAR(acknowledge(180), 6.02 * 0.2, 1e-9);
}

TEST(TimelyControl, GrowsByAStepAnAcknowledgementAndByFiveOnlyBetweenTheThresholds)
{
    tests::UsePicoseconds();
    // Algorithm 1: below T_low = 50 us R + delta whatever came before; between the thresholds
    // R + delta for the first four round trips in a row that do not rise, R + 5 delta from the
    // fifth on. delta = 10 Mb/s.
    for (const auto& [rttUs, hyper] : {std::pair{40, 1}, {49, 1}, {50, 5}, {100, 5}, {500, 5}})
    {
        SingleFlow flow(CreateObject<TimelyControl>());
        const auto acknowledge = [&flow](int64_t us) {
            CongestionFeedback feedback{};
            feedback.roundTrip = us * US;
            flow.Acknowledge(feedback);
            return flow.GetState<TimelyState>().rate / 1e6;
        };
        acknowledge(2000);
        auto expected = acknowledge(2000); // above T_high: 10 (1 - 0.8 (1 - 500 / 2000)) Gb/s
        EXPECT_NEAR(expected, 4000.0, 1e-6);
        for (int event = 1; event <= 20; ++event)
        {
            expected += event < 5 ? 10.0 : 10.0 * hyper;
            EXPECT_NEAR(acknowledge(rttUs), expected, 1e-6) << rttUs << " us, event " << event;
        }
    }
}

TEST(SwiftControl, DecreasesByTheExcessOverTheTargetOnceARoundTrip)
{
    tests::UsePicoseconds();
    auto control = CreateObject<SwiftControl>();
    control->SetAttribute("FlowScalingRange", TimeValue(Time(0)));
    SingleFlow flow(control);
    CongestionFeedback feedback{};
    feedback.newPackets = 1;
    feedback.roundTrip = 36 * US; // target: 25 us + 2 hops of 1 us = 27 us
    flow.Acknowledge(feedback, 100 * US);
    // 1 - 0.8 (36 - 27) / 36 = 0.8
    EXPECT_NEAR(flow.GetState<SwiftState>().window, 100.0 / 3 * 0.8, 1e-9);
    flow.Acknowledge(feedback, 135 * US); // within the round trip: nothing
    EXPECT_NEAR(flow.GetState<SwiftState>().window, 100.0 / 3 * 0.8, 1e-9);
    feedback.roundTrip = 20 * US;
    flow.Acknowledge(feedback, 137 * US);
    EXPECT_NEAR(flow.GetState<SwiftState>().window, 80.0 / 3 + 3.0 / 80, 1e-9);
}

TEST(SwiftControl, TargetGrowsAsTheWindowShrinks)
{
    tests::UsePicoseconds();
    auto control = CreateObject<SwiftControl>();
    const SingleFlow flow(control);
    // Section 3.5: nothing at fs_max_cwnd = 100, the whole range of 50 us at fs_min_cwnd = 0.1, and
    // (1/sqrt(1) - 1/10) / (1/sqrt(0.1) - 1/10) of it at 1.
    EXPECT_NEAR(control->GetTarget(flow.m_flow, 100.0) / US, 27.0, 1e-6);
    EXPECT_NEAR(control->GetTarget(flow.m_flow, 0.01) / US, 77.0, 1e-6);
    EXPECT_NEAR(control->GetTarget(flow.m_flow, 1.0) / US,
                27.0 + 50.0 * 0.9 / (std::sqrt(10.0) - 0.1),
                1e-6);
}

TEST(HpccControl, AimsAtTheTargetUtilisationOfTheBusiestLink)
{
    tests::UsePicoseconds();
    SingleFlow flow(CreateObject<HpccControl>());
    const auto& state = flow.GetState<HpccState>();
    EXPECT_DOUBLE_EQ(state.window, 50000.0); // B T = 10 Gb/s * 40 us
    TelemetryRecord record{};
    record.hopCount = 1;
    record.hops[0] = {.bitRate = 10e9, .sentWireBytes = 0, .queueBytes = 20000, .at = 1};
    CongestionFeedback feedback{};
    feedback.telemetry = &record;
    feedback.ackedPsn = 1;
    feedback.nextPsn = 30;
    flow.Acknowledge(feedback); // the first only sets L
    EXPECT_DOUBLE_EQ(state.window, 50000.0);
    // A round trip later: the link was full, 50 kB in 40 us, and min(qlen) = 10 kB waited:
    // U = 10 / 50 + 1 = 1.2, so W = 50000 / (1.2 / 0.95) + 50000 * 0.05 / 100.
    record.hops[0] = {.bitRate = 10e9,
                      .sentWireBytes = 50000,
                      .queueBytes = 10000,
                      .at = 40 * US + 1};
    feedback.ackedPsn = 2;
    flow.Acknowledge(feedback);
    EXPECT_NEAR(state.window, 50000 * 0.95 / 1.2 + 25, 1e-6);
    // R = W / T.
    EXPECT_NEAR(8e12 / flow.m_flow.stepsPerByte, state.window * 8 / 40e-6, 1.0);
}

TEST(HpccControl, ComparesOnlyRecordsOfTheSamePath)
{
    tests::UsePicoseconds();
    SingleFlow flow(CreateObject<HpccControl>());
    const auto& state = flow.GetState<HpccState>();
    TelemetryRecord record{};
    record.hopCount = 1;
    CongestionFeedback feedback{};
    feedback.telemetry = &record;
    feedback.nextPsn = 30;
    const auto acknowledge = [&](uint32_t path, uint64_t sentWireBytes, TimeStepCount at) {
        record.path = path;
        record.hops[0] = {.bitRate = 10e9,
                          .sentWireBytes = sentWireBytes,
                          .queueBytes = 10000,
                          .at = at};
        ++feedback.ackedPsn;
        flow.Acknowledge(feedback);
    };
    // Another port's counter is far ahead: as a rate it would be a thousand times the link's.
    acknowledge(1, 0, 1);
    acknowledge(2, 50'000'000, 40 * US + 1);
    EXPECT_DOUBLE_EQ(state.window, 50000.0); // as at the start
    // The second packet in a row by path 2 counts: U = 10 / 50 + 1, as above.
    acknowledge(2, 50'050'000, 80 * US + 1);
    EXPECT_NEAR(state.window, 50000 * 0.95 / 1.2 + 25, 1e-6);
}

/// Two flows through one link of 10 Gb/s with 10 us a link; packets of 1500 B on the wire.
/// Base round trip: 4 * 10 us + 2 * (1.2 us + 0.07 us) = 42.5 us, which is 35.4 packets.
class TwoFlowTest : public tests::BottleneckFixture
{
  protected:
    void InstallWith(const char* control,
                     uint32_t payload = 1418,
                     const Time& delay = MicroSeconds(10))
    {
        Set("CongestionControl", StringValue(control));
        Set("Mtu", UintegerValue(payload));
        InstallStar(3, "10Gbps", delay);
    }

    static constexpr double PAYLOAD_RATE = 10e9 * 1418 / 1500;
    static constexpr double PACKET = 1500.0;
};

TEST_F(TwoFlowTest, DctcpHoldsTheQueueBelowKPlusN)
{
    SetControl("dctcp", "InitialWindowPackets", UintegerValue(1));
    SetFabric("EcnReferenceRate", DataRateValue(DataRate(0)));
    SetFabric("EcnMinBytes", UintegerValue(30000)); // K = 20 packets, above C RTT / 7 = 5
    SetFabric("EcnMaxBytes", UintegerValue(30000));
    InstallWith("dctcp");
    Start(1, 0);
    Simulator::Schedule(MilliSeconds(5), [this] { Start(2, 0); });
    const auto rates = MeasureRates(MilliSeconds(20), MilliSeconds(120));
    const auto total = rates.at(1) + rates.at(2);
    EXPECT_GT(total, 0.98 * PAYLOAD_RATE); // equation 13: such a K loses no throughput
    EXPECT_NEAR(rates.at(1) / total, 0.5, 0.02);
    // Equation 10: Q_max = K + N = 22 packets in the steady state, give or take the packet on the
    // wire and the window that is not a whole number.
    const auto longest = GetLongestQueueBytes();
    EXPECT_GE(static_cast<double>(longest), 20 * PACKET);
    EXPECT_LE(static_cast<double>(longest), 24 * PACKET);
    // Section 3.3: alpha = sqrt(2 / W*) with W* = (C RTT + K) / N = 27.7: 0.27 of the packets are
    // marked.
    EXPECT_NEAR(GetMarkShare(), 0.27, 0.08);
}

TEST_F(TwoFlowTest, SwiftHoldsTheDelayAtItsTarget)
{
    SetControl("swift", "BaseTarget", TimeValue(MicroSeconds(60)));
    SetControl("swift", "HopTarget", TimeValue(Time(0)));
    SetControl("swift", "FlowScalingRange", TimeValue(Time(0)));
    InstallWith("swift");
    Start(1, 0);
    Simulator::Schedule(MilliSeconds(5), [this] { Start(2, 0); });
    const auto rates = MeasureRates(MilliSeconds(50), MilliSeconds(250));
    const auto total = rates.at(1) + rates.at(2);
    EXPECT_GT(total, 0.98 * PAYLOAD_RATE);
    EXPECT_NEAR(rates.at(1) / total, 0.5, 0.02);
    // 60 - 42.5 us of queueing are 21.9 kB; the windows grow by a packet each per round trip and
    // fall by 0.8 of a small excess: at most 2 packets from there.
    EXPECT_NEAR(GetMeanQueueBytes(), 17.5e-6 * 10e9 / 8, 2 * PACKET);
}

TEST_F(TwoFlowTest, TimelyKeepsTheRoundTripBetweenItsThresholds)
{
    // The base round trip, 18.5 us, is well below T_low = 50 us, as in the paper.
    InstallWith("timely", 1418, MicroSeconds(4));
    Start(1, 0);
    Start(2, 0);
    const auto rates = MeasureRates(MilliSeconds(100), MilliSeconds(300));
    // No equal shares are asked for: TIMELY has no unique fixed point (CoNEXT 2016, theorem 4).
    EXPECT_GT(rates.at(1) + rates.at(2), 0.9 * PAYLOAD_RATE);
    // Rates shrink only once the round trip passes T_low = 50 us, so the queue reaches that, less
    // the base round trip: 39 kB; and they shrink at once, far from T_high = 500 us.
    const auto longest = static_cast<double>(GetLongestQueueBytes());
    EXPECT_GT(longest, (50 - 18.5) * 1e-6 * 10e9 / 8);
    EXPECT_LT(longest, 2 * (50 - 18.5) * 1e-6 * 10e9 / 8);
}

/// The second flow ends after 50 ms.
class TimelyGrowthTest : public TwoFlowTest
{
  protected:
    static constexpr int64_t END_MS = 50;

    void OnDelivered(uint64_t tag) override
    {
        if (tag / 1000 == 1 || Simulator::Now() < MilliSeconds(END_MS))
        {
            TwoFlowTest::OnDelivered(tag);
        }
    }

    // NOLINTNEXTLINE(performance-unnecessary-value-param): the signature of the trace source
    void OnRate(uint32_t src, uint32_t, uint32_t, double bitRate, Time at)
    {
        if (src == 1 && Simulator::Now() > MilliSeconds(END_MS + 2))
        {
            m_rates.emplace_back(at.GetSeconds(), bitRate);
        }
    }

    /// Runs, and checks the growth of the first flow's rate in segments of so many packets.
    void CheckGrowth(uint32_t packets)
    {
        m_messageBytes = uint64_t{1418} * 160; // whole segments: ends of messages answer too
        InstallWith("timely", 1418, MicroSeconds(4));
        m_transport->TraceConnectWithoutContext("Rate",
                                                MakeCallback(&TimelyGrowthTest::OnRate, this));
        Start(1, 0);
        Start(2, 0);
        Simulator::Stop(MilliSeconds(END_MS + 40));
        Simulator::Run();
        std::erase_if(m_rates, [](const auto& entry) { return entry.second > 9.5e9; });
        ASSERT_GT(m_rates.size(), 50U);
        // Alone on the link its round trip is below T_low: a step of 10 Mb/s an acknowledgement,
        // of which there is one every S / R. dR/dt = delta R / S, so that from R0 on it takes
        // S / delta ln(R / R0).
        for (size_t i = 1; i < m_rates.size(); ++i)
        {
            ASSERT_NEAR(m_rates[i].second - m_rates[i - 1].second, 10e6, 1.0);
        }
        const auto [from, first] = m_rates.front();
        const auto [until, last] = m_rates.back();
        const auto segmentBits = packets * PACKET * 8;
        const auto expected = segmentBits / 10e6 * std::log(last / first);
        EXPECT_NEAR(until - from, expected, 0.01 * expected);
    }

    std::vector<std::pair<double, double>> m_rates; //!< seconds, bits per second
};

TEST_F(TimelyGrowthTest, IsExponentialInSegments)
{
    CheckGrowth(16);
}

TEST_F(TimelyGrowthTest, HasTheSegmentsThatAreAcknowledgedIfThoseAreShorter)
{
    Set("AckEvery", UintegerValue(8));
    CheckGrowth(8);
}

TEST_F(TwoFlowTest, HpccLeavesFivePercentIdleAndNoQueue)
{
    SetControl("hpcc", "ExpectedFlows", UintegerValue(20));
    InstallWith("hpcc", 1376); // 42 B of telemetry: still 1500 B on the wire
    Start(1, 0);
    Simulator::Schedule(MilliSeconds(5), [this] { Start(2, 0); });
    const auto rates = MeasureRates(MilliSeconds(100), MilliSeconds(200));
    const auto total = rates.at(1) + rates.at(2);
    // Where W = W (eta / U) + W_AI: U = eta + N (1 - eta) / 20 = 0.955.
    EXPECT_NEAR(total / (10e9 * 1376 / 1500), 0.955, 0.01);
    EXPECT_NEAR(rates.at(1) / total, 0.5, 0.02);
    EXPECT_LT(GetMeanQueueBytes(), PACKET);
}

TEST_F(TwoFlowTest, HpccDrainsTheQueueOfANewcomerInAFewRoundTrips)
{
    InstallWith("hpcc", 1376);
    Start(1, 0);
    Simulator::Schedule(MilliSeconds(2), [this] { Start(2, 0); });
    MeasureRates(MilliSeconds(2) + MicroSeconds(uint64_t{5} * 43), MilliSeconds(3));
    // The newcomer's first window is one bandwidth-delay product, 53 kB, on top of a busy link.
    const auto longest = m_transport->GetLinkStatistics()[GetBottleneck()].maxQueueBytes;
    EXPECT_GT(static_cast<double>(longest), 10 * PACKET);
    EXPECT_LT(GetMeanQueueBytes(), 2 * PACKET);
}

/// Four flows into one host.
class FairShareTest : public tests::BottleneckFixture,
                      public ::testing::WithParamInterface<const char*>
{
};

TEST_P(FairShareTest, FlowsGetEqualSharesWithinTwoPercent)
{
    constexpr uint32_t FLOWS = 4;
    Set("CongestionControl", StringValue(GetParam()));
    Set("Mtu", UintegerValue(4096));
    SetControl("hpcc", "ExpectedFlows", UintegerValue(FLOWS));
    SetFabric("EcnMaxProbability", DoubleValue(0.1));
    InstallStar(FLOWS + 1, "10Gbps", MicroSeconds(20)); // 100 kB under way: several packets each
    for (uint32_t src = 1; src <= FLOWS; ++src)
    {
        Start(src, 0);
    }
    const auto rates = MeasureRates(MilliSeconds(100), MilliSeconds(1100));
    ASSERT_EQ(rates.size(), FLOWS);
    const auto total =
        std::accumulate(rates.begin(), rates.end(), 0.0, [](auto sum, const auto& r) {
            return sum + r.second;
        });
    for (const auto& [src, rate] : rates)
    {
        EXPECT_NEAR(rate / (total / FLOWS), 1.0, 0.02) << "flow " << src;
    }
}

INSTANTIATE_TEST_SUITE_P(Algorithms,
                         FairShareTest,
                         ::testing::Values("none", "dcqcn", "dctcp", "hpcc", "swift"));

} // namespace
} // namespace ns3::gradsync
