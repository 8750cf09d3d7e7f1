// SPDX-License-Identifier: GPL-2.0-only
// The part of SlotAggregation that holds packets up as a real switch does.
#include "ns3/atp-frame.h"
#include "ns3/slot-aggregation.h"

#include <memory>
#include <optional>
#include <stdexcept>

namespace ns3::gradsync
{

/// \returns nullptr for a node without limits
std::unique_ptr<SwitchPipelines>
SlotAggregation::MakePipelines(NodeId node, NodePrograms& programs)
{
    const bool isLimited = m_pipelinePacketRate > 0.0 || m_processingDelay.IsStrictlyPositive();
    if (!isLimited || m_topology->GetNodes()[node].kind != NodeKind::Switch)
    {
        return nullptr;
    }
    if (m_pipelinePacketRate > 0.0 && m_pipelinePacketRate < 1.0)
    {
        throw std::invalid_argument("attribute PipelinePacketRate must be 0 or at least 1");
    }
    const auto gap = m_pipelinePacketRate > 0.0 ? Seconds(1.0 / m_pipelinePacketRate) : Time(0);
    auto* forwarder = m_fabric->GetSwitch(node);
    return std::make_unique<SwitchPipelines>(
        SwitchPipelines::Limits{m_pipelines, gap, m_valuesPerPass, m_processingDelay},
        [&programs, forwarder](FabricPacket* packet, uint16_t port, TimeStepCount now) {
            if (!programs.ProcessNow(packet, port, now))
            {
                forwarder->EmitTo(packet, port, now);
            }
        });
}

/// False for a packet that is only forwarded here.
bool
SlotAggregation::NodePrograms::EnterPipelines(FabricPacket* packet, uint16_t port)
{
    const auto& content = contents->Get(*packet);
    uint32_t values = 0;
    bool passes = user != nullptr;
    std::optional<uint32_t> place;
    switch (content.protocol)
    {
    case ProgramProtocol::Slots:
        values = content.header.count;
        place = slots ? slots->FindPlace(content.header) : std::nullopt;
        passes = passes || place;
        break;
    case ProgramProtocol::Atp:
        values = ATP_VALUES;
        passes = atp && atp->Concerns(content.atp);
        place = passes ? atp->GetSwitch().FindPlace(content.atp) : std::nullopt;
        break;
    case ProgramProtocol::NetReduce: // its memory belongs to no pipeline, and order counts
        values = ring ? ring->GetValueCount() : 0;
        passes = ring && ring->AddsUp(content.ring.job);
        break;
    case ProgramProtocol::Other:
        break;
    }
    if (passes)
    {
        pipelines->Enter(packet, port, values, place);
    }
    return passes;
}

} // namespace ns3::gradsync
