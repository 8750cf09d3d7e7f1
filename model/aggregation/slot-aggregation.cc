// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/slot-aggregation.h"

#include "ns3/boolean.h"
#include "ns3/byte-order.h"
#include "ns3/enum.h"
#include "ns3/slot-frame.h"
#include "ns3/uinteger.h"
#include "ns3/wire-format.h"

#include <array>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(SlotAggregation);

namespace
{

// IPv4 addresses in captures; those of endpoints as RoCE frames have them.
constexpr uint32_t FIRST_ENDPOINT_ADDRESS = 0x0A000001; // 10.0.0.1
constexpr uint32_t FIRST_JOB_ADDRESS = 0x0A800000;      // 10.128.0.0
constexpr uint32_t FIRST_SWITCH_ADDRESS = 0x0A900000;   // 10.144.0.0

/// Locally administered, one a node, as RoCE frames have them.
std::array<uint8_t, 6>
MakeMac(NodeId node)
{
    std::array<uint8_t, 6> mac{2};
    WriteBigEndian(mac, 2, node);
    return mac;
}

/// A packet of the slot protocol on the wire.
uint32_t
GetWireBytes(uint32_t valueCount)
{
    return wire::OnWire(wire::ETHERNET_BYTES + wire::IPV4_BYTES + wire::UDP_BYTES +
                        SlotHeader::BYTES + 4 * valueCount + wire::FCS_BYTES);
}

} // namespace

TypeId
SlotAggregation::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::SlotAggregation")
            .SetParent<NetworkAggregation>()
            .SetGroupName("gradsync")
            .AddConstructor<SlotAggregation>()
            .AddAttribute(
                "Slots",
                "Slots of each set that an aggregation gets at every switch: packets that "
                "a worker may have under way. 128 of 64 values fill 10 Gb/s up to a round "
                "trip of 35 us.",
                UintegerValue(128),
                MakeUintegerAccessor(&SlotAggregation::m_slots),
                MakeUintegerChecker<uint32_t>(1, 65536))
            .AddAttribute("PoolSlots",
                          "Slots of each set that a switch has for all aggregations together.",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&SlotAggregation::m_poolSlots),
                          MakeUintegerChecker<uint32_t>(1, 1U << 24))
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
                "What packets carry: sizes (nothing, only sizes matter) or real (integers "
                "that switches add up, and of which every worker checks the sums).",
                EnumValue(VALUES_SIZES),
                MakeEnumAccessor(&SlotAggregation::m_values),
                MakeEnumChecker(VALUES_SIZES, "sizes", VALUES_REAL, "real"));
    return tid;
}

SlotAggregation::SlotAggregation() = default;
SlotAggregation::~SlotAggregation() = default;

void
SlotAggregation::DoDispose()
{
    m_sessions.clear();
    m_fabric = nullptr;
    NetworkAggregation::DoDispose();
}

void
SlotAggregation::Install(const Ptr<FabricNetwork>& fabric, std::shared_ptr<const Topology> topology)
{
    m_fabric = fabric;
    m_topology = std::move(topology);
    m_fabric->GetPool().SetContents(&m_contents);
}

uint32_t
SlotAggregation::OpenAggregation(const std::vector<uint32_t>& endpoints)
{
    auto session = std::make_unique<Session>();
    session->tree = BuildAggregationTree(*m_topology, endpoints, m_sessionCount++);
    const auto number = TakeNumber();
    const auto valueCount = static_cast<uint16_t>(m_valueCount);
    if (m_values == VALUES_REAL)
    {
        session->tensor = std::make_unique<SlotTensor>(number,
                                                       static_cast<uint32_t>(endpoints.size()),
                                                       valueCount);
    }
    session->job = {.number = number,
                    .slots = m_slots,
                    .valueCount = valueCount,
                    .wireBytes = GetWireBytes(m_valueCount),
                    .timeout = m_timeout,
                    .retryLimit = m_retryLimit,
                    .pool = &m_fabric->GetPool(),
                    .contents = &m_contents,
                    .tensor = session->tensor.get()};
    AddRoles(*session, endpoints);
    AddWorkers(*session, endpoints);
    m_sessions.emplace(number, std::move(session));
    return number;
}

