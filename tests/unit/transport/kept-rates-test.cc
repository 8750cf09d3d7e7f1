// SPDX-License-Identifier: GPL-2.0-only
// What congestion control has decided of a connection while it has nothing to send.
#include "roce-fixture.h"

#include "ns3/boolean.h"
#include "ns3/dcqcn-control.h"
#include "ns3/dctcp-control.h"
#include "ns3/enum.h"
#include "ns3/rate-profile.h"
#include "ns3/string.h"
#include "ns3/timely-control.h"
#include "ns3/uinteger.h"

#include <cmath>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// Halves the rate of a flow at each message, and remembers what it was told.
class HalvingControl final : public CongestionControl
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::gradsync::tests::HalvingControl")
                                .SetParent<CongestionControl>()
                                .SetGroupName("GradSync")
                                .AddConstructor<HalvingControl>();
        return tid;
    }

    void Open(CongestionFlow& flow) override
    {
        ++opened;
        SetRate(flow, flow.lineRate / 2);
    }

    void Resume(CongestionFlow& flow, TimeStepCount now) override
    {
        EXPECT_EQ(now, Simulator::Now().GetTimeStep());
        ++resumed;
        flow.stepsPerByte *= 2;
    }

    void Close(CongestionFlow& /* flow */) override
    {
        ++closed;
    }

    uint32_t opened{0};
    uint32_t resumed{0};
    uint32_t closed{0};
};

NS_OBJECT_ENSURE_REGISTERED(HalvingControl);

namespace
{

constexpr const char* HALVING = "ns3::gradsync::tests::HalvingControl";
constexpr TimeStepCount MICROSECOND = 1'000'000; // picoseconds

class KeptRatesTest : public RoceTransportTest
{
  protected:
    void InstallHalving()
    {
        Set("CongestionControl", StringValue(HALVING));
        Set("Mtu", UintegerValue(1000));
        InstallStar(3);
        m_control = DynamicCast<HalvingControl>(m_transport->GetCongestionControl(HALVING));
    }

    /// How long a message takes from an idle connection.
    Time Take(uint32_t src, uint32_t dst, uint64_t bytes)
    {
        const auto start = Simulator::Now();
        Send(src, dst, bytes, ++m_tag);
        // Long enough that the pace of the last packet holds nothing back.
        Simulator::Stop(MilliSeconds(10));
        Simulator::Run();
        return m_handler.lastDelivery - start;
    }

    /// Of a message of 10 packets of 1000 B at a share of 1 Gb/s: nine wait for their turn at that
    /// rate, then the last crosses two links of 1 us with its 1082 B on the wire.
    static Time GetTimeAt(double share)
    {
        const double packet = 8.0 * 1082 / 1e9;
        return Seconds(9 * packet / share + 2 * packet) + MicroSeconds(2);
    }

