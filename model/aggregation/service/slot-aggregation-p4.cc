// SPDX-License-Identifier: GPL-2.0-only
// The part of SlotAggregation that runs P4 programs.
#include "ns3/aggregation-address.h"
#include "ns3/p4-compiled-programs.h"
#include "ns3/p4-program-loader.h"
#include "ns3/slot-aggregation.h"
#include "ns3/slot-frame.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Ports have 9 bits in v1model, and the last one means that a packet is dropped.
constexpr size_t MAX_P4_PORTS = 511;

} // namespace

void
SlotAggregation::SetProgram(NodeId node, P4SwitchProgram program)
{
    m_userPrograms.insert_or_assign(node, std::move(program));
}

void
SlotAggregation::InstallPrograms()
{
    if (m_engine == ENGINE_P4)
    {
        CheckCompiled("ValuesPerPacket", m_valueCount, compiled::SLOT_VALUES, false);
        CheckCompiled("Slots", m_slots, compiled::SLOT_POOL, true);
        CheckCompiled("PoolSlots", m_poolSlots, compiled::SLOT_POOL, true);
    }
    if (!m_userPrograms.empty() && m_sharing == SHARING_DYNAMIC)
    {
        throw std::invalid_argument("attribute Sharing is dynamic, but the slots of switches with "
                                    "programs of their own are those of their configuration");
    }
    for (const auto& [node, program] : m_userPrograms)
    {
        auto& switchNode = GetPrograms(node).user;
        switchNode = std::make_unique<P4SwitchNode>(GetPlace(node), program.program);
        switchNode->GetPipeline().Configure(program.configuration, program.configurationName);
    }
    if (m_userPrograms.empty())
    {
        return;
    }
    // What such a program sends may come anywhere.
    for (NodeId node = 0; node < m_topology->GetNodes().size(); ++node)
    {
        if (m_fabric->GetSwitch(node))
        {
            GetPrograms(node);
        }
    }
    for (uint32_t endpoint = 0; endpoint < m_topology->GetEndpoints().size(); ++endpoint)
    {
        TakeSink(endpoint);
    }
}

/// What the program was compiled for cannot be set when it runs.
void
SlotAggregation::CheckCompiled(const char* attribute,
                               uint32_t value,
                               uint32_t compiled,
                               bool mayBeLess)
{
    if (value > compiled || (value < compiled && !mayBeLess))
    {
        throw std::invalid_argument(fmt::format(
            "attribute {} is {}, but the P4 program of the engine p4 is compiled for {}",
            attribute,
            value,
            compiled));
    }
}

P4SwitchNode::Place
SlotAggregation::GetPlace(NodeId node)
{
    const auto ports = m_topology->GetPorts(node).size();
    if (ports > MAX_P4_PORTS)
    {
        throw std::invalid_argument(fmt::format("switch {} has {} ports, but a P4 program knows {}",
                                                m_topology->GetNodes()[node].name,
                                                ports,
                                                MAX_P4_PORTS));
    }
    return {.node = node,
            .topology = m_topology.get(),
            .forwarder = m_fabric->GetSwitch(node),
            .pool = &m_fabric->GetPool(),
            .contents = &m_contents,
            .frames = this};
}

/// The P4 program in the place of the native switch.
std::unique_ptr<P4SlotSwitch>
SlotAggregation::MakeSlotEngine(NodeId node)
{
    if (!m_slotProgram)
    {
        m_slotProgram = std::make_shared<const P4Program>(P4ProgramLoader::Load(
            m_saturate ? compiled::GetSaturatingSlotProgram() : compiled::GetSlotProgram(),
            "slot-aggregation.json"));
    }
    return std::make_unique<P4SlotSwitch>(GetPlace(node), m_slotProgram);
}

bool
SlotAggregation::NodePrograms::ProcessNatively(FabricPacket* packet,
                                               uint16_t port,
                                               TimeStepCount now)
{
    switch (contents->Get(*packet).protocol)
    {
    case ProgramProtocol::Slots:
        return slots && slots->Process(packet, port, now);
    case ProgramProtocol::Atp:
        return atp && atp->Process(packet, port, now);
    case ProgramProtocol::NetReduce:
        return ring && ring->Process(packet, port, now);
    case ProgramProtocol::Other:
        break;
    }
    return false;
}

bool
SlotAggregation::NodePrograms::Process(FabricPacket* packet, uint16_t port, TimeStepCount now)
{
    return (pipelines && EnterPipelines(packet, port)) || ProcessNow(packet, port, now);
}

bool
SlotAggregation::NodePrograms::ProcessNow(FabricPacket* packet, uint16_t port, TimeStepCount now)
{
    const bool isTaken =
        user ? user->Process(packet, port, now) : ProcessNatively(packet, port, now);
    if (!isTaken && packet->destination == AggregationAddress::NO_ENDPOINT)
    {
        pool->Give(packet); // nobody here knows where it is to go
        return true;
    }
    return isTaken;
}

std::vector<uint8_t>
SlotAggregation::MakeFrame(const FabricPacket& packet, NodeId sender, NodeId receiver)
{
    const auto& content = m_contents.Get(packet);
    if (!content.frame.empty())
    {
        auto frame = content.frame;
        if (sender != content.framedBy && frame.size() >= 2 * sizeof(FrameAddress::mac))
        {
            // Nodes that hand on change MAC addresses and nothing else.
            std::ranges::copy(AggregationAddress::MakeMac(receiver), frame.begin());
            std::ranges::copy(AggregationAddress::MakeMac(sender),
                              frame.begin() + sizeof(FrameAddress::mac));
        }
        return frame;
    }
    if (content.protocol == ProgramProtocol::Atp)
    {
        return MakeAtpFrame(packet, sender, receiver);
    }
    if (content.protocol == ProgramProtocol::NetReduce)
    {
        return MakeNetReducePayload(content, packet.payloadBytes);
    }
    return MakeSlotFrame(content, sender, receiver);
}

std::vector<uint8_t>
SlotAggregation::MakeSlotFrame(const SlotPacket& content, NodeId sender, NodeId receiver) const
{
    const auto& header = content.header;
    const auto known = m_endpoints.find(header.job);
    const bool isWorker = known != m_endpoints.end() && header.worker < known->second->size();
    const auto partner = isWorker
                             ? AggregationAddress::FIRST_ENDPOINT + known->second->at(header.worker)
                             : AggregationAddress::FIRST_SWITCH + header.worker;
    const auto job = AggregationAddress::FIRST_JOB + header.job;
    const bool isResult = header.messageType == static_cast<uint8_t>(SlotMessage::Result);
    SlotFrame frame;
    frame.source = {AggregationAddress::MakeMac(sender), isResult ? job : partner};
    frame.destination = {AggregationAddress::MakeMac(receiver), isResult ? partner : job};
    frame.header = header;
    frame.values = content.values;
    frame.values.resize(m_valueCount); // zeros where only sizes matter
    return SerialiseSlotFrame(frame);
}

const P4SwitchNode*
SlotAggregation::GetUserSwitch(NodeId node) const
{
    const auto found = m_programs.find(node);
    return found == m_programs.end() ? nullptr : found->second.user.get();
}

} // namespace ns3::gradsync
