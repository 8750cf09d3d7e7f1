// SPDX-License-Identifier: GPL-2.0-only
// Drivers of protocols beside each other on one fabric. Part of aggregation-tests.
#include "support/message-collector.h"
#include "unit/aggregation/slot-aggregation-fixture.h"

#include "ns3/aggregation-drivers.h"
#include "ns3/slot-driver.h"

#include <gmock/gmock.h>
#include <set>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;
using testing::ThrowsMessage;

class AggregationDriversTest : public SlotAggregationTest
{
  protected:
    void SetUp() override
    {
        SlotAggregationTest::SetUp();
        Set("Values", StringValue("real"));
    }

    /// All members take part in one aggregation of so many bytes.
    void Aggregate(uint32_t group, uint32_t members, uint64_t bytes, MessageHandler& handler)
    {
        for (uint32_t member = 0; member < members; ++member)
        {
            m_transport->GetAggregation()->Aggregate({.group = group,
                                                      .member = member,
                                                      .index = 0,
                                                      .bytes = bytes,
                                                      .tag = 0,
                                                      .handler = &handler});
        }
    }
};

TEST_F(AggregationDriversTest, NamesAndProtocolsAreThereOnce)
{
    std::multiset<std::string> names;
    std::multiset<std::string> protocols;
    for (const auto& entry : GetAggregationDrivers())
    {
        names.insert(entry.name);
        protocols.insert(entry.protocols.begin(), entry.protocols.end());
        EXPECT_NE(PeekPointer(GetAggregation()->GetDriver(entry.name)), nullptr) << entry.name;
    }
    EXPECT_THAT(names, testing::ElementsAre("atp", "flare", "netreduce", "nvls", "sharp", "slot"));
    EXPECT_THAT(protocols,
                testing::ElementsAre("atp",
                                     "flare-multiple",
                                     "flare-single",
                                     "flare-tree",
                                     "netreduce",
                                     "nvls",
                                     "passing",
                                     "sharp-llt",
                                     "sharp-sat",
                                     "switchml"));
    EXPECT_EQ(PeekPointer(GetAggregation()->GetDriver("switchml")), nullptr);
}

TEST_F(AggregationDriversTest, AllProtocolsAggregateOnOneSwitchAtOnce)
{
    InstallStar(7); // 6 is the parameter server
    const std::vector<uint32_t> members{0, 1, 2, 3, 4, 5};
    const std::vector<std::string> protocols{"switchml", "atp", "netreduce", "passing", "atp"};
    tests::MessageCollector done;
    for (const auto& protocol : protocols)
    {
        const auto group = m_transport->GetAggregation()->OpenAggregation(
            {.endpoints = members,
             .server = protocol == "atp" ? std::optional(6U) : std::nullopt,
             .protocol = protocol});
        Aggregate(group, 6, 100'000, done);
    }
    Simulator::Run();
    EXPECT_TRUE(done.failed.empty()) << done.failed.front().second;
    EXPECT_EQ(done.delivered.size(), 5U * 6);
    // Packets of 256, 248 and 4096 bytes, the last with a header of 16: 391, 404 and 25.
    const auto statistics = m_transport->GetAggregation()->GetStatistics();
    EXPECT_EQ(statistics.checkedSums, 6U * (2 * 391 + 2 * 404 + 25));
    EXPECT_EQ(statistics.wrongSums, 0U);
}

TEST_F(AggregationDriversTest, ADriverOfOnesOwnIsFoundByItsProtocol)
{
    const auto own = CreateObject<SlotDriver>();
    own->SetAttribute("ValuesPerPacket", UintegerValue(32));
    GetAggregation()->AddDriver("own", {"own"}, own);
    EXPECT_EQ(PeekPointer(GetAggregation()->GetDriver("own")), PeekPointer(own));
    InstallStar(3);
    tests::MessageCollector done;
    for (const auto* protocol : {"own", "switchml"})
    {
        const auto group = m_transport->GetAggregation()->OpenAggregation(
            {.endpoints = {0, 1, 2}, .protocol = protocol});
        Aggregate(group, 3, 20 * PACKET_BYTES, done);
    }
    Simulator::Run();
    EXPECT_EQ(done.delivered.size(), 2U * 3);
    // Twice as many packets of half the size beside those of the other one.
    EXPECT_EQ(m_transport->GetAggregation()->GetStatistics().checkedSums, 3U * (40 + 20));
    EXPECT_EQ(m_transport->GetAggregation()->GetStatistics().wrongSums, 0U);
    const auto leaf = *m_topology->FindNode("leaf0");
    EXPECT_NE(GetAggregation()->FindPart(leaf, "own"), GetAggregation()->FindPart(leaf, "slot"));
    EXPECT_EQ(GetAggregation()->FindPart(leaf, "atp"), nullptr);
}

TEST_F(AggregationDriversTest, AProtocolWithoutADriverIsRefused)
{
    InstallStar(2);
    EXPECT_THAT(
        [&] {
            m_transport->GetAggregation()->OpenAggregation(
                {.endpoints = {0, 1}, .protocol = "aggrecast"});
        },
        ThrowsMessage<std::invalid_argument>(
            HasSubstr("no driver for the aggregation protocol \"aggrecast\" (there are: atp, "
                      "flare-multiple, flare-single, flare-tree, netreduce, nvls, passing, "
                      "sharp-llt, sharp-sat, switchml)")));
    EXPECT_THAT(
        [&] {
            m_transport->GetAggregation()->OpenAggregation(
                {.endpoints = {0, 1}, .protocol = "atp"});
        },
        ThrowsMessage<std::invalid_argument>(HasSubstr("needs a parameter server")));
}

} // namespace
} // namespace ns3::gradsync
