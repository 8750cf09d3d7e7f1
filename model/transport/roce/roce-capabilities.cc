// SPDX-License-Identifier: GPL-2.0-only
// What RoceTransport hands out and tells to those who set it up and look into it.
#include "ns3/congestion-controls.h"
#include "ns3/longest-path.h"
#include "ns3/roce-transport.h"
#include "ns3/wire-format.h"

namespace ns3::gradsync
{

namespace
{

constexpr const char* AGGREGATION = "aggregation";

} // namespace

TransportCapabilities*
RoceTransport::GetCapabilities()
{
    return this;
}

TransportFaults*
RoceTransport::GetFaults()
{
    return this;
}

std::vector<std::string>
RoceTransport::ListConcerns(const Topology& topology)
{
    const auto control = GetCongestionControl(m_congestionControl);
    if (!control || topology.GetEndpoints().size() < 2)
    {
        return {};
    }
    const auto telemetry = control->GetSignals().telemetry ? wire::TELEMETRY_BYTES : 0;
    const auto path = FindLongestPath(topology,
                                      wire::RoceDataBytes(m_mtuBytes + telemetry),
                                      wire::ROCE_ACK_BYTES + telemetry);
    const auto concern = control->FindConcern(path);
    return concern.empty() ? std::vector<std::string>{} : std::vector{concern};
}

void
RoceTransport::SetAggregation(const Ptr<NetworkAggregation>& aggregation)
{
    m_aggregation = aggregation;
}

NetworkAggregation*
RoceTransport::GetAggregation() const
{
    return PeekPointer(m_aggregation);
}

bool
RoceTransport::HasPackets() const
{
    return true;
}

double
RoceTransport::GetPayloadShare() const
{
    return static_cast<double>(m_mtuBytes) / wire::RoceDataBytes(m_mtuBytes);
}

bool
RoceTransport::HasHostFaults() const
{
    return true;
}

std::vector<std::string>
RoceTransport::ListParts() const
{
    std::vector<std::string> parts;
    if (m_aggregation)
    {
        parts.emplace_back(AGGREGATION);
    }
    for (const auto& entry : GetCongestionControls())
    {
        parts.push_back(entry.name);
    }
    return parts;
}

Ptr<Object>
RoceTransport::GetPart(const std::string& name)
{
    // Those of drivers are parts of the aggregation: `aggregation.atp`.
    const auto prefix = std::string(AGGREGATION) + ".";
    if (name.starts_with(prefix))
    {
        return m_aggregation ? m_aggregation->GetPart(name.substr(prefix.size())) : nullptr;
    }
    return name == AGGREGATION ? Ptr<Object>(m_aggregation)
                               : Ptr<Object>(GetCongestionControl(name));
}

Ptr<FabricNetwork>
RoceTransport::GetFabric() const
{
    return m_fabric;
}

void
RoceTransport::Capture(LinkId link, const std::string& folder)
{
    if (!m_capture)
    {
        m_sender.KeepQueuePairs(); // frames name them
        m_capture = std::make_unique<RoceCapture>(*m_topology, m_connections);
        if (m_aggregation)
        {
            m_capture->SetProgramFrames(
                [aggregation = PeekPointer(
                     m_aggregation)](const FabricPacket& packet, NodeId sender, NodeId receiver) {
                    return aggregation->MakeFrame(packet, sender, receiver);
                });
        }
    }
    m_capture->Add(link, folder);
    m_fabric->SetTap(link, m_capture.get());
}

void
RoceTransport::CloseCaptures()
{
    if (m_capture)
    {
        m_capture->Close();
    }
}

} // namespace ns3::gradsync
