// SPDX-License-Identifier: GPL-2.0-only
#include "bench/stock-ns3.h"

#include "ns3/spine-leaf-topology.h"

#include <gtest/gtest.h>
#include <stdexcept>

namespace ns3::gradsync
{
namespace
{

Topology
MakeNetwork(uint32_t leaves, uint32_t hostsPerLeaf)
{
    return MakeSpineLeafTopology({.spines = 2,
                                  .leaves = leaves,
                                  .hostsPerLeaf = hostsPerLeaf,
                                  .hostsOfLeaf = {},
                                  .hostLink = {DataRate("40Gbps"), MicroSeconds(1)},
                                  .fabricLink = {DataRate("40Gbps"), MicroSeconds(1)},
                                  .oversubscription = 0,
                                  .server = {}});
}

TEST(StockNs3, SendsEveryPacketOfARingOnce)
{
    const auto result = RunStockRing(MakeNetwork(2, 2), 4ULL * 2 * 1448);
    // 6 steps of 4 messages of 2 full segments. 0-1 and 2-3 share a leaf (2 links), 1-2 and 3-0 do
    // not (4 links): 6 * 2 * (2 + 4 + 2 + 4) = 144.
    EXPECT_EQ(result.dataPacketHops, 144U);
    EXPECT_EQ(result.droppedPackets, 0U);
    EXPECT_GT(result.controlPacketHops, 0U);
    EXPECT_GT(result.events, result.dataPacketHops);
}

TEST(StockNs3, CountsAShortLastSegmentAsData)
{
    // Chunks of 1452 bytes: a full segment and one of 4 bytes, 58 bytes on the link, which an
    // acknowledgement with options could have too. As above, 2 packets a message.
    const auto result = RunStockRing(MakeNetwork(2, 2), 4ULL * 1452);
    EXPECT_EQ(result.dataPacketHops, 144U);
}

TEST(StockNs3, TakesTheTimeOfTheWireWithoutWaitingForATimer)
{
    // 4 hosts on one leaf, 40 Gbit/s, 250 segments a chunk: a step needs 250 frames of 1502 bytes
    // on one link, 250 * 300.4 ns = 75.1 us, one frame more for the second link and 2 us of
    // propagation: 77.4 us; 6 steps take 464.4 us. ns-3's time stamps are whole nanoseconds, 300
    // for 300.4: 463.8 us. Slow start and acknowledgements that wait behind the neighbour's data
    // add to it; a delayed acknowledgement (1 ms) or a timeout (10 ms) that the exchange had to
    // wait for would show as a millisecond and more.
    const auto result = RunStockRing(MakeNetwork(1, 4), 4ULL * 250 * 1448);
    EXPECT_EQ(result.dataPacketHops, 6U * 4U * 250U * 2U);
    EXPECT_GE(result.ict.GetMicroSeconds(), 463);
    EXPECT_LT(result.ict.GetMicroSeconds(), 1000);
}

TEST(StockNs3, GivesTheSameResultAgain)
{
    const auto topology = MakeNetwork(2, 3);
    const auto first = RunStockRing(topology, 1'000'000);
    const auto second = RunStockRing(topology, 1'000'000);
    EXPECT_EQ(first.ict, second.ict);
    EXPECT_EQ(first.events, second.events);
    EXPECT_EQ(first.dataPacketHops, second.dataPacketHops);
}

TEST(StockNs3, RejectsWhatIsNoRing)
{
    EXPECT_THROW(RunStockRing(MakeNetwork(1, 1), 1000), std::invalid_argument);
    EXPECT_THROW(RunStockRing(MakeNetwork(1, 4), 15), std::invalid_argument);
    EXPECT_THROW(RunStockRing(MakeNetwork(1, 4), 1000, {.segmentBytes = 100}),
                 std::invalid_argument);
}

} // namespace
} // namespace ns3::gradsync
