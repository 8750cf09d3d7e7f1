// SPDX-License-Identifier: GPL-2.0-only
#include "unit/transport/roce-fixture.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

namespace ns3::gradsync
{
namespace
{

/// Counts how often each byte of each message is taken.
class ByteChecker
{
  public:
    void OnPayload(uint64_t tag, uint64_t offset, uint32_t bytes)
    {
        auto& counts = m_counts[tag];
        counts.resize(std::max<size_t>(counts.size(), offset + bytes));
        for (auto i = offset; i < offset + bytes; ++i)
        {
            ++counts[i];
        }
    }

    /// True when the message was taken whole and each byte once.
    bool IsExact(uint64_t tag, uint64_t bytes) const
    {
        const auto found = m_counts.find(tag);
        return found != m_counts.end() && found->second.size() == bytes &&
               std::all_of(found->second.begin(), found->second.end(), [](auto count) {
                   return count == 1;
               });
    }

  private:
    std::map<uint64_t, std::vector<uint8_t>> m_counts;
};

/// Random traffic in which every message must arrive exactly once, in the order of its connection.
struct StressCase
{
    double lossRate;
    bool pfc;
    uint64_t bufferBytes;
    uint32_t ackEvery;
    uint32_t windowPackets;
    const char* congestionControl = "none";
    const char* recovery = "go-back-n";
    const char* loadBalancing = "hash";
    uint32_t reorderTolerance = 0;
};

StressCase
Selective(double lossRate,
          const char* loadBalancing,
          uint32_t reorderTolerance,
          const char* congestionControl = "none")
{
    return {lossRate,
            true,
            200000,
            16,
            0,
            congestionControl,
            "selective-repeat",
            loadBalancing,
            reorderTolerance};
}

class RoceStressTest : public RoceTransportTest, public ::testing::WithParamInterface<StressCase>
{
  protected:
    /// Random messages under way, each tagged with its index. \return their sizes, bytes
    std::vector<uint64_t> Start(size_t prefetchPorts);
    /// Likewise many small ones to each of many others, several on a connection.
    void StartBursts();
};

std::vector<uint64_t>
RoceStressTest::Start(size_t prefetchPorts)
{
    const auto& c = GetParam();
    UseRadixScheduler();
    SetFabric("PrefetchPorts", UintegerValue(prefetchPorts));
    SetFabric("PrefetchPackets", UintegerValue(SIZE_MAX));
    SetFabric("LossRate", DoubleValue(c.lossRate));
    SetFabric("Pfc", BooleanValue(c.pfc));
    SetFabric("BufferBytes", UintegerValue(c.bufferBytes));
    Set("AckEvery", UintegerValue(c.ackEvery));
    Set("WindowPackets", UintegerValue(c.windowPackets));
    Set("CongestionControl", StringValue(c.congestionControl));
    Set("Recovery", StringValue(c.recovery));
    Set("ReorderTolerance", UintegerValue(c.reorderTolerance));
    SetFabric("LoadBalancing", StringValue(c.loadBalancing));
    InstallPatientRacks();

    std::mt19937 random(11);
    std::vector<uint64_t> sizes;
    for (uint64_t tag = 0; tag < 600; ++tag)
    {
        const uint32_t src = random() % 12;
        const uint32_t dst = (src + 1 + random() % 11) % 12;
        const uint64_t size = random() % 30000;
        sizes.push_back(size);
        const uint32_t stream = random() % 2;
        Simulator::Schedule(MicroSeconds(random() % 2000), [this, src, dst, size, tag, stream] {
            Send(src, dst, size, tag, stream);
        });
    }
    return sizes;
}

TEST_P(RoceStressTest, EveryMessageArrivesExactlyOnce)
{
    const auto& c = GetParam();
    ByteChecker checker;
    m_transport->TraceConnectWithoutContext("Payload",
                                            MakeCallback(&ByteChecker::OnPayload, &checker));
    const auto sizes = Start(0);
    Simulator::Run();
    EXPECT_THAT(m_handler.failures, ::testing::IsEmpty());
    EXPECT_EQ(m_handler.delivered.size(), sizes.size());
    EXPECT_THAT(m_handler.delivered, ::testing::Each(::testing::Pair(::testing::_, 1)));
    const auto statistics = m_transport->GetStatistics();
    EXPECT_EQ(statistics.goodputBytes, std::accumulate(sizes.begin(), sizes.end(), uint64_t{0}));
    for (uint64_t tag = 0; tag < sizes.size(); ++tag)
    {
        EXPECT_TRUE(checker.IsExact(tag, sizes[tag])) << "message " << tag;
    }
    if (c.pfc && c.lossRate == 0.0)
    {
        // Nothing is lost, and a tolerance of 1,000 packets is more than paths differ by.
        EXPECT_EQ(statistics.droppedPackets, 0u);
        EXPECT_EQ(statistics.retransmittedPackets, 0u);
    }
    else
    {
        EXPECT_GT(statistics.droppedPackets, 0u);
    }
}

TEST_P(RoceStressTest, PrefetchingChangesNothing)
{
    std::vector<std::tuple<Time, uint64_t, uint64_t, uint64_t>> outcomes;
    for (const size_t prefetchPorts : {size_t{0}, SIZE_MAX})
    {
        TearDown();
        SetUp();
        Start(prefetchPorts);
        Simulator::Run();
        const auto statistics = m_transport->GetStatistics();
        outcomes.emplace_back(m_handler.lastDelivery,
                              Simulator::GetEventCount(),
                              statistics.dataPacketHops,
                              statistics.droppedPackets);
    }
    EXPECT_EQ(outcomes[0], outcomes[1]);
}

void
RoceStressTest::StartBursts()
{
    Start(SIZE_MAX);
    std::mt19937 random(12);
    uint64_t tag = 1000;
    for (int burst = 0; burst < 60; ++burst)
    {
        const uint32_t src = random() % 12;
        const auto at = MicroSeconds(random() % 2000);
        const uint64_t size = random() % 4 == 0 ? 2500 : random() % 900;
        for (uint32_t i = 0; i < 66; ++i, ++tag)
        {
            const uint32_t dst = (src + 1 + i % 11) % 12;
            const auto bytes = size + random() % 2 * 4;
            Simulator::Schedule(at, [this, src, dst, bytes, tag] { Send(src, dst, bytes, tag); });
        }
    }
}

TEST_P(RoceStressTest, ReservationsChangeNothing)
{
    // A capture names connections by their queue pairs, and so has each keep its own.
    const auto folder = ::testing::TempDir();
    std::vector<std::tuple<std::map<uint64_t, Time>, uint64_t, uint64_t, uint64_t>> outcomes;
    std::vector<uint32_t> queuePairs;

    struct Case
    {
        bool isCaptured;
        uint32_t kept;
    };

    for (const auto& [isCaptured, kept] :
         {Case{true, 131072}, Case{false, 131072}, Case{false, 4}, Case{false, 0}})
    {
        TearDown();
        SetUp();
        m_handler = {};
        Set("KeptQueuePairs", UintegerValue(kept));
        StartBursts();
        if (isCaptured)
        {
            m_transport->Capture(0, folder);
        }
        Simulator::Run();
        m_transport->CloseCaptures();
        const auto statistics = m_transport->GetStatistics();
        outcomes.emplace_back(m_handler.deliveredAt,
                              Simulator::GetEventCount() + CountBeyondSimulator(statistics),
                              statistics.dataPacketHops,
                              statistics.retransmittedPackets);
        queuePairs.push_back(m_transport->CountQueuePairs());
    }
    EXPECT_EQ(std::get<0>(outcomes[0]).size(), 600U + 60 * 66);
    for (size_t other = 1; other < outcomes.size(); ++other)
    {
        EXPECT_EQ(outcomes[0], outcomes[other]);
        EXPECT_LE(queuePairs[other], queuePairs[other - 1]);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Networks,
    RoceStressTest,
    ::testing::Values(StressCase{0.0, true, 100000, 16, 0},
                      StressCase{0.0, true, 16000000, 1, 0},
                      StressCase{0.0, true, 100000, 0, 0},
                      StressCase{0.0, true, 100000, 4, 8},
                      StressCase{0.0, false, 30000, 16, 0},
                      StressCase{0.01, true, 200000, 16, 0},
                      StressCase{0.1, false, 100000, 4, 16},
                      StressCase{0.1, true, 200000, 16, 5},
                      StressCase{0.3, true, 200000, 1, 0},
                      StressCase{0.0, true, 100000, 16, 0, "dcqcn"},
                      StressCase{0.1, false, 100000, 4, 16, "dcqcn"},
                      StressCase{0.1, false, 100000, 4, 16, "dctcp"},
                      StressCase{0.1, false, 100000, 16, 0, "hpcc"},
                      StressCase{0.1, true, 200000, 16, 8, "swift"},
                      StressCase{0.1, true, 200000, 16, 0, "timely"},
                      Selective(0.0, "hash", 0),
                      Selective(0.01, "hash", 0),
                      Selective(0.3, "hash", 0),
                      Selective(0.0, "spray", 1000),
                      Selective(0.0, "adaptive", 1000),
                      Selective(0.1, "spray", 8),
                      Selective(0.1, "adaptive", 0),
                      Selective(0.1, "flowlet", 0, "dcqcn"),
                      Selective(0.1, "spray", 4, "dctcp"),
                      Selective(0.1, "hash", 0, "hpcc"),
                      Selective(0.0, "spray", 1000, "hpcc"),
                      Selective(0.0, "adaptive", 1000, "hpcc"),
                      StressCase{0.0, true, 100000, 16, 0, "none", "go-back-n", "flowlet"}));

} // namespace
} // namespace ns3::gradsync
