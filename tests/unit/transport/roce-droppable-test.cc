// SPDX-License-Identifier: GPL-2.0-only
// Messages parts of which may be lost.
#include "unit/transport/roce-fixture.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <vector>

namespace ns3::gradsync
{
namespace
{

struct DroppableCase
{
    double lossRate;
    bool pfc;
    uint32_t ackEvery;
    uint32_t windowPackets;
    const char* congestionControl = "none";
};

/// Which bytes of which messages were taken.
class TakenBytes
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

    /// Of a message that was taken to its end.
    const std::vector<uint8_t>& Get(uint64_t tag)
    {
        return m_counts[tag];
    }

  private:
    std::map<uint64_t, std::vector<uint8_t>> m_counts;
};

class RoceDroppableTest : public RoceTransportTest,
                          public ::testing::WithParamInterface<DroppableCase>
{
  protected:
    void SendDroppable(uint32_t src, uint32_t dst, const Message& message)
    {
        auto sent = message;
        sent.src = src;
        sent.dst = dst;
        sent.handler = &m_handler;
        m_transport->Send(sent);
    }
};

TEST_P(RoceDroppableTest, WhatMayNotBeLostArrivesOnceAndTheRestAtMostOnce)
{
    const auto& c = GetParam();
    UseRadixScheduler();
    SetFabric("LossRate", DoubleValue(c.lossRate));
    SetFabric("Pfc", BooleanValue(c.pfc));
    SetFabric("BufferBytes", UintegerValue(200'000));
    SetFabric("DroppableBytes", UintegerValue(20'000));
    Set("AckEvery", UintegerValue(c.ackEvery));
    Set("WindowPackets", UintegerValue(c.windowPackets));
    Set("CongestionControl", StringValue(c.congestionControl));
    InstallPatientRacks();
    TakenBytes taken;
    m_transport->TraceConnectWithoutContext("Payload",
                                            MakeCallback(&TakenBytes::OnPayload, &taken));
    std::mt19937 random(29);
    std::vector<Message> messages;
    uint64_t total = 0;
    for (uint64_t tag = 0; tag < 600; ++tag)
    {
        const uint32_t src = random() % 12;
        const uint32_t dst = (src + 1 + random() % 11) % 12;
        const uint64_t bytes = 1 + random() % 30'000;
        // A third has none; the others any range that leaves the last byte out.
        const auto end = random() % 3 == 0 ? 0 : random() % bytes;
        const Message message{src,
                              dst,
                              static_cast<uint32_t>(random() % 2),
                              bytes,
                              tag,
                              nullptr,
                              {random() % (end + 1), end}};
        messages.push_back(message);
        total += bytes;
        Simulator::Schedule(MicroSeconds(random() % 2000),
                            [this, message] { SendDroppable(message.src, message.dst, message); });
    }
    Simulator::Run();

    EXPECT_THAT(m_handler.failures, ::testing::IsEmpty());
    EXPECT_EQ(m_handler.delivered.size(), messages.size());
    EXPECT_THAT(m_handler.delivered, ::testing::Each(::testing::Pair(::testing::_, 1)));
    uint64_t missing = 0;
    for (const auto& message : messages)
    {
        const auto& counts = taken.Get(message.tag);
        ASSERT_EQ(counts.size(), message.bytes);
        for (uint64_t i = 0; i < message.bytes; ++i)
        {
            const bool mayMiss = i >= message.droppable.begin && i < message.droppable.end;
            ASSERT_TRUE(counts[i] == 1 || (mayMiss && counts[i] == 0))
                << "byte " << i << " of message " << message.tag;
            missing += counts[i] == 0;
        }
    }
    const auto statistics = m_transport->GetStatistics();
    EXPECT_EQ(statistics.lostBytes, missing);
    EXPECT_EQ(statistics.goodputBytes + statistics.lostBytes, total);
    EXPECT_GT(missing, 0U);
}

INSTANTIATE_TEST_SUITE_P(Networks,
                         RoceDroppableTest,
                         ::testing::Values(DroppableCase{0.01, true, 16, 0},
                                           DroppableCase{0.3, true, 16, 0},
                                           DroppableCase{0.3, true, 1, 0},
                                           DroppableCase{0.1, false, 4, 16},
                                           DroppableCase{0.3, true, 16, 5},
                                           DroppableCase{0.0, true, 16, 0},
                                           DroppableCase{0.0, false, 0, 0},
                                           DroppableCase{0.0, true, 16, 8, "dcqcn"},
                                           DroppableCase{0.1, false, 16, 0, "dctcp"},
                                           DroppableCase{0.1, true, 16, 0, "hpcc"},
                                           DroppableCase{0.1, true, 16, 8, "swift"},
                                           DroppableCase{0.1, true, 16, 0, "timely"}));

TEST_F(RoceTransportTest, OnlyWhatMayNotBeLostIsSentAgain)
{
    // 100 packets of 1,000 bytes and one of 7, which alone may not be lost: whatever is sent again
    // is that one.
    for (const uint64_t seed : {1, 2, 3, 4, 5})
    {
        TearDown();
        SetUp();
        RngSeedManager::SetSeed(seed);
        SetFabric("LossRate", DoubleValue(0.6));
        Set("WindowPackets", UintegerValue(seed % 2 == 0 ? 8 : 0));
        InstallPatientRacks();
        m_transport->Send({0, 5, 0, 100'007, 1, &m_handler, {0, 100'006}});
        Simulator::Run();
        EXPECT_EQ(m_handler.delivered.size(), 1U);
        const auto statistics = m_transport->GetStatistics();
        EXPECT_EQ(statistics.retransmittedBytes, 7 * statistics.retransmittedPackets);
        EXPECT_EQ(statistics.goodputBytes + statistics.lostBytes, 100'007U);
        EXPECT_EQ(statistics.lostBytes % 1000, 0U);
    }
}

TEST_F(RoceTransportTest, LongQueuesDropWhatMayBeLost)
{
    // Eight hosts send 100 packets each to a ninth at the same rate: but for the last packets of
    // the messages, no frame makes the queue longer than 10,000 bytes.
    Set("Mtu", UintegerValue(1000));
    SetFabric("DroppableBytes", UintegerValue(10'000));
    InstallStar(9);
    for (uint32_t host = 0; host < 8; ++host)
    {
        m_transport->Send({host, 8, 0, 100'000, host, &m_handler, {0, 99'999}});
    }
    Simulator::Run();
    EXPECT_EQ(m_handler.delivered.size(), 8U);
    const auto statistics = m_transport->GetStatistics();
    EXPECT_GT(statistics.lostBytes, 8U * 50'000);
    EXPECT_EQ(statistics.lostBytes, 1000 * statistics.droppedPackets);
    EXPECT_EQ(statistics.retransmittedPackets, 0U);
    uint64_t longest = 0;
    for (const auto& link : m_transport->GetLinkStatistics())
    {
        longest = std::max(longest, link.maxQueueBytes);
    }
    EXPECT_GT(longest, 9'000U);
    EXPECT_LE(longest, 10'000U + 8U * 1'100);
}

TEST_F(RoceTransportTest, SelectiveRepeatLosesNothing)
{
    SetFabric("LossRate", DoubleValue(0.1));
    Set("Recovery", StringValue("selective-repeat"));
    InstallPatientRacks();
    m_transport->Send({0, 5, 0, 100'000, 1, &m_handler, {0, 90'000}});
    Simulator::Run();
    EXPECT_EQ(m_handler.delivered.size(), 1U);
    EXPECT_EQ(m_transport->GetStatistics().lostBytes, 0U);
    EXPECT_EQ(m_transport->GetStatistics().goodputBytes, 100'000U);
}

} // namespace
} // namespace ns3::gradsync
