// SPDX-License-Identifier: GPL-2.0-only
// The Attributes of AggregationService.
#include "ns3/aggregation-service.h"
#include "ns3/assert.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/gradient-distribution.h"
#include "ns3/ns3-interfaces.h"
#include "ns3/uinteger.h"

#include <fmt/format.h>
#include <string>

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(AggregationService);

namespace
{

std::string
DescribeGradients()
{
    std::string text = "How floats are distributed:";
    for (const auto& distribution : GetGradientDistributions())
    {
        text += fmt::format(" {} ({});", distribution.name, distribution.title);
    }
    text.back() = '.';
    return text;
}

Ptr<const AttributeChecker>
MakeGradientsChecker()
{
    const auto all = GetGradientDistributions();
    NS_ASSERT(all.size() == 4);
    return MakeEnumChecker(0, all[0].name, 1, all[1].name, 2, all[2].name, 3, all[3].name);
}

} // namespace

TypeId
AggregationService::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::AggregationService")
            .SetParent<NetworkAggregation>()
            .SetGroupName("GradSync")
            .AddConstructor<AggregationService>()
            .AddAttribute("Saturate",
                          "Sums beyond int32: true, they stop at its ends; false, they wrap "
                          "around. Counted either way, where values are real.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&AggregationService::m_saturate),
                          MakeBooleanChecker())
            .AddAttribute("RetryLimit",
                          "Timeouts in a row after which the aggregation has failed.",
                          UintegerValue(100),
                          MakeUintegerAccessor(&AggregationService::m_retryLimit),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute(
                "Values",
                "What packets carry: sizes (nothing, only sizes matter), real (integers "
                "that switches aggregate, and of which every worker checks the sums) or float "
                "(likewise, those of gradients in floating point).",
                EnumValue(VALUES_SIZES),
                MakeAccessorOfEnum(&AggregationService::m_values),
                MakeEnumChecker(VALUES_SIZES, "sizes", VALUES_REAL, "real", VALUES_FLOAT, "float"))
            .AddAttribute("Gradients",
                          DescribeGradients(),
                          EnumValue(2),
                          MakeAccessorOfEnum(&AggregationService::m_gradients),
                          MakeGradientsChecker())
            .AddAttribute("Scale",
                          "Factor of floats before they are rounded; 0: as the protocol has it, "
                          "SwitchML by exponents, PASSING and NetReduce 10^8, ATP 10^6.",
                          DoubleValue(0.0),
                          MakeDoubleAccessor(&AggregationService::m_scale),
                          MakeDoubleChecker<double>(0.0, 1e30))
            .AddAttribute(
                "Engine",
                "What aggregates in switches: native, or p4 (a P4 program, which sends the "
                "same packets; there is one for the slot protocol).",
                EnumValue(ENGINE_NATIVE),
                MakeAccessorOfEnum(&AggregationService::m_engine),
                MakeEnumChecker(ENGINE_NATIVE, "native", ENGINE_P4, "p4"))
            .AddAttribute(
                "ValueBits",
                "Real values are integers in [-2^b, 2^b). With 24 the sums of 127 workers "
                "fit int32.",
                UintegerValue(24),
                MakeUintegerAccessor(&AggregationService::m_valueBits),
                MakeUintegerChecker<uint32_t>(1, 31))
            .AddAttribute("Overflow",
                          "Sums that int32 cannot hold, where values are real: error (the job "
                          "fails) or count (they are expected, and wrap around or saturate).",
                          EnumValue(OVERFLOW_ERROR),
                          MakeAccessorOfEnum(&AggregationService::m_overflow),
                          MakeEnumChecker(OVERFLOW_ERROR, "error", OVERFLOW_COUNT, "count"))
            .AddAttribute("Tier",
                          "Switches that can aggregate: all, leaf (those nearest to endpoints) or "
                          "spine (those above them). The others hand on.",
                          EnumValue(TIER_ALL),
                          MakeAccessorOfEnum(&AggregationService::m_tier),
                          MakeEnumChecker(TIER_ALL, "all", TIER_LEAF, "leaf", TIER_SPINE, "spine"))
            .AddAttribute("Share",
                          "How many of them can, in each tier, spread evenly: 1 all, 0.5 every "
                          "second one.",
                          DoubleValue(1.0),
                          MakeDoubleAccessor(&AggregationService::m_share),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("SwitchMemoryBytes",
                          "Memory of each switch for sums, in bytes, which the aggregations of all "
                          "protocols share; 0: each protocol has its own.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&AggregationService::m_switchMemoryBytes),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("Pipelines",
                          "Pipelines of a switch, over which its ports and the places of its "
                          "registers are spread in turn. A packet whose place is in another "
                          "pipeline than its port's passes both.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&AggregationService::m_pipelines),
                          MakeUintegerChecker<uint32_t>(1, 64))
            .AddAttribute("PipelinePacketRate",
                          "Packets of aggregations that a pipeline of a switch takes in, per "
                          "second, at least 1; 0: any number.",
                          DoubleValue(0.0),
                          MakeDoubleAccessor(&AggregationService::m_pipelinePacketRate),
                          MakeDoubleChecker<double>(0.0))
            .AddAttribute("ValuesPerPass",
                          "Integers that one pass of a pipeline can add: a packet with more "
                          "passes several times, by recirculation; 0: any number.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&AggregationService::m_valuesPerPass),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("ProcessingDelay",
                          "Time that a packet of an aggregation takes for each pass.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&AggregationService::m_processingDelay),
                          MakeTimeChecker(Time(0), Seconds(1)));
    return tid;
}

} // namespace ns3::gradsync
