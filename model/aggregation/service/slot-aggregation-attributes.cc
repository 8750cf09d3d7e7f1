// SPDX-License-Identifier: GPL-2.0-only
// The Attributes of SlotAggregation.
#include "ns3/assert.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/gradient-distribution.h"
#include "ns3/slot-aggregation.h"
#include "ns3/uinteger.h"

#include <fmt/format.h>
#include <string>

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(SlotAggregation);

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
SlotAggregation::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::SlotAggregation")
            .SetParent<NetworkAggregation>()
            .SetGroupName("GradSync")
            .AddConstructor<SlotAggregation>()
            .AddAttribute(
                "Slots",
                "Slots of each set that an aggregation gets at every switch, with dynamic sharing "
                "at most: packets that a worker may have under way. 128 of 64 values fill 10 Gb/s "
                "up to a round trip of 35 us.",
                UintegerValue(128),
                MakeUintegerAccessor(&SlotAggregation::m_slots),
                MakeUintegerChecker<uint32_t>(1, 65536))
            .AddAttribute("PoolSlots",
                          "Slots of each set that a switch has for all aggregations together.",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&SlotAggregation::m_poolSlots),
                          MakeUintegerChecker<uint32_t>(1, 1U << 24))
            .AddAttribute("Sharing",
                          "How aggregations share the slots of a switch: static (each has Slots "
                          "of its own) or dynamic (those that have begun, and whose job is not "
                          "done, have equal shares of at most Slots).",
                          EnumValue(SHARING_STATIC),
                          MakeEnumAccessor(&SlotAggregation::m_sharing),
                          MakeEnumChecker(SHARING_STATIC, "static", SHARING_DYNAMIC, "dynamic"))
            .AddAttribute("ValuesPerPacket",
                          "Integers of 4 bytes that a packet carries and a slot holds.",
                          UintegerValue(64),
                          MakeUintegerAccessor(&SlotAggregation::m_valueCount),
                          MakeUintegerChecker<uint32_t>(1, 2048))
            .AddAttribute("Saturate",
                          "Sums beyond int32: true, they stop at its ends; false, they wrap "
                          "around. Counted either way, where values are real.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&SlotAggregation::m_saturate),
                          MakeBooleanChecker())
            .AddAttribute("Timeout",
                          "A worker without the result of a packet for this long sends it again; "
                          "doubled with each timeout in a row, up to 64 times (SwitchML: 10 ms).",
                          TimeValue(MilliSeconds(10)),
                          MakeTimeAccessor(&SlotAggregation::m_timeout),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("RetryLimit",
                          "Timeouts in a row after which the aggregation has failed.",
                          UintegerValue(100),
                          MakeUintegerAccessor(&SlotAggregation::m_retryLimit),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute(
                "Values",
                "What packets carry: sizes (nothing, only sizes matter), real (integers "
                "that switches add up, and of which every worker checks the sums) or float "
                "(likewise, those of gradients in floating point).",
                EnumValue(VALUES_SIZES),
                MakeEnumAccessor(&SlotAggregation::m_values),
                MakeEnumChecker(VALUES_SIZES, "sizes", VALUES_REAL, "real", VALUES_FLOAT, "float"))
            .AddAttribute("Gradients",
                          DescribeGradients(),
                          EnumValue(2),
                          MakeEnumAccessor(&SlotAggregation::m_gradients),
                          MakeGradientsChecker())
            .AddAttribute("Scale",
                          "Factor of floats before they are rounded; 0: as the protocol has it, "
                          "SwitchML by exponents, PASSING and NetReduce 10^8, ATP 10^6.",
                          DoubleValue(0.0),
                          MakeDoubleAccessor(&SlotAggregation::m_scale),
                          MakeDoubleChecker<double>(0.0, 1e30))
            .AddAttribute("Engine",
                          "What adds up in switches by the slot protocol: native, or p4 (the P4 "
                          "program slot-aggregation.p4, which sends the same packets).",
                          EnumValue(ENGINE_NATIVE),
                          MakeEnumAccessor(&SlotAggregation::m_engine),
                          MakeEnumChecker(ENGINE_NATIVE, "native", ENGINE_P4, "p4"))
            .AddAttribute(
                "ValueBits",
                "Real values are integers in [-2^b, 2^b). With 24 the sums of 127 workers "
                "fit int32.",
                UintegerValue(24),
                MakeUintegerAccessor(&SlotAggregation::m_valueBits),
                MakeUintegerChecker<uint32_t>(1, 31))
            .AddAttribute("Overflow",
                          "Sums that int32 cannot hold, where values are real: error (the job "
                          "fails) or count (they are expected, and wrap around or saturate).",
                          EnumValue(OVERFLOW_ERROR),
                          MakeEnumAccessor(&SlotAggregation::m_overflow),
                          MakeEnumChecker(OVERFLOW_ERROR, "error", OVERFLOW_COUNT, "count"))
            .AddAttribute(
                "AtpAggregators",
                "ATP: aggregators of a switch, which all jobs share; 0: none, all packets "
                "go to the parameter server.",
                UintegerValue(4096),
                MakeUintegerAccessor(&SlotAggregation::m_atpAggregators),
                MakeUintegerChecker<uint32_t>(0, 1U << 24))
            .AddAttribute("AtpBusyShare",
                          "ATP: share of the aggregators of each switch that jobs outside the "
                          "simulation hold, spread evenly.",
                          DoubleValue(0.0),
                          MakeDoubleAccessor(&SlotAggregation::m_atpBusyShare),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("AtpWindow",
                          "ATP: most packets that a worker has under way, and how many it begins "
                          "with (NSDI 2021, section 3.6).",
                          UintegerValue(100),
                          MakeUintegerAccessor(&SlotAggregation::m_atpWindow),
                          MakeUintegerChecker<uint32_t>(1, 65536))
            .AddAttribute("AtpFirstTimeout",
                          "ATP: a worker without the result of a packet for this long sends it "
                          "again.",
                          TimeValue(MilliSeconds(50)),
                          MakeTimeAccessor(&SlotAggregation::m_atpFirstTimeout),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute(
                "AtpTimeout",
                "ATP: and again after this long; doubled from the tenth time in a row on.",
                TimeValue(MicroSeconds(200)),
                MakeTimeAccessor(&SlotAggregation::m_atpTimeout),
                MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("NetReduceMessagePackets",
                          "NetReduce: packets of a full message, each of one MTU.",
                          UintegerValue(64),
                          MakeUintegerAccessor(&SlotAggregation::m_netReduceMessagePackets),
                          MakeUintegerChecker<uint32_t>(1, 65536))
            .AddAttribute("NetReduceWindow",
                          "NetReduce: messages that a worker may have under way without their "
                          "sums. Boxes keep twice as many for each job.",
                          UintegerValue(4),
                          MakeUintegerAccessor(&SlotAggregation::m_netReduceWindow),
                          MakeUintegerChecker<uint32_t>(1, 4096))
            .AddAttribute("Pipelines",
                          "Pipelines of a switch, over which its ports and the places of its "
                          "registers are spread in turn. A packet whose place is in another "
                          "pipeline than its port's passes both.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&SlotAggregation::m_pipelines),
                          MakeUintegerChecker<uint32_t>(1, 64))
            .AddAttribute("PipelinePacketRate",
                          "Packets of aggregations that a pipeline of a switch takes in, per "
                          "second, at least 1; 0: any number.",
                          DoubleValue(0.0),
                          MakeDoubleAccessor(&SlotAggregation::m_pipelinePacketRate),
                          MakeDoubleChecker<double>(0.0))
            .AddAttribute("ValuesPerPass",
                          "Integers that one pass of a pipeline can add: a packet with more "
                          "passes several times, by recirculation; 0: any number.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&SlotAggregation::m_valuesPerPass),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("ProcessingDelay",
                          "Time that a packet of an aggregation takes for each pass.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&SlotAggregation::m_processingDelay),
                          MakeTimeChecker(Time(0), Seconds(1)));
    return tid;
}

} // namespace ns3::gradsync
