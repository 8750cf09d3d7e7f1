// SPDX-License-Identifier: GPL-2.0-only
#include "support/picosecond-clock.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/factory-text.h"
#include "ns3/queue-disc.h"
#include "ns3/queue-size.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/star-topology.h"
#include "ns3/string.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-transport.h"
#include "ns3/uinteger.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t SEGMENT = 1448;
constexpr uint64_t FRAME = SEGMENT + 54; //!< PPP 2, IPv4 20, TCP with time stamps 32

class OrderedHandler : public MessageHandler
{
  public:
    void OnDelivered(uint64_t tag) override
    {
        delivered.push_back(tag);
        at[tag] = Simulator::Now();
    }

    void OnFailed(uint64_t tag, const std::string& reason) override
    {
        failures[tag] = reason;
    }

    std::vector<uint64_t> delivered;
    std::map<uint64_t, Time> at;
    std::map<uint64_t, std::string> failures;
};

class TcpTransportTest : public testing::Test
{
  protected:
    void SetUp() override
    {
        tests::UsePicoseconds();
        RngSeedManager::SetSeed(1);
        m_transport->TraceConnectWithoutContext("Timeout",
                                                MakeCallback(&TcpTransportTest::OnTimeout, this));
    }

    void TearDown() override
    {
        m_transport->Dispose();
        Simulator::Destroy();
    }

    /// Hosts around one switch, 1 Gb/s (8 ns a byte), 1 us a link.
    void InstallStar(uint32_t hosts)
    {
        StarOptions options;
        options.hosts = hosts;
        options.hostLink = {DataRate("1Gbps"), MicroSeconds(1)};
        auto topology = std::make_shared<Topology>(MakeStarTopology(options));
        m_transport->Install(topology, std::make_shared<RoutingTables>(*topology));
    }

    void Set(const char* name, const AttributeValue& value)
    {
        m_transport->SetAttribute(name, value);
    }

    void Send(uint32_t src, uint32_t dst, uint64_t bytes, uint64_t tag)
    {
        m_transport->Send({src, dst, 0, bytes, tag, &m_handler});
    }

    void OnTimeout(uint32_t /* src */, uint32_t /* dst */)
    {
        ++m_timeouts;
    }

    /// `senders` hosts send `segments` each to host 0 at once. \returns when the last one is
    /// through
    Time Incast(uint32_t senders, uint32_t segments)
    {
        InstallStar(senders + 1);
        for (uint32_t host = 1; host <= senders; ++host)
        {
            Send(host, 0, uint64_t{segments} * SEGMENT, host);
        }
        Simulator::Run();
        EXPECT_EQ(m_handler.delivered.size(), senders);
        EXPECT_EQ(m_transport->GetStatistics().goodputBytes,
                  uint64_t{senders} * segments * SEGMENT);
        Time last;
        for (const auto& [tag, time] : m_handler.at)
        {
            last = std::max(last, time);
        }
        return last;
    }

    OrderedHandler m_handler;
    uint32_t m_timeouts{0};
    Ptr<TcpTransport> m_transport{CreateObject<TcpTransport>()};
};

TEST_F(TcpTransportTest, AMessageOnAnOpenConnectionTakesTheTimeOfItsWire)
{
    InstallStar(2);
    Send(0, 1, 10 * SEGMENT, 1);
    Simulator::Schedule(MilliSeconds(500), [this] { Send(0, 1, 10 * SEGMENT, 2); });
    Simulator::Run();
    // Ten segments are the initial window: they leave back to back. Ten frames on the first link,
    // the last one once more on the second, two propagation delays; no handshake any more.
    // ns-3 computes each of the 11 serialisations in binary fractions, off by a picosecond at most.
    EXPECT_NEAR(static_cast<double>((m_handler.at[2] - MilliSeconds(500)).GetPicoSeconds()),
                1000.0 * static_cast<double>(11 * FRAME * 8 + 2000),
                11.0);
}

TEST_F(TcpTransportTest, CountsEveryByteOnEveryLink)
{
    InstallStar(2);
    Send(0, 1, 10 * SEGMENT + 1, 1);
    Simulator::Run();
    const auto links = m_transport->GetLinkStatistics();
    ASSERT_EQ(links.size(), 4U);
    uint64_t payload = 0;
    uint64_t carrying = 0;
    for (const auto& link : links)
    {
        payload += link.payloadBytes;
        carrying += link.payloadBytes > 0 ? 1 : 0;
    }
    EXPECT_EQ(carrying, 2U); // to the switch and from it
    EXPECT_EQ(payload, 2U * (10 * SEGMENT + 1));
    const auto totals = m_transport->GetStatistics();
    EXPECT_EQ(totals.dataPacketHops, 2U * 11);
    EXPECT_EQ(totals.goodputBytes, 10U * SEGMENT + 1);
    EXPECT_EQ(totals.retransmittedPackets, 0U);
    EXPECT_EQ(totals.droppedPackets, 0U);
}