/// Not one that was used lately: its packets may still be under way.
uint16_t
SlotAggregation::TakeNumber()
{
    if (m_sessions.size() > UINT16_MAX)
    {
        throw std::invalid_argument("more than 65536 aggregations at a time");
    }
    while (m_sessions.contains(m_nextNumber))
    {
        ++m_nextNumber;
    }
    return m_nextNumber++;
}

void
SlotAggregation::AddRoles(const Session& session, const std::vector<uint32_t>& endpoints)
{
    const auto& hops = session.tree.hops;
    // Numbers of switches follow those of the workers.
    const auto numberOf = [&endpoints](uint32_t hop) {
        return static_cast<uint16_t>(endpoints.size() + hop);
    };
    try
    {
        for (uint32_t i = 0; i < hops.size(); ++i)
        {
            AggregationSwitch::Role role{.aggregates = hops[i].aggregates,
                                         .worker = numberOf(i),
                                         .up = hops[i].up,
                                         .down = hops[i].down,
                                         .children = {},
                                         .slots = m_slots};
            for (const auto& child : hops[i].children)
            {
                role.children.push_back(
                    child.isMember ? AggregationSwitch::Child{static_cast<uint16_t>(child.index),
                                                              child.port,
                                                              endpoints[child.index]}
                                   : AggregationSwitch::Child{numberOf(child.index),
                                                              child.port,
                                                              AggregationSwitch::NO_ENDPOINT});
            }
            GetProgram(hops[i].node).AddJob(session.job.number, role);
        }
    }
    catch (const std::invalid_argument&)
    {
        RemoveRoles(session);
        throw;
    }
}

AggregationSwitch&
SlotAggregation::GetProgram(NodeId node)
{
    auto& program = m_switches[node];
    if (!program)
    {
        auto& forwarder = *m_fabric->GetSwitch(node);
        program = std::make_unique<AggregationSwitch>(
            m_topology->GetNodes()[node].name,
            forwarder,
            m_fabric->GetPool(),
            m_contents,
            SlotSwitch::Config{.poolSize = m_poolSlots,
                               .valueCount = static_cast<uint16_t>(m_valueCount),
                               .saturate = m_saturate,
                               .computesSums = m_values == VALUES_REAL});
        forwarder.SetProgram(program.get());
    }
    return *program;
}

void
SlotAggregation::AddWorkers(Session& session, const std::vector<uint32_t>& endpoints)
{
    for (uint32_t rank = 0; rank < endpoints.size(); ++rank)
    {
        const auto endpoint = endpoints[rank];
        auto& port = m_fabric->GetEndpoint(endpoint).GetPort(session.tree.memberPorts[rank]);
        session.workers.push_back(
            std::make_unique<SlotWorker>(session.job, static_cast<uint16_t>(rank), endpoint, port));
        if (!m_sinks.contains(endpoint))
        {
            m_sinks[endpoint] = m_fabric->GetSink(endpoint);
            m_fabric->SetSink(endpoint, this);
        }
    }
}

void
SlotAggregation::RemoveRoles(const Session& session)
{
    for (const auto& hop : session.tree.hops)
    {
        if (const auto found = m_switches.find(hop.node); found != m_switches.end())
        {
            found->second->RemoveJob(session.job.number);
        }
    }
}

void
SlotAggregation::CloseAggregation(uint32_t group)
{
    const auto found = m_sessions.find(static_cast<uint16_t>(group));
    RemoveRoles(*found->second);
    for (const auto& worker : found->second->workers)
    {
        Retire(*worker);
    }
    m_sessions.erase(found);
}

