// SPDX-License-Identifier: GPL-2.0-only
// ATP beyond 2^32 packets, a terabyte of one job. Part of aggregation-tests.
#include "support/message-collector.h"
#include "support/picosecond-clock.h"
#include "unit/aggregation/slot-headers.h"

#include "ns3/atp-server.h"
#include "ns3/atp-switch.h"
#include "ns3/atp-worker.h"
#include "ns3/fabric-node.h"
#include "ns3/fabric-port.h"
#include "ns3/simulator.h"

#include <gtest/gtest.h>
#include <vector>

namespace ns3::gradsync
{
namespace
{

constexpr uint64_t WRAP = uint64_t{1} << 32;

AtpHeader
NumberAtp(uint32_t worker, uint64_t sequence)
{
    return {.bitmap = 1U << worker, .sequence = sequence, .job = JOB};
}

TEST(AtpNumbers, TheServerMergesAndForgetsAcross32Bits)
{
    constexpr uint32_t WINDOW = 4;
    AtpServer server(3, WINDOW);
    for (auto sequence = WRAP - 20; sequence < WRAP + 20; ++sequence)
    {
        const auto value = static_cast<int32_t>(sequence - WRAP);
        EXPECT_EQ(server.Merge(NumberAtp(0, sequence), std::vector{value}), nullptr);
        const auto* sum = server.Merge(NumberAtp(1, sequence), std::vector{1000});
        ASSERT_NE(sum, nullptr) << sequence;
        EXPECT_EQ(sum->values, std::vector{value + 1000});
    }
    EXPECT_EQ(server.GetOverlaps(), 0U);
    // What is two windows behind the last is forgotten: it begins anew, and overlaps with nothing.
    EXPECT_EQ(server.Merge(NumberAtp(0, WRAP - 1), std::vector{1}), nullptr);
    EXPECT_EQ(server.GetOverlaps(), 0U);
    EXPECT_NE(server.Merge(NumberAtp(0, WRAP + 19), std::vector{1}), nullptr); // known
}

TEST(AtpNumbers, AnAggregatorThatIsOverIsTakenAcross32Bits)
{
    // 7 aggregators do not divide 2^32: packet 2^32 meets that of 2^32 - 7, not that of 0.
    AtpSwitch atp({.aggregators = 7, .valueCount = 1, .window = 7});
    const auto contribute = [&atp](uint32_t worker, uint64_t sequence) {
        auto header = NumberAtp(worker, sequence);
        std::vector<int32_t> values{1};
        return atp.Contribute(7, header, values);
    };
    EXPECT_EQ(contribute(0, WRAP - 3), AtpVerdict::Held);
    EXPECT_EQ(contribute(1, WRAP + 4), AtpVerdict::Held);    // a window later: it is over
    EXPECT_EQ(contribute(0, WRAP - 3), AtpVerdict::Forward); // but not the other way round
    EXPECT_EQ(atp.GetCollisions(), 1U);
    EXPECT_EQ(contribute(0, WRAP + 5), AtpVerdict::Held); // another aggregator
}

/// What a worker sends, by number.
class NumbersSent : public FabricNode
{
  public:
    explicit NumbersSent(AggregationContents& contents)
        : m_contents(contents)
    {
    }

    void Receive(FabricPacket* packet, uint16_t, TimeStepCount) override
    {
        packets.push_back(m_contents.Get(*packet));
    }

    std::vector<AggregationPacket> packets;

  private:
    AggregationContents& m_contents;
};

TEST(AtpNumbers, AWorkerTakesTheAnswersToItsPacketsAcross32Bits)
{
    tests::UsePicoseconds();
    AggregationContents contents;
    PacketPool pool;
    pool.SetContents(&contents);
    NumbersSent network(contents);
    const Ptr<FabricPort> port{new FabricPort, false};
    port->Install(PeekPointer(Simulator::GetImplementation()),
                  DataRate("8Gbps"),
                  NanoSeconds(500),
                  &network,
                  0);
    const AggregationJob job{.number = JOB,
                             .driver = 0,
                             .valueCount = 62,
                             .wireBytes = 332,
                             .retryLimit = 3,
                             .expectsOverflow = false,
                             .pool = &pool,
                             .contents = &contents,
                             .tensor = nullptr,
                             .floats = nullptr,
                             .firstPacket = WRAP - 3};
    const AtpWorker::Settings settings{.server = 1,
                                       .maxWindow = 4,
                                       .firstTimeout = MilliSeconds(10),
                                       .timeout = MilliSeconds(10)};
    AtpWorker worker(job, settings, 0, 0, *port);
    tests::MessageCollector done;
    // 8 packets of 62 values of 4 bytes, 4 at a time.
    worker.Contribute({.group = 0,
                       .member = 0,
                       .index = 0,
                       .bytes = uint64_t{8} * 62 * 4,
                       .tag = 5,
                       .handler = &done});
    AggregationStatistics statistics;
    for (uint64_t number = WRAP - 3; number < WRAP + 5; ++number)
    {
        Simulator::Stop(MicroSeconds(10));
        Simulator::Run();
        ASSERT_FALSE(network.packets.empty()) << "nothing was sent for packet " << number;
        const auto packet = network.packets.front();
        network.packets.erase(network.packets.begin());
        EXPECT_EQ(packet.As<AtpHeader>().sequence, number);
        worker.OnResult(packet, statistics);
    }
    EXPECT_EQ(done.delivered.size(), 1U);
    EXPECT_EQ(worker.GetRetransmissions(), 0U);
    EXPECT_EQ(worker.GetResultBytes(), 8U * 62 * 4);
    worker.Stop();
    port->Disconnect();
    Simulator::Destroy();
}

} // namespace
} // namespace ns3::gradsync
