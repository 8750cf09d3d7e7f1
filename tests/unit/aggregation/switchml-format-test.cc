// SPDX-License-Identifier: GPL-2.0-only
// Workers that speak SwitchML's own formats: bytes and times against closed forms, sums whatever is
// lost, and the frames on the links as its published switch would answer them.
#include "unit/aggregation/p4-engine-fixture.h"
#include "unit/aggregation/slot-aggregation-fixture.h"

#include "ns3/aggregation-address.h"
#include "ns3/switchml-backoff.h"
#include "ns3/switchml-switch-frames.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;
using testing::ThrowsMessage;

/// 1 ns for each byte.
const DataRate BYTE_RATE("8Gbps");

/// A format, and what its packets weigh on the wire.
struct FormatCase
{
    const char* format;
    uint32_t values;
    uint32_t messagePackets; //!< 1 but in RoCEv2
    // Bytes of a message on the wire, and of its first packet: see below.
    uint64_t message;
    uint64_t first;
};

// Ethernet 14, IPv4 20, UDP 8, FCS 4, preamble 8 and gap 12 are 66 bytes a packet. Above UDP:
// - slot: header 20, 64 values of 4: 342;
// - switchml: switchml_h 8, exponents_h 2: 66 + 10 + 4 v = 332 or 1,100;
// - switchml-rocev2: ib_bth_h 12 and ib_icrc_h 4 in each packet: 82 + 4 v = 338 or 1,106; in a
//   message ib_reth_h 16 once, in the first packet, and ib_immediate_h 4 once, in the last.
const FormatCase FORMATS[] = {
    {"slot", 64, 1, 342, 342},
    {"switchml", 64, 1, 332, 332},
    {"switchml", 256, 1, 1100, 1100},
    {"switchml-rocev2", 64, 1, 358, 358},
    {"switchml-rocev2", 64, 2, 2 * 338 + 20, 354},
    {"switchml-rocev2", 64, 4, 4 * 338 + 20, 354},
    {"switchml-rocev2", 256, 4, 4 * 1106 + 20, 1122},
    {"switchml-rocev2", 256, 16, 16 * 1106 + 20, 1122},
};

class SwitchMlFormat : public SlotAggregationTest
{
  protected:
    void Choose(const FormatCase& c)
    {
        Set("slot.Format", StringValue(c.format));
        Set("slot.ValuesPerPacket", UintegerValue(c.values));
        Set("slot.MessagePackets", UintegerValue(c.messagePackets));
    }

    /// Another network, from nothing.
    void StartAgain(const FormatCase& c)
    {
        TearDown();
        m_engine = nullptr;
        SetUp();
        Choose(c);
    }

    AggregationStatistics GetSums() const
    {
        return m_transport->GetAggregation()->GetStatistics();
    }
};

class SwitchMlFormats : public SwitchMlFormat, public testing::WithParamInterface<FormatCase>
{
};

TEST_P(SwitchMlFormats, TakeTheBytesAndTheTimeOfTheirHeaders)
{
    const auto& c = GetParam();
    std::mt19937 random(c.values + c.messagePackets);
    for (uint32_t round = 0; round < 4; ++round)
    {
        const uint32_t workers = 2 + random() % 6;
        const uint64_t messages = 1 + random() % 6;
        // The last message is filled up, whatever it has.
        const auto perMessage = uint64_t{4} * c.values * c.messagePackets;
        const auto bytes = (messages - 1) * perMessage + 4 * (1 + random() % (perMessage / 4));
        StartAgain(c);
        Set("Values", StringValue("real"));
        InstallStar(workers, BYTE_RATE, MicroSeconds(2));
        // All packets fit the slots. The first of a message is the longest: it leaves the switch
        // when it is there, and the others right behind it. So the last result is there at twice
        // the delay, the time of all and that of a first one.
        const auto times = Run(MakeJob(workers, bytes));
        EXPECT_EQ(times.front(),
                  NanoSeconds(static_cast<int64_t>(messages * c.message + c.first)) +
                      MicroSeconds(4));
        const auto links = m_transport->GetLinkStatistics();
        ASSERT_EQ(links.size(), size_t{2} * workers);
        for (const auto& link : links)
        {
            EXPECT_EQ(link.wireBytes, messages * c.message);
            EXPECT_EQ(link.packets, messages * c.messagePackets);
            EXPECT_EQ(link.payloadBytes, bytes);
        }
        EXPECT_EQ(GetSums().checkedSums, messages * c.messagePackets * workers);
        EXPECT_EQ(GetSums().wrongSums, 0U);
        EXPECT_EQ(m_transport->GetStatistics().goodputBytes, workers * bytes);
    }
}