/// Keeps the counters of a worker that goes.
void
SlotAggregation::Retire(const SlotWorker& worker)
{
    m_statistics.retransmissions += worker.GetRetransmissions();
    m_retransmittedBytes += worker.GetRetransmittedBytes();
    m_resultBytes += worker.GetResultBytes();
}

void
SlotAggregation::Aggregate(const AggregationMessage& message)
{
    m_sessions.at(static_cast<uint16_t>(message.group))
        ->workers.at(message.member)
        ->Contribute(message);
}

void
SlotAggregation::Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount now)
{
    if ((packet->flags & PacketFlag::PROGRAM) == 0)
    {
        m_sinks.at(endpoint)->Receive(packet, endpoint, now);
        return;
    }
    // A copy: the worker may send, which may use these contents again.
    const auto content = m_contents.Get(*packet);
    m_fabric->GetPool().Give(packet);
    const auto found = m_sessions.find(content.header.job);
    if (found == m_sessions.end())
    {
        return;
    }
    const auto& workers = found->second->workers;
    const auto rank = content.header.worker;
    if (rank < workers.size() && workers[rank]->GetEndpoint() == endpoint)
    {
        workers[rank]->OnResult(content, m_statistics);
    }
}

void
SlotAggregation::Abandon(const Transport::MessageFilter& isMeant)
{
    for (const auto& [number, session] : m_sessions)
    {
        for (const auto& worker : session->workers)
        {
            if (worker->IsMeant(isMeant))
            {
                worker->Stop();
            }
        }
    }
}

std::vector<uint8_t>
SlotAggregation::MakeFrame(const FabricPacket& packet, NodeId sender, NodeId receiver)
{
    const auto& content = m_contents.Get(packet);
    const auto& header = content.header;
    const auto session = m_sessions.find(header.job);
    // Workers have the addresses of their endpoints, a job has one of its own, below it are those
    // of its switches.
    const bool isWorker =
        session != m_sessions.end() && header.worker < session->second->workers.size();
    const auto partner =
        isWorker ? FIRST_ENDPOINT_ADDRESS + session->second->workers[header.worker]->GetEndpoint()
                 : FIRST_SWITCH_ADDRESS + header.worker;
    const auto job = FIRST_JOB_ADDRESS + header.job;
    const bool isResult = header.messageType == static_cast<uint8_t>(SlotMessage::Result);
    SlotFrame frame;
    frame.source = {MakeMac(sender), isResult ? job : partner};
    frame.destination = {MakeMac(receiver), isResult ? partner : job};
    frame.header = header;
    frame.values = content.values;
    frame.values.resize(m_valueCount); // zeros where only sizes matter
    return SerialiseSlotFrame(frame);
}

const AggregationSwitch*
SlotAggregation::GetSwitch(NodeId node) const
{
    const auto found = m_switches.find(node);
    return found == m_switches.end() ? nullptr : found->second.get();
}

AggregationStatistics
SlotAggregation::GetStatistics() const
{
    auto statistics = m_statistics;
    for (const auto& [number, session] : m_sessions)
    {
        for (const auto& worker : session->workers)
        {
            statistics.retransmissions += worker->GetRetransmissions();
        }
    }
    for (const auto& [node, program] : m_switches)
    {
        const auto& slots = program->GetSlots();
        statistics.repeatedResults += slots.GetCount(SlotVerdict::Unicast);
        statistics.staleDrops += slots.GetCount(SlotVerdict::Stale);
        statistics.overflows += slots.GetOverflows();
    }
    return statistics;
}

void
SlotAggregation::AddStatistics(TransportStatistics& total) const
{
    total.goodputBytes += m_resultBytes;
    total.retransmittedBytes += m_retransmittedBytes;
    total.retransmittedPackets += GetStatistics().retransmissions;
    for (const auto& [number, session] : m_sessions)
    {
        for (const auto& worker : session->workers)
        {
            total.goodputBytes += worker->GetResultBytes();
            total.retransmittedBytes += worker->GetRetransmittedBytes();
        }
    }
}

} // namespace ns3::gradsync