    Ptr<HalvingControl> m_control;
    uint64_t m_tag{0};
};

TEST_F(KeptRatesTest, AnIdleConnectionGoesOnWhereItWas)
{
    InstallHalving();
    for (int message = 1; message <= 4; ++message)
    {
        EXPECT_EQ(Take(0, 1, 10'000), GetTimeAt(std::pow(0.5, message))) << message;
    }
    EXPECT_EQ(m_control->opened, 1U);
    EXPECT_EQ(m_control->resumed, 3U);
    EXPECT_EQ(m_control->closed, 0U);
    // Others have rates of their own.
    EXPECT_EQ(Take(0, 2, 10'000), GetTimeAt(0.5));
    EXPECT_EQ(Take(1, 0, 10'000), GetTimeAt(0.5));
    EXPECT_EQ(m_control->opened, 3U);
}

TEST_F(KeptRatesTest, BeginsAnewWithoutThem)
{
    Set("KeepRates", BooleanValue(false));
    InstallHalving();
    for (int message = 1; message <= 4; ++message)
    {
        EXPECT_EQ(Take(0, 1, 10'000), GetTimeAt(0.5)) << message;
    }
    EXPECT_EQ(m_control->opened, 4U);
    EXPECT_EQ(m_control->closed, 4U);
    EXPECT_EQ(m_control->resumed, 0U);
}

TEST_F(KeptRatesTest, ForgetsAConnectionThatWasAbandoned)
{
    InstallHalving();
    Take(0, 1, 10'000);
    Send(0, 1, 10'000, 7);
    m_transport->Abandon([](uint32_t, uint32_t, const MessageHandler*) { return true; });
    Simulator::Run();
    EXPECT_EQ(m_control->closed, 1U);
    EXPECT_EQ(Take(0, 1, 10'000), GetTimeAt(0.5));
    EXPECT_EQ(m_control->opened, 2U);
}

TEST_F(KeptRatesTest, EveryFlowIsOpenedOnceWhateverTheOrderOfMessages)
{
    InstallHalving();
    std::mt19937 random(20261123);
    std::set<std::pair<uint32_t, uint32_t>> seen;
    for (uint32_t message = 1; message <= 200; ++message)
    {
        const auto src = static_cast<uint32_t>(random() % 3);
        const auto dst = (src + 1 + static_cast<uint32_t>(random() % 2)) % 3;
        const auto bytes = 1 + random() % 5000;
        // Some find their connection busy: neither opened nor resumed.
        m_transport->Send({src, dst, 0, bytes, message, &m_handler});
        if (random() % 2 == 0)
        {
            Simulator::Stop(MicroSeconds(random() % 1000));
            Simulator::Run();
        }
        seen.emplace(src, dst);
        EXPECT_EQ(m_control->opened, seen.size());
    }
    Simulator::Run();
    EXPECT_EQ(m_handler.delivered.size(), 200U);
    EXPECT_GT(m_control->resumed, 20U);
    EXPECT_EQ(m_control->closed, 0U);
}

TEST(DcqcnResume, TimersRanWhileTheConnectionWasIdle)
{
    tests::UsePicoseconds();
    auto control = CreateObject<DcqcnControl>();
    control->Install();
    CongestionFlow flow{};
    flow.lineRate = 40e9;
    control->Open(flow);
    control->OnNotification(flow, 0);
    // Equation 3 with R_T = 40: R_C = 40 - 20 / 2^k after k timers of 55 us.
    control->Resume(flow, 3 * (55 * MICROSECOND));
    EXPECT_DOUBLE_EQ(DcqcnControl::GetRate(flow), 37.5e9);
    EXPECT_DOUBLE_EQ(flow.stepsPerByte, 8e12 / 37.5e9);
    control->Resume(flow, 1000 * (55 * MICROSECOND));
    EXPECT_EQ(flow.stepsPerByte, 0.0);
}

TEST(DctcpResume, ObservesAWindowOfTheNewSequenceNumbers)
{
    tests::UsePicoseconds();
    auto control = CreateObject<DctcpControl>();
    control->Install();
    CongestionFlow flow{};
    flow.lineRate = 10e9;
    flow.baseRtt = 40 * MICROSECOND;
    flow.packetWireBytes = 1500;
    flow.windowLimit = UINT32_MAX;
    control->Open(flow);
    CongestionFeedback feedback{};
    feedback.ackedPsn = 10;
    feedback.newPackets = 10;
    feedback.nextPsn = 1000;
    control->OnAcknowledgement(flow, feedback, 0);
    control->Resume(flow, 0);
    const auto before = static_cast<const DctcpState*>(flow.state)->window;
    feedback.ackedPsn = 1; // far before the end of the old window, 1000
    feedback.newPackets = 1;
    feedback.markedPackets = 1;
    feedback.nextPsn = 20;
    control->OnAcknowledgement(flow, feedback, 0);
    // alpha = 15/16 after a window without marks, then 15/16 alpha + 1/16 (equation 1).
    const auto alpha = 15.0 / 16 * 15 / 16 + 1.0 / 16;
    EXPECT_NEAR(static_cast<const DctcpState*>(flow.state)->window, before * (1 - alpha / 2), 1e-9);
}

TEST(RateProfile, ScalesStepsInProportionToTheLinks)
{
    EXPECT_EQ(GetRateScale(PROFILE_PAPER, 400e9, 40e9), 1.0);
    EXPECT_EQ(GetRateScale(PROFILE_LINK, 400e9, 40e9), 10.0);
    EXPECT_EQ(GetRateScale(PROFILE_100G, 400e9, 40e9), 2.5);
    EXPECT_EQ(GetRateScale(PROFILE_25G, 400e9, 10e9), 2.5);
}

TEST(RateProfile, GivesDcqcnAndTimelyLargerSteps)
{
    tests::UsePicoseconds();
    for (const auto& [profile, scale] :
         std::vector<std::pair<std::string, double>>{{"paper", 1.0}, {"link", 2.5}, {"400G", 10.0}})
    {
        auto control = CreateObject<DcqcnControl>();
        control->SetAttribute("Profile", StringValue(profile));
        control->Install();
        CongestionFlow flow{};
        flow.lineRate = 100e9;
        control->Open(flow);
        control->OnNotification(flow, 0);
        control->OnNotification(flow, 1 * MICROSECOND); // R_T = 50, R_C = 25
        control->OnSent(flow, 0, (1 + 6 * 55) * MICROSECOND);
        // Five timers of fast recovery: R_C = 50 - 25 / 32; the sixth raises R_T by R_AI = 40 Mb/s.
        const auto target = 50e9 + scale * 40e6;
        EXPECT_NEAR(DcqcnControl::GetRate(flow), (target + 50e9 - 25e9 / 32) / 2, 1.0) << profile;

        auto timely = CreateObject<TimelyControl>();
        timely->SetAttribute("Profile", StringValue(profile));
        timely->Install();
        CongestionFlow other{};
        other.lineRate = 100e9;
        timely->Open(other);
        CongestionFeedback feedback{};
        for (const int64_t rttUs : {1000, 1000, 40})
        {
            feedback.roundTrip = rttUs * MICROSECOND;
            timely->OnAcknowledgement(other, feedback, 0);
        }
        // 100 (1 - 0.8 (1 - 500 / 1000)) Gb/s, then delta = 10 Mb/s for 10 Gb/s: 4 times as much as
        // DCQCN's 40 for 40, in proportion.
        const auto steps = profile == "paper" ? 1.0 : 4.0 * scale;
        EXPECT_NEAR(static_cast<const TimelyState*>(other.state)->rate, 60e9 + steps * 10e6, 1.0);
    }
}

TEST(TimelyUpdates, AnswerAQueueOnceARoundTrip)
{
    tests::UsePicoseconds();
    auto control = CreateObject<TimelyControl>();
    control->SetAttribute("Updates", StringValue("round-trip"));
    control->Install();
    CongestionFlow flow{};
    flow.lineRate = 10e9;
    control->Open(flow);
    const auto acknowledge = [&](uint32_t acked, uint32_t next) {
        CongestionFeedback feedback{};
        feedback.ackedPsn = acked;
        feedback.nextPsn = next;
        feedback.roundTrip = 1000 * MICROSECOND;
        control->OnAcknowledgement(flow, feedback, 0);
        return static_cast<const TimelyState*>(flow.state)->rate / 1e9;
    };
    acknowledge(1, 10); // the first tells no difference
    // Above T_high = 500 us: R (1 - 0.8 (1 - 500 / 1000)), once for all that left before.
    EXPECT_NEAR(acknowledge(10, 30), 10.0, 1e-9);
    EXPECT_NEAR(acknowledge(11, 30), 6.0, 1e-9);
    EXPECT_NEAR(acknowledge(30, 40), 6.0, 1e-9);
    EXPECT_NEAR(acknowledge(31, 40), 3.6, 1e-9);
    // A connection that was idle counts its packets from 0.
    control->Resume(flow, 0);
    EXPECT_NEAR(acknowledge(1, 5), 2.16, 1e-9);
}

} // namespace

} // namespace ns3::gradsync