TEST_P(SwitchMlFormats, ClockThemselvesThroughFewSlots)
{
    // Two messages under way, of which each takes RTT = its time + that of a first packet + 2 d,
    // as long as two of them are shorter than that: 8 messages take 4 RTT and one message more.
    const auto& c = GetParam();
    Choose(c);
    Set("slot.Slots", UintegerValue(uint64_t{2} * c.messagePackets));
    Set("Values", StringValue("real"));
    InstallStar(3, BYTE_RATE, MicroSeconds(40));
    const auto times = Run(MakeJob(3, uint64_t{8} * c.messagePackets * c.values * 4, 2));
    const auto roundTrip =
        NanoSeconds(static_cast<int64_t>(c.message + c.first)) + MicroSeconds(80);
    for (const auto& time : times)
    {
        EXPECT_EQ(time, 4 * roundTrip + NanoSeconds(static_cast<int64_t>(c.message)));
    }
    EXPECT_EQ(times.size(), 2U);
    EXPECT_EQ(GetSums().wrongSums, 0U);
}

INSTANTIATE_TEST_SUITE_P(All, SwitchMlFormats, testing::ValuesIn(FORMATS));

TEST_F(SwitchMlFormat, FloatsAreTheSameSumsInAllFormats)
{
    // Exponents are those of 64 values, carried by the packet a batch earlier.
    AggregationStatistics expected;
    for (const auto index : {0, 1, 3})
    {
        StartAgain(FORMATS[index]);
        Set("Values", StringValue("float"));
        Set("slot.Slots", UintegerValue(16));
        InstallStar(5, BYTE_RATE, MicroSeconds(1));
        Run(MakeJob(5, 100 * PACKET_BYTES, 2));
        const auto sums = GetSums();
        EXPECT_EQ(sums.wrongSums, 0U);
        EXPECT_EQ(sums.checkedSums, 2U * 5 * 100);
        EXPECT_GT(sums.squaredSumErrors, 0.0);
        if (index > 0)
        {
            EXPECT_EQ(sums.squaredSumErrors, expected.squaredSumErrors);
            EXPECT_EQ(sums.squaredSums, expected.squaredSums);
            EXPECT_EQ(sums.largestSumError, expected.largestSumError);
        }
        expected = sums;
    }
}

/// Loss rate in percent.
class SwitchMlLoss : public SwitchMlFormat, public testing::WithParamInterface<int>
{
  protected:
    void ExpectExactSums(const FormatCase& c, bool hasRacks)
    {
        StartAgain(c);
        Set("slot.Slots", UintegerValue(uint64_t{8} * c.messagePackets));
        Set("RetryLimit", UintegerValue(1000));
        SetLoss(GetParam() / 100.0);
        if (hasRacks)
        {
            InstallRacks(3, 2);
        }
        else
        {
            InstallStar(6);
        }
        const auto packets = uint64_t{15} * c.messagePackets;
        Run(MakeJob(6, packets * 4 * c.values, 2));
        EXPECT_EQ(GetSums().checkedSums, 2U * 6 * packets) << c.format;
        EXPECT_EQ(GetSums().wrongSums, 0U) << c.format;
        EXPECT_GT(GetSums().retransmissions, 0U) << c.format;
    }
};

TEST_P(SwitchMlLoss, LeavesTheExactSums)
{
    for (const auto& c : FORMATS)
    {
        if (c.messagePackets <= 2) // see below
        {
            ExpectExactSums(c, false);
        }
    }
}

TEST_P(SwitchMlLoss, LeavesTheExactSumsOverTwoLevelsWithOneBitOfTheEpoch)
{
    ExpectExactSums(FORMATS[1], true);
}

INSTANTIATE_TEST_SUITE_P(Percent, SwitchMlLoss, testing::Values(1, 5, 10, 20, 40));

TEST_F(SwitchMlFormat, MayHaveWrongSumsWhereMessagesHavePacketsInTheMiddle)
{
    // SwitchMlSwitchFrames.MayMakeAMessageOfPacketsInTheWrongOrder, met by chance: a run ends by
    // it.
    Choose({"switchml-rocev2", 256, 4, 0, 0});
    Set("slot.Slots", UintegerValue(32));
    SetLoss(0.02);
    InstallStar(6);
    m_engine->AddJob(MakeJob(6, uint64_t{600} * 4 * 256));
    SlotAggregationTest::Run();
    EXPECT_EQ(GetSums().wrongSums, 1U);
    ASSERT_TRUE(m_engine->GetFailure());
    EXPECT_THAT(m_engine->GetFailure()->reason, HasSubstr("wrong sum at worker"));
}