TEST_F(TcpTransportTest, DeliversTheMessagesOfAConnectionInOrderEmptyOnesToo)
{
    InstallStar(2);
    Send(0, 1, 100'000, 1);
    Send(0, 1, 0, 2);
    Send(0, 1, 1, 3);
    Simulator::Run();
    EXPECT_THAT(m_handler.delivered, ElementsAre(1, 2, 3));
    EXPECT_EQ(m_transport->GetStatistics().goodputBytes, 100'001U);
}

TEST_F(TcpTransportTest, ALossThatOnlyATimerFindsCostsTheSmallestTimeout)
{
    // 15 initial windows of 10 segments meet a queue of 16 packets: some flows lose the end of
    // their window, which no duplicate acknowledgement reports.
    Set("QueueSize", QueueSizeValue(QueueSize("16p")));
    const auto last = Incast(15, 10);
    EXPECT_GT(m_timeouts, 0U);
    EXPECT_GT(m_transport->GetStatistics().retransmittedPackets, 0U);
    EXPECT_GE(last, Seconds(1)); // MinRto
}

TEST_F(TcpTransportTest, AShorterSmallestTimeoutShortensTheIncast)
{
    Set("QueueSize", QueueSizeValue(QueueSize("16p")));
    Set("MinRto", TimeValue(MilliSeconds(5)));
    const auto last = Incast(15, 10);
    EXPECT_GT(m_timeouts, 0U);
    // The wire alone needs 15 * 10 frames of 12 us = 1.8 ms. Six timeouts that double from 5 ms,
    // after which ns-3 would give up, are 315 ms.
    EXPECT_GE(last, MilliSeconds(5));
    EXPECT_LT(last, MilliSeconds(315));
}

TEST_F(TcpTransportTest, DctcpHoldsTheQueueNearItsThreshold)
{
    constexpr uint32_t Threshold = 20;
    Set("CongestionOps", StringValue("TcpDctcp"));
    Set("QueueDisc",
        StringValue("ns3::RedQueueDisc[MinTh=20|MaxTh=20|QW=1|UseEcn=true|UseHardDrop=false|"
                    "MaxSize=1000p]"));
    Set("Ecn", BooleanValue(true));
    Incast(2, 4000);
    const auto totals = m_transport->GetStatistics();
    EXPECT_GT(totals.ecnMarkedPackets, 0U);
    EXPECT_EQ(totals.droppedPackets, 0U);
    EXPECT_EQ(totals.retransmittedPackets, 0U);
    // Alizadeh et al., SIGCOMM 2010, section 3.3: the largest queue in steady state is K + N. Slow
    // start overshoots it: within the round trip in which marks return, N windows double once.
    uint64_t largest = 0;
    const auto links = m_transport->GetLinkStatistics();
    for (size_t i = 1; i < links.size(); i += 2)
    {
        largest = std::max({largest, links[i].maxQueueBytes});
    }
    EXPECT_GT(largest, uint64_t{Threshold} * 1000);
    EXPECT_LT(largest, uint64_t{4} * Threshold * FRAME);
}

TEST_F(TcpTransportTest, LossOnLinksIsRecovered)
{
    Set("LossRate", DoubleValue(0.01));
    Set("MinRto", TimeValue(MilliSeconds(10)));
    Incast(3, 1000);
    const auto totals = m_transport->GetStatistics();
    EXPECT_GT(totals.droppedPackets, 0U);
    EXPECT_GT(totals.retransmittedPackets, 0U);
    // Messages of whole segments: none is short.
    EXPECT_EQ(totals.retransmittedBytes, totals.retransmittedPackets * SEGMENT);
}

TEST_F(TcpTransportTest, AReceiverThatNeverAnswersEndsInANamedError)
{
    Set("LossRate", DoubleValue(1.0));
    InstallStar(2);
    Send(0, 1, 1000, 7);
    Simulator::Run();
    EXPECT_THAT(m_handler.failures[7], HasSubstr("no answer to the connection request"));
    Send(0, 1, 1000, 8); // too late
    Simulator::Run();
    EXPECT_THAT(m_handler.failures[8], HasSubstr("no answer to the connection request"));
}

TEST_F(TcpTransportTest, ReportsAnUnreachableReceiver)
{
    auto topology = std::make_shared<Topology>();
    topology->AddNode("a", NodeKind::Host, 0);
    topology->AddNode("b", NodeKind::Host, 0);
    m_transport->Install(topology, std::make_shared<RoutingTables>(*topology));
    Send(0, 1, 1000, 7);
    Simulator::Run();
    EXPECT_EQ(m_handler.failures[7], "no path from endpoint 0 to endpoint 1");
}

TEST_F(TcpTransportTest, RejectsMessagesThatNoNetworkCanCarry)
{
    InstallStar(2);
    EXPECT_THROW(Send(0, 0, 1, 1), std::invalid_argument);
    EXPECT_THROW(Send(0, 2, 1, 1), std::invalid_argument);
}

TEST_F(TcpTransportTest, SurvivesDisposalWithMessagesUnderWay)
{
    InstallStar(2);
    Send(0, 1, 1'000'000, 1);
    Simulator::Stop(MilliSeconds(1));
    Simulator::Run();
    m_transport->Dispose();
    Simulator::Run();
    EXPECT_TRUE(m_handler.delivered.empty());
}

class TcpCongestionTest : public TcpTransportTest, public testing::WithParamInterface<const char*>
{
};

TEST_P(TcpCongestionTest, CarriesAnIncastWhole)
{
    Set("CongestionOps", StringValue(GetParam()));
    Set("MinRto", TimeValue(MilliSeconds(10)));
    const auto last = Incast(4, 500);
    // Not faster than the wire of the receiver, whose handshakes overlap.
    EXPECT_GT(last, NanoSeconds(FRAME * 4 * 500 * 8));
}

INSTANTIATE_TEST_SUITE_P(
    Ns3,
    TcpCongestionTest,
    testing::Values("ns3::TcpNewReno", "ns3::TcpLinuxReno", "ns3::TcpCubic", "TcpDctcp", "TcpBbr"));

TEST(FactoryText, NamesWhatIsWrong)
{
    const auto messageOf = [](const std::string& text) -> std::string {
        try
        {
            ParseFactory(text, QueueDisc::GetTypeId());
        }
        catch (const std::invalid_argument& error)
        {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(messageOf("ns3::BlueQueueDisc"), HasSubstr("there are ns3::"));
    EXPECT_THAT(messageOf("ns3::TcpCubic"), HasSubstr("no QueueDisc \"ns3::TcpCubic\""));
    EXPECT_THAT(messageOf("RedQueueDisc[MinTh=5"), HasSubstr("lacks the closing ]"));
    EXPECT_EQ(messageOf("RedQueueDisc[Threshold=5]"),
              "ns3::RedQueueDisc has no Attribute \"Threshold\"");
    EXPECT_THAT(messageOf("RedQueueDisc[MinTh=few]"), HasSubstr("cannot be \"few\""));
    EXPECT_EQ(messageOf("RedQueueDisc[MinTh=5|UseEcn=true]"), "");
    EXPECT_EQ(messageOf("RedQueueDisc[LinkBandwidth=1.5Mbps|LinkDelay=20ms|QW=-1.5e-3]"), "");
    EXPECT_EQ(messageOf("RedQueueDisc[MaxSize=25p|FengAdaptive=0]"), "");
    for (const auto* wrong : {"MinTh=.5", "LinkDelay=20min", "MaxSize=25", "UseEcn=yes"})
    {
        EXPECT_THAT(messageOf(fmt::format("RedQueueDisc[{}]", wrong)), HasSubstr("cannot be"));
    }
}

TEST(FactoryText, RefusesWhatNamesNoEnumerator)
{
    // Newer releases of ns-3 end the program at it.
    const auto parent = TcpCongestionOps::GetTypeId();
    EXPECT_NO_THROW(ParseFactory("TcpLedbat[SSParam=no]", parent));
    EXPECT_THROW(ParseFactory("TcpLedbat[SSParam=maybe]", parent), std::invalid_argument);
}

TEST(FactoryText, KnowsEveryCongestionControl)
{
    const auto& parent = TcpCongestionOps::GetTypeId();
    EXPECT_EQ(ParseType("TcpCubic", parent).GetName(), "ns3::TcpCubic");
    EXPECT_EQ(ParseType("ns3::TcpBbr", parent).GetName(), "ns3::TcpBbr");
}

TEST_F(TcpTransportTest, ADeadLinkLosesWhatIsSentAndTcpRecoversByItsTimeout)
{
    InstallStar(2);
    Set("MinRto", TimeValue(MilliSeconds(5)));
    Send(0, 1, 200 * SEGMENT, 1);
    LinkState dead;
    dead.up = false;
    Simulator::Schedule(MilliSeconds(1), &TcpTransport::SetLinkState, m_transport, 0, dead);
    Simulator::Schedule(MilliSeconds(3), &TcpTransport::SetLinkState, m_transport, 0, LinkState{});
    Simulator::Run();
    // 200 segments take 2.4 ms; nothing arrives from 1 to 3 ms, and then only the timeout, 5 ms
    // after the last acknowledgement, brings the rest, 1.4 ms in slow start.
    ASSERT_THAT(m_handler.delivered, ElementsAre(1));
    EXPECT_GE(m_handler.at[1], MilliSeconds(6));
    EXPECT_LE(m_handler.at[1], MilliSeconds(15));
    EXPECT_GE(m_timeouts, 1U);
    EXPECT_GT(m_transport->GetStatistics().droppedPackets, 0U);
    EXPECT_GT(m_transport->GetStatistics().retransmittedPackets, 0U);
}

TEST_F(TcpTransportTest, ADegradedLinkHasItsShareOfTheRate)
{
    const auto measure = [this](double rateShare) {
        InstallStar(2);
        LinkState state;
        state.rateShare = rateShare;
        state.extraDelay = MicroSeconds(100);
        m_transport->SetLinkState(1, state);
        Send(0, 1, 2000 * SEGMENT, 1);
        Simulator::Run();
        return m_handler.at[1];
    };
    // 2000 frames at a quarter of 1 Gb/s: 96 ms; handshake and slow start cost at most 4 ms more.
    const auto last = measure(0.25);
    EXPECT_GT(last, NanoSeconds(2000 * FRAME * 8 * 4));
    EXPECT_LT(last, NanoSeconds(2000 * FRAME * 8 * 4) + MilliSeconds(4));
}

TEST_F(TcpTransportTest, AFloodTakesItsShareOfTheLink)
{
    // Half of the link is left, so that a message of 50 MB takes twice as long: 0.4 s and headers.
    // Not to be measured to the packet: the flood takes its turns among the segments.
    const auto run = [this](uint64_t floodBitRate) {
        InstallStar(2);
        Send(0, 1, 50'000'000, 1);
        LinkState state;
        state.floodBitRate = floodBitRate;
        m_transport->SetLinkState(0, state);
        Simulator::Schedule(Seconds(2), [this] { m_transport->SetLinkState(0, LinkState()); });
        Simulator::Run();
        return m_handler.at.at(1).GetSeconds();
    };
    const auto flooded = run(500'000'000);
    const auto wire = m_transport->GetLinkStatistics()[0].wireBytes;
    EXPECT_NEAR(flooded, 2 * 0.4 * FRAME / SEGMENT, 0.02);
    // Two seconds of it; none of it is data, and nobody misses it.
    EXPECT_GT(wire, 2 * 500'000'000ULL / 8);
    EXPECT_EQ(m_transport->GetStatistics().goodputBytes, 50'000'000U);
}

TEST_F(TcpTransportTest, APausedHostIsCutOffBothWaysUntilItIsBack)
{
    Set("MinRto", TimeValue(MilliSeconds(10)));
    InstallStar(3);
    Send(0, 1, 10 * SEGMENT, 1);
    Send(1, 2, 10 * SEGMENT, 2);
    Send(0, 2, 10 * SEGMENT, 3);
    const auto set = [this](bool isThere) {
        m_transport->SetEndpointState(1, {.sends = isThere, .receives = isThere});
    };
    Simulator::Schedule(MicroSeconds(30), [set] { set(false); });
    Simulator::Schedule(MilliSeconds(50), [set] { set(true); });
    Simulator::Run();
    EXPECT_GT(m_handler.at[1], MilliSeconds(50));
    EXPECT_GT(m_handler.at[2], MilliSeconds(50));
    EXPECT_LT(m_handler.at[3], MilliSeconds(1));
    EXPECT_THROW(m_transport->SetEndpointState(1, {.sends = false, .receives = true}),
                 std::invalid_argument);
}

} // namespace
} // namespace ns3::gradsync
