// SPDX-License-Identifier: GPL-2.0-only
// Connections between two processes, both simulated by this one.
#include "unit/transport/roce-fixture.h"

#include "ns3/roce-post.h"
#include "ns3/wire-format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using ::testing::Each;
using ::testing::Pair;

/// Two racks below a spine, a process each: the first one is that of m_transport.
class RoceMirrorsTest : public RoceTransportTest
{
  protected:
    static constexpr uint32_t HOSTS = 16; //!< of a rack
    static constexpr auto LOOKAHEAD_US = 1;

    static Topology MakeRacks()
    {
        SpineLeafOptions options;
        options.spines = 1;
        options.leaves = 2;
        options.hostsPerLeaf = HOSTS;
        options.hostLink = {DataRate("1Gbps"), MicroSeconds(LOOKAHEAD_US)};
        options.fabricLink = options.hostLink;
        return MakeSpineLeafTopology(options);
    }

    void InstallBoth()
    {
        m_other = CreateObject<RoceTransport>();
        m_other->SetAttribute("KeptQueuePairs", UintegerValue(0));
        const auto topology = std::make_shared<Topology>(MakeRacks());
        const auto routes = std::make_shared<RoutingTables>(*topology);
        for (uint32_t own = 0; own < 2; ++own)
        {
            auto& transport = own == 0 ? *m_transport : *m_other;
            transport.Install(topology, routes);
            transport.Divide(DivideTopology(*topology, 2, own),
                             {.listReceivers =
                                  [this] {
                                      std::vector<DividedMessages::Receiver> all;
                                      for (uint32_t endpoint = 0; endpoint < 2 * HOSTS; ++endpoint)
                                      {
                                          all.push_back({&m_handler, endpoint});
                                      }
                                      return all;
                                  },
                              .tellsTimes = false,
                              .callAt = {}});
            transport.SetBound(MicroSeconds(LOOKAHEAD_US).GetTimeStep());
        }
        Simulator::Schedule(MicroSeconds(LOOKAHEAD_US), [this] { EndWindow(); });
    }

    void EndWindow()
    {
        const auto now = Simulator::Now();
        const auto bound = now + MicroSeconds(LOOKAHEAD_US);
        m_transport->Depart(now.GetTimeStep());
        m_other->Depart(now.GetTimeStep());
        HandOver(*m_transport, *m_other, 1);
        HandOver(*m_other, *m_transport, 0);
        m_transport->SetBound(bound.GetTimeStep());
        m_other->SetBound(bound.GetTimeStep());
        if (now < MilliSeconds(10))
        {
            Simulator::Schedule(MicroSeconds(LOOKAHEAD_US), [this] { EndWindow(); });
        }
    }

    void HandOver(RoceTransport& from, RoceTransport& to, uint32_t part)
    {
        OutgoingBatch batch;
        from.Take(part, batch);
        ByteBatch bytes(batch.GetSize());
        batch.CopyTo(bytes.data());
        BatchReader reader(bytes);
        to.Put(reader);
        if (!bytes.empty())
        {
            for (const auto& post : BatchReader(bytes).TakeList<RocePost>())
            {
                m_told += post.messages.GetCount();
                ++m_posts;
            }
        }
    }

    void TearDown() override
    {
        m_other = nullptr;
        RoceTransportTest::TearDown();
    }

    Ptr<RoceTransport> m_other;
    uint64_t m_told{0};  //!< messages
    uint64_t m_posts{0}; //!< that told them
};