TEST(SwitchMlBackoff, DoublesAfterMoreTimeoutsEachTime)
{
    SwitchMlBackoff backoff({MilliSeconds(10), 3, 2});
    std::vector<int64_t> milliseconds;
    for (uint32_t timeouts = 0; timeouts <= 15; ++timeouts)
    {
        milliseconds.push_back(backoff.GetTimeout().GetMilliSeconds());
        backoff.OnTimeout();
    }
    // After 3, then 5 more, then 7 more.
    EXPECT_THAT(
        milliseconds,
        testing::ElementsAre(10, 10, 10, 20, 20, 20, 20, 20, 40, 40, 40, 40, 40, 40, 40, 80));
    backoff.Reset();
    EXPECT_EQ(backoff.GetTimeout(), MilliSeconds(10));
}

TEST_F(SwitchMlFormat, WaitsAsTheClientDoesWhenNothingComesThrough)
{
    // Doubled after 2 timeouts, and after 3 more: at 100, 200, 400, 600, 800 and 1200 us, the
    // sixth.
    Choose(FORMATS[1]);
    SetLoss(1.0);
    Set("RetryLimit", UintegerValue(5));
    Set("slot.TimeoutThreshold", UintegerValue(2));
    Set("slot.TimeoutThresholdIncrement", UintegerValue(1));
    InstallStar(2);
    m_engine->AddJob(MakeJob(2, PACKET_BYTES));
    EXPECT_TRUE(SlotAggregationTest::Run().empty());
    ASSERT_TRUE(m_engine->GetFailure());
    EXPECT_THAT(m_engine->GetFailure()->reason, HasSubstr("after 5 timeouts"));
    EXPECT_EQ(Simulator::Now(), MicroSeconds(1200));
}

TEST_F(SwitchMlFormat, LosesAMessageWithOneOfItsPackets)
{
    // A message of 16 packets comes through less often than one of a packet: more is sent again.
    uint64_t retransmissions = 0;
    for (const uint32_t messagePackets : {1, 16})
    {
        StartAgain({"switchml-rocev2", 64, messagePackets, 0, 0});
        Set("slot.Slots", UintegerValue(64));
        SetLoss(0.02);
        Set("Values", StringValue("sizes"));
        InstallStar(4);
        Run(MakeJob(4, 640 * PACKET_BYTES));
        EXPECT_GT(GetSums().retransmissions, 3 * retransmissions);
        retransmissions = GetSums().retransmissions;
    }
}

TEST_F(SwitchMlFormat, KeepsAMessageInOnePipeline)
{
    // Four pipelines that are slower than the links, each with a queue of its own: were the packets
    // of a message spread over them, some would overtake others, and the switch would drop these.
    Choose({"switchml-rocev2", 64, 4, 0, 0});
    Set("Values", StringValue("real"));
    Set("Pipelines", UintegerValue(4));
    Set("PipelinePacketRate", DoubleValue(2e6));
    Set("ProcessingDelay", StringValue("400ns"));
    Set("slot.Timeout", StringValue("10ms"));
    InstallStar(7, BYTE_RATE, MicroSeconds(1));
    Run(MakeJob(7, 400 * PACKET_BYTES, 2));
    EXPECT_EQ(GetSums().checkedSums, 2U * 7 * 400);
    EXPECT_EQ(GetSums().wrongSums, 0U);
    EXPECT_EQ(GetSums().retransmissions, 0U);
}

/// Where a frame came from or went to.
FrameAddress
GetAddress(const std::vector<uint8_t>& frame, bool isSource)
{
    FrameAddress source;
    FrameAddress destination;
    ReadAddresses(frame, source, destination);
    return isSource ? source : destination;
}

TEST_F(SwitchMlFormat, PutsFramesOnTheLinksAsThePublishedSwitchAnswersThem)
{
    // Node 0 of a star is the switch, link i leads to worker i. What came to the switch goes to the
    // box of the published program, in the order of its arrival, and what left is what it answers.
    for (const auto& c : FORMATS)
    {
        if (c.format == std::string("slot"))
        {
            continue;
        }
        constexpr uint32_t WORKERS = 3;
        StartAgain(c);
        Set("Values", StringValue("real"));
        InstallStar(WORKERS, BYTE_RATE, MicroSeconds(1));
        FrameTap tap(*m_topology, m_transport);
        Run(MakeJob(WORKERS, uint64_t{10} * c.messagePackets * c.values * 4 - 12, 2));
        std::vector<std::vector<std::vector<uint8_t>>> expected(WORKERS);
        std::vector<std::vector<std::vector<uint8_t>>> answers(WORKERS);
        std::vector<SeenFrame> arrivals;
        for (const auto& frame : tap.frames)
        {
            const auto& link = m_topology->GetLinks()[frame.port / 2];
            if ((frame.port % 2 == 0 ? link.a : link.b) == 0)
            {
                expected[frame.port / 2].push_back(frame.bytes);
                continue;
            }
            arrivals.push_back(frame);
            // On the wire when its last byte is: FCS, preamble and gap are 24 bytes.
            arrivals.back().start +=
                NanoSeconds(static_cast<int64_t>(frame.bytes.size() + 24)).GetTimeStep();
        }
        std::ranges::stable_sort(arrivals, {}, [](const SeenFrame& frame) {
            return std::pair(frame.start, frame.port);
        });
        ASSERT_FALSE(arrivals.empty());
        std::vector<SwitchMlSwitchFrames::Worker> workers(WORKERS);
        for (uint16_t worker = 0; worker < WORKERS; ++worker)
        {
            workers[worker] = {worker, GetAddress(expected[worker].front(), false)};
        }
        SwitchMlSwitchFrames box({c.messagePackets > 1 || c.format == std::string("switchml-rocev2")
                                      ? FORMAT_SWITCHML_ROCE
                                      : FORMAT_SWITCHML,
                                  static_cast<uint16_t>(c.values),
                                  c.messagePackets},
                                 128,
                                 GetAddress(expected[0].front(), true),
                                 workers);
        for (const auto& frame : arrivals)
        {
            for (auto& answer : box.Process(static_cast<uint16_t>(frame.port / 2), frame.bytes))
            {
                answers[answer.port].push_back(std::move(answer.bytes));
            }
        }
        EXPECT_EQ(answers, expected) << c.format;
        EXPECT_EQ(expected[0].size(), 2U * 10 * c.messagePackets);
    }
}

