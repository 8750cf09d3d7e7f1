// SPDX-License-Identifier: GPL-2.0-only
// What protocols refuse whose switches are what they are. Part of aggregation-tests.
#include "unit/aggregation/slot-aggregation-fixture.h"

#include <gmock/gmock.h>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;
using testing::ThrowsMessage;

const DataRate RATE("100Gbps");

class NativeDriverTest : public SlotAggregationTest
{
  protected:
    struct Protocol
    {
        std::string name;
        std::string part; //!< whose Attributes are its own
        AggregationFlow flow;
        std::string title; //!< for the user
    };

    static std::vector<Protocol> ListProtocols()
    {
        return {{"nvls", "nvls", AggregationFlow::Reduce, "NVLS"},
                {"sharp-sat", "sharp", AggregationFlow::AllReduce, "SHARP"},
                {"sharp-llt", "sharp", AggregationFlow::AllReduce, "SHARP"},
                {"flare-tree", "flare", AggregationFlow::AllReduce, "FLARE"}};
    }

    void Restart()
    {
        TearDown();
        SetUp();
    }
};

TEST_F(NativeDriverTest, SaysWhatItCannot)
{
    struct Case
    {
        std::string attribute;
        std::string value;
        std::string text;
    };

    for (const auto& protocol : ListProtocols())
    {
        for (const auto& [attribute, value, text] :
             {Case{"Engine", "p4", "switches of {} run no P4 programs"},
              Case{"Saturate", "true", "{}'s sums of integers wrap around: attribute Saturate"},
              Case{"Scale", "1000", "{} adds floating-point numbers as they are: attribute Scale"}})
        {
            Restart();
            Set("Values", StringValue("float"));
            Set(attribute, StringValue(value));
            InstallStar(2, RATE);
            EXPECT_THAT(
                [&] {
                    m_transport->GetAggregation()->OpenAggregation(
                        {.endpoints = {0, 1}, .protocol = protocol.name, .flow = protocol.flow});
                },
                ThrowsMessage<std::invalid_argument>(
                    HasSubstr(fmt::format(fmt::runtime(text), protocol.title))));
        }
    }
}

TEST_F(NativeDriverTest, HasPacketsOfWholeValues)
{
    for (const auto& protocol : ListProtocols())
    {
        Restart();
        Set(protocol.part + ".PayloadBytes", UintegerValue(1022));
        EXPECT_THAT([&] { InstallStar(2, RATE); },
                    ThrowsMessage<std::invalid_argument>(
                        HasSubstr("PayloadBytes is 1022, but must be a multiple of 4")));
    }
}

} // namespace
} // namespace ns3::gradsync
