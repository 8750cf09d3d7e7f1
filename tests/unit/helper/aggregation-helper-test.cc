// SPDX-License-Identifier: GPL-2.0-only
#include "unit/helper/helper-fixture.h"

#include "ns3/aggregation-helper.h"
#include "ns3/exchange-helper.h"
#include "ns3/fabric-helper.h"
#include "ns3/fluid-transport.h"
#include "ns3/slot-driver.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <gmock/gmock.h>

namespace ns3::gradsync::tests
{
namespace
{

using ::testing::AllOf;
using ::testing::HasSubstr;

class AggregationHelperTest : public HelperFixture
{
};

TEST_F(AggregationHelperTest, RefusesNamesThatThereAreNotAndSaysWhichThereAre)
{
    AggregationHelper aggregation;
    EXPECT_THAT(RefusalOf([&] { aggregation.SetAttribute("Value", StringValue("real")); }),
                AllOf(HasSubstr("ns3::gradsync::AggregationService has no Attribute Value"),
                      HasSubstr("Values")));
    EXPECT_THAT(RefusalOf([&] { aggregation.SetAttribute("Values", StringValue("rael")); }),
                HasSubstr("cannot be \"rael\""));
    // The end of one of its names and the beginning of the next.
    EXPECT_THAT(RefusalOf([&] { aggregation.SetAttribute("Values", StringValue("sizes|real")); }),
                HasSubstr("cannot be \"sizes|real\""));
    EXPECT_THAT(
        RefusalOf([&] { aggregation.SetDriverAttribute("slots", "Slots", UintegerValue(1)); }),
        HasSubstr("no driver of aggregations \"slots\""));
    EXPECT_THAT(RefusalOf([&] { aggregation.SetDriverAttribute("atp", "Slot", UintegerValue(1)); }),
                HasSubstr("ns3::gradsync::AtpDriver has no Attribute Slot"));
    EXPECT_THAT(
        RefusalOf([&] { aggregation.AddDriver("mine", {"mine"}, FluidTransport::GetTypeId()); }),
        HasSubstr("no AggregationDriver"));
}

TEST_F(AggregationHelperTest, InstallsOnlyWhereSwitchesAggregate)
{
    EXPECT_TRUE(AggregationHelper().Install(FabricHelper("roce").Create()));
    EXPECT_FALSE(AggregationHelper().Install(FabricHelper("fluid").Create()));
    EXPECT_FALSE(AggregationHelper().Install(FabricHelper("tcp").Create()));
}

TEST_F(AggregationHelperTest, ADriverOfTheUsersOwnTakesTheProtocolOver)
{
    AggregationHelper aggregation;
    aggregation.AddDriver("mine", {"switchml"}, SlotDriver::GetTypeId());
    aggregation.SetDriverAttribute("mine", "ValuesPerPacket", UintegerValue(16));
    FabricHelper fabric;
    fabric.SetAggregation(aggregation);
    const auto hosts = fabric.Install(MakeStar(4));
    ExchangeHelper exchange("switchml");
    exchange.SetAttribute("GradientBytes", UintegerValue(6400));
    exchange.Install(hosts);
    RunToEnd(hosts);
    // Each of 4 workers takes 1600 values, 16 a packet; by "slot" it would be 64 a packet.
    const auto transport = FabricHost::Of(hosts)->GetTransport();
    EXPECT_EQ(transport->RequireAggregation().GetStatistics().results, 4U * 100);
}

TEST_F(AggregationHelperTest, RealValuesAreAddedAndChecked)
{
    AggregationHelper aggregation;
    aggregation.SetAttribute("Values", StringValue("real"));
    FabricHelper fabric;
    fabric.SetAggregation(aggregation);
    const auto hosts = fabric.Install(MakeStar(3));
    ExchangeHelper exchange("switchml");
    exchange.SetAttribute("GradientBytes", UintegerValue(256 * 10));
    exchange.Install(hosts);
    RunToEnd(hosts);
    const auto statistics =
        FabricHost::Of(hosts)->GetTransport()->RequireAggregation().GetStatistics();
    EXPECT_EQ(statistics.results, 3U * 10);
    EXPECT_EQ(statistics.checkedSums, 3U * 10);
    EXPECT_EQ(statistics.wrongSums, 0U);
}

} // namespace
} // namespace ns3::gradsync::tests
