// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/flare-driver.h"

#include "ns3/double.h"
#include "ns3/flare-node.h"
#include "ns3/flare-session.h"
#include "ns3/uinteger.h"

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(FlareDriver);

FlareDriver::FlareDriver()
    : TreeDriver("FLARE")
{
}

TypeId
FlareDriver::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::FlareDriver")
            .SetParent<TreeDriver>()
            .SetGroupName("GradSync")
            .AddConstructor<FlareDriver>()
            .AddAttribute("Cores",
                          "Cores of a switch, each of which runs one handler at a time.",
                          UintegerValue(512),
                          MakeUintegerAccessor(&FlareDriver::m_cores),
                          MakeUintegerChecker<uint32_t>(1, 1U << 20))
            .AddAttribute("HandlerTime",
                          "Time of a handler for a packet, whatever is in it (PsPIN: 26 ns for a "
                          "packet of 64 bytes).",
                          TimeValue(NanoSeconds(26)),
                          MakeTimeAccessor(&FlareDriver::m_handlerTime),
                          MakeTimeChecker(Time(0), Seconds(1)))
            .AddAttribute("AddTime",
                          "Time of a handler for each value that it adds to another (a core of 1 "
                          "GHz that loads two, adds and stores: 4 ns).",
                          TimeValue(NanoSeconds(4)),
                          MakeTimeAccessor(&FlareDriver::m_addTime),
                          MakeTimeChecker(Time(0), Seconds(1)))
            .AddAttribute("CopyTime",
                          "Time of a handler for each value that is the first in its place, and is "
                          "copied (a core that loads and stores: 2 ns).",
                          TimeValue(NanoSeconds(2)),
                          MakeTimeAccessor(&FlareDriver::m_copyTime),
                          MakeTimeChecker(Time(0), Seconds(1)))
            .AddAttribute("Buffers",
                          "Buffers of a packet's sums, of flare-multiple.",
                          UintegerValue(4),
                          MakeUintegerAccessor(&FlareDriver::m_buffers),
                          MakeUintegerChecker<uint32_t>(1, 1024))
            .AddAttribute("PayloadBytes",
                          "Data of a full packet, in bytes, a multiple of 4.",
                          UintegerValue(1024),
                          MakeUintegerAccessor(&FlareDriver::m_payloadBytes),
                          MakeUintegerChecker<uint32_t>(4, 8192))
            .AddAttribute("HeaderBytes",
                          "What each packet has beside its data, in bytes (Ethernet with preamble, "
                          "gap and check sequence 38, IPv4 20, UDP 8, and 20 of FLARE's own, whose "
                          "format is not published).",
                          UintegerValue(86),
                          MakeUintegerAccessor(&FlareDriver::m_headerBytes),
                          MakeUintegerChecker<uint32_t>(84, 1024))
            .AddAttribute("Credits",
                          "Packets that a worker has under way. 256 of 1,024 bytes fill 100 Gb/s "
                          "up to a round trip of 20 us.",
                          UintegerValue(256),
                          MakeUintegerAccessor(&FlareDriver::m_credits),
                          MakeUintegerChecker<uint32_t>(1, 65536))
            .AddAttribute("Density",
                          "Share of the values of each worker's gradient that are sent, as pairs "
                          "of index and value, the others being 0; 1: all, without indices.",
                          DoubleValue(1.0),
                          MakeDoubleAccessor(&FlareDriver::m_density),
                          MakeDoubleChecker<double>(1.0 / UINT16_MAX, 1.0))
            .AddAttribute("Timeout",
                          "A worker that gets no result for this long sends again what is under "
                          "way; doubled with each time in a row, up to 64 times.",
                          TimeValue(MilliSeconds(10)),
                          MakeTimeAccessor(&FlareDriver::m_timeout),
                          MakeTimeChecker(NanoSeconds(1)));
    return tid;
}

FlareSum
FlareDriver::GetSum(const std::string& protocol)
{
    if (protocol == "flare-single")
    {
        return FlareSum::Single;
    }
    return protocol == "flare-multiple" ? FlareSum::Multiple : FlareSum::Tree;
}

std::unique_ptr<AggregationSession>
FlareDriver::MakeSession(const AggregationGroup& group, uint32_t id)
{
    return std::make_unique<FlareSession>(*this, group, id);
}

std::unique_ptr<AggregationNode>
FlareDriver::MakeNode(NodeId node)
{
    auto& network = GetNetwork();
    return std::make_unique<FlareNode>(
        *network.fabric->GetSwitch(node),
        network.fabric->GetPool(),
        network.contents,
        node,
        FlareNode::Settings{.cores = m_cores,
                            .headerBytes = m_headerBytes,
                            .handlerTime = m_handlerTime,
                            .copyTime = m_copyTime,
                            .addTime = m_addTime,
                            .buffers = m_buffers,
                            .addsFloats = network.settings.values == VALUES_FLOAT});
}

} // namespace ns3::gradsync