TEST_F(RoceMirrorsTest, ReceiversElsewhereAreToldOfEachMessageOnceAndHoldNoQueuePairThatWaits)
{
    // As in RoceReservationTest, over four links for two. A queue pair serves from its first bit
    // until the answer is in, after 4 * 8.784 + 4 * 0.688 + 8 = 45.888 us, while a packet leaves
    // every 8.784 us: floor(45.888 / 8.784) + 1 = 6 serve at once. The other process has mirrors of
    // these. Nothing is sent from there.
    constexpr uint32_t BYTES = 1000;
    constexpr uint32_t MESSAGES = 8;
    const auto data = uint64_t{wire::RoceDataBytes(BYTES)} * 8000;
    const auto answer = uint64_t{wire::ROCE_ACK_BYTES} * 8000;
    InstallBoth();
    for (uint32_t tag = 0; tag < MESSAGES * HOSTS; ++tag)
    {
        Send(0, HOSTS + tag % HOSTS, BYTES, tag);
    }
    Simulator::Run();
    EXPECT_EQ(m_handler.delivered.size(), MESSAGES * HOSTS);
    EXPECT_THAT(m_handler.delivered, Each(Pair(::testing::_, 1)));
    EXPECT_EQ(m_told, MESSAGES * HOSTS);
    EXPECT_EQ((4 * data + 4 * answer + 8'000'000) / data + 1, 6U);
    EXPECT_LE(m_transport->CountQueuePairs(), 6U);
    EXPECT_EQ(m_other->CountQueuePairs(), 0U); // of its own
    // The last one is there after all have left, one after the other, and its way over three more.
    const auto last = MESSAGES * HOSTS * data + 3 * data + 4'000'000;
    EXPECT_EQ(m_handler.lastDelivery, PicoSeconds(last));
}

TEST_F(RoceMirrorsTest, ChunksOfAnEvenCutAreToldTogether)
{
    // Eight to each host, of two sizes by turns, as where a gradient is cut evenly into elements: a
    // series for each host. All have queue pairs, as 16 may wait at any NIC.
    constexpr uint32_t MESSAGES = 8;
    m_transport->SetAttribute("KeptQueuePairs", UintegerValue(4 * HOSTS));
    InstallBoth();
    for (uint32_t tag = 0; tag < MESSAGES * HOSTS; ++tag)
    {
        Send(0, HOSTS + tag % HOSTS, tag / HOSTS % 2 == 0 ? 3904 : 3908, tag);
    }
    Simulator::Run();
    EXPECT_EQ(m_handler.delivered.size(), MESSAGES * HOSTS);
    EXPECT_THAT(m_handler.delivered, Each(Pair(::testing::_, 1)));
    EXPECT_EQ(m_told, MESSAGES * HOSTS);
    EXPECT_EQ(m_posts, HOSTS);
}

TEST_F(RoceMirrorsTest, MessagesOfAnyLengthsAreReceivedOnceEach)
{
    // Around one and two packets, so that those that are told together differ in packets, too. At
    // most three of 35 us each: all are there before the 10 ms at which windows end.
    constexpr uint32_t MESSAGES = 90;
    m_transport->SetAttribute("KeptQueuePairs", UintegerValue(4 * HOSTS));
    InstallBoth();
    std::mt19937 random(3);
    for (uint32_t tag = 0; tag < MESSAGES; ++tag)
    {
        const auto host = HOSTS + random() % 2;
        const auto packets = 1 + random() % 2;
        const auto bytes = packets * 4096 - 4 + random() % 2 * 8;
        Send(0, host, bytes, tag);
    }
    Simulator::Run();
    EXPECT_EQ(m_handler.delivered.size(), MESSAGES);
    EXPECT_THAT(m_handler.delivered, Each(Pair(::testing::_, 1)));
    EXPECT_EQ(m_told, MESSAGES);
    EXPECT_LT(m_posts, m_told);
}

TEST_F(RoceMirrorsTest, AMessageInHandKeepsItsQueuePair)
{
    // Three packets a message: between them the receiver would not know another queue pair. One is
    // given back when a message is answered and the next has not begun.
    constexpr uint32_t MESSAGES = 3;
    InstallBoth();
    for (uint32_t tag = 0; tag < MESSAGES * HOSTS; ++tag)
    {
        Send(0, HOSTS + tag % HOSTS, 3 * 4096, tag);
    }
    Simulator::Run();
    EXPECT_EQ(m_handler.delivered.size(), MESSAGES * HOSTS);
    EXPECT_THAT(m_handler.delivered, Each(Pair(::testing::_, 1)));
    EXPECT_EQ(m_told, MESSAGES * HOSTS);
    EXPECT_EQ(m_transport->CountQueuePairs(), HOSTS);
}

} // namespace
} // namespace ns3::gradsync