/// What an installation says.
class SwitchMlRefusals : public SwitchMlFormat
{
  protected:
    void ExpectRefusal(const std::string& text)
    {
        EXPECT_THAT([&] { InstallStar(2); }, ThrowsMessage<std::invalid_argument>(HasSubstr(text)));
    }
};

TEST_F(SwitchMlRefusals, OfThePrograms)
{
    Set("Engine", StringValue("p4"));
    Set("slot.Format", StringValue("switchml"));
    ExpectRefusal("attribute Format is switchml, but P4 programs of switches get packets of the "
                  "format slot alone");
}

TEST_F(SwitchMlRefusals, OfPacketsThatItDrops)
{
    Set("slot.Format", StringValue("switchml"));
    Set("slot.ValuesPerPacket", UintegerValue(128));
    ExpectRefusal("ValuesPerPacket is 128, but with Format switchml it must be 64 or 256");
}

TEST_F(SwitchMlRefusals, OfMoreSlotsThanItHas)
{
    Set("slot.Format", StringValue("switchml"));
    Set("slot.PoolSlots", UintegerValue(8193));
    Set("slot.Slots", UintegerValue(8193));
    ExpectRefusal("Slots is 8193, but with Format switchml it must be at most 8192");
}

TEST_F(SwitchMlRefusals, OfMessagesThatFitNoSlots)
{
    Set("slot.Format", StringValue("switchml-rocev2"));
    Set("slot.MessagePackets", UintegerValue(3));
    ExpectRefusal("MessagePackets is 3, but must be a power of two");
}

TEST_F(SwitchMlRefusals, OfSlotsThatAreNoWholeMessages)
{
    Set("slot.Format", StringValue("switchml-rocev2"));
    Set("slot.Slots", UintegerValue(126));
    ExpectRefusal("Slots is 126, but must be a multiple of MessagePackets, which is 4");
}

TEST_F(SwitchMlRefusals, OfMoreQueuePairsThanItHas)
{
    Set("slot.Format", StringValue("switchml-rocev2"));
    Set("slot.Slots", UintegerValue(1024));
    Set("slot.MessagePackets", UintegerValue(1));
    ExpectRefusal("Slots is 1024, but SwitchML has 512 queue pairs a worker");
}

TEST_F(SwitchMlRefusals, OfMessagesInSlotsThatComeAndGo)
{
    Set("slot.Format", StringValue("switchml-rocev2"));
    Set("slot.Sharing", StringValue("dynamic"));
    ExpectRefusal("Sharing is dynamic, but a message of 4 packets needs slots of its own");
}

TEST_F(SwitchMlFormat, RefusesWhatItsOneSwitchCannotDo)
{
    const auto refusal = [this](uint32_t workers, const std::string& text) {
        EXPECT_THAT([&] { m_engine->AddJob(MakeJob(workers, 100)); },
                    ThrowsMessage<std::runtime_error>(HasSubstr(text)));
    };
    StartAgain(FORMATS[1]);
    InstallStar(33);
    refusal(33, "switch leaf0 would have to aggregate 33 workers, but SwitchML's bitmaps hold 32");
    StartAgain(FORMATS[5]);
    InstallRacks(2, 2);
    refusal(4, "but attribute Format is switchml-rocev2, whose messages end at one switch");
    StartAgain(FORMATS[5]);
    Set("Values", StringValue("float"));
    InstallStar(2);
    refusal(2, "attribute MessagePackets is 4, but a message has one exponent");
}

} // namespace
} // namespace ns3::gradsync
