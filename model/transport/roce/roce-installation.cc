// SPDX-License-Identifier: GPL-2.0-only
// The part of RoceTransport that builds it.
#include "ns3/congestion-controls.h"
#include "ns3/roce-transport.h"
#include "ns3/simulator.h"
#include "ns3/wire-format.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

void
RoceTransport::Install(std::shared_ptr<const Topology> topology,
                       std::shared_ptr<const RoutingTables> routes)
{
    m_topology = std::move(topology);
    CheckSettings();
    InstallCongestionControl();
    if (m_windowPackets != 0)
    {
        m_ackEvery = std::min(m_ackEvery, std::max(m_windowPackets / 2, 1U));
    }
    m_fabric->Install(m_topology, routes, wire::RoceDataBytes(m_mtuBytes + m_telemetryBytes));
    InstallNics();
    m_flows.Install({.windowPackets = m_windowPackets,
                     .mtuBytes = m_mtuBytes,
                     .telemetryBytes = m_telemetryBytes,
                     .keepsRates = m_keepsRates,
                     .signals = m_signals},
                    m_control,
                    m_topology,
                    std::move(routes),
                    m_nics,
                    m_fabric->GetPool());
    InstallHalves();
    if (m_aggregation)
    {
        m_aggregation->SetTransport(this);
        m_aggregation->Install(m_fabric, m_topology);
        if (m_fabric->DoProgramsTakeAll())
        {
            m_sender.KeepQueuePairs(); // programs read their indices in frames
        }
    }
}

void
RoceTransport::InstallHalves()
{
    const uint8_t dataFlags = m_signals.ecn ? PacketFlag::ECN_CAPABLE : 0;
    m_sender.Install({.mtuBytes = m_mtuBytes,
                      .telemetryBytes = m_telemetryBytes,
                      .dataFlags = dataFlags,
                      .ackEvery = m_ackEvery,
                      .timeout = m_timeout.GetTimeStep(),
                      .retryLimit = m_retryLimit,
                      .recovery = m_recovery,
                      .reorderTolerance = m_reorderTolerance,
                      .keptQueuePairs = m_keptQueuePairs},
                     *m_fabric,
                     *m_topology,
                     PeekPointer(m_aggregation));
    m_receiver.Install({.mtuBytes = m_mtuBytes,
                        .ackEvery = m_ackEvery,
                        .recovery = m_recovery,
                        .ackWireBytes = wire::ROCE_ACK_BYTES + m_telemetryBytes,
                        .countsMarks = m_signals.ecn,
                        .returnsTelemetry = m_signals.telemetry,
                        .notificationInterval = m_signals.cnpInterval},
                       m_fabric->GetPool(),
                       m_nics,
                       m_sender);
}

void
RoceTransport::CheckSettings() const
{
    if (m_ackEvery == 0 && m_windowPackets != 0)
    {
        throw std::invalid_argument(
            "attribute WindowPackets needs acknowledgements: AckEvery must not be 0");
    }
    if (m_ackEvery == 0 && m_recovery == RECOVERY_SELECTIVE_REPEAT)
    {
        throw std::invalid_argument(
            "selective-repeat needs acknowledgements: AckEvery must not be 0");
    }
    if (m_fabric->IsReordering() && m_recovery != RECOVERY_SELECTIVE_REPEAT)
    {
        throw std::invalid_argument("LoadBalancing reorders packets, which go-back-n takes for "
                                    "loss: attribute Recovery must be selective-repeat");
    }
}

Ptr<CongestionControl>
RoceTransport::GetCongestionControl(const std::string& name)
{
    const auto entry = FindCongestionControl(name);
    if (!entry)
    {
        return nullptr;
    }
    auto& control = m_controls[entry->name];
    if (!control)
    {
        control = MakeCongestionControl(*entry);
    }
    return control;
}

void
RoceTransport::InstallCongestionControl()
{
    m_control = GetCongestionControl(m_congestionControl);
    if (m_control)
    {
        m_control->Install();
        m_signals = m_control->GetSignals();
        m_telemetryBytes = m_signals.telemetry ? wire::TELEMETRY_BYTES : 0;
    }
    if (m_signals.ackEvery != UINT32_MAX)
    {
        m_ackEvery = std::min(m_ackEvery == 0 ? UINT32_MAX : m_ackEvery, m_signals.ackEvery);
    }
}

void
RoceTransport::InstallNics()
{
    auto* simulator = PeekPointer(Simulator::GetImplementation());
    const auto endpoints = m_topology->GetEndpoints();
    for (uint32_t endpoint = 0; endpoint < endpoints.size(); ++endpoint)
    {
        auto& node = m_fabric->GetEndpoint(endpoint);
        node.SetSink(this);
        const auto ports = m_topology->GetPorts(endpoints[endpoint]);
        auto& nics = m_nics.emplace_back(std::make_unique<RoceNic[]>(ports.size()));
        for (size_t port = 0; port < ports.size(); ++port)
        {
            const auto rate = m_topology->GetLinks()[ports[port].link].rate.GetBitRate();
            nics[port].Install(&m_sender,
                               &node.GetPort(static_cast<uint16_t>(port)),
                               simulator,
                               static_cast<double>(rate));
        }
    }
}

} // namespace ns3::gradsync
