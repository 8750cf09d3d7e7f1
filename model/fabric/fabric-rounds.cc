// SPDX-License-Identifier: GPL-2.0-only
// The part of FabricNetwork that lets switches go on in rounds.
#include "ns3/fabric-network.h"
#include "ns3/log.h"
#include "ns3/radix-scheduler.h"
#include "ns3/simulator.h"
#include "ns3/switch-rounds.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncFabricRounds");

/// The ports from which packets come to a node, by its port.
std::vector<FabricPort*>
FabricNetwork::GetIngressPorts(NodeId node)
{
    std::vector<FabricPort*> ports;
    for (const auto& adjacency : m_topology->GetPorts(node))
    {
        const bool isToA = m_topology->GetLinks()[adjacency.link].a == node;
        ports.push_back(PeekPointer(m_ports[2 * adjacency.link + (isToA ? 1 : 0)]));
    }
    return ports;
}

/// Of the links of a node, in time steps.
TimeStepCount
FabricNetwork::GetLeastDelay(NodeId node) const
{
    TimeStepCount least = INT64_MAX;
    for (const auto& adjacency : m_topology->GetPorts(node))
    {
        least = std::min(least, m_topology->GetLinks()[adjacency.link].delay.GetTimeStep());
    }
    return least;
}

SwitchRounds&
FabricNetwork::ProvideRounds(TimeStepCount lookahead)
{
    auto& rounds = m_rounds[lookahead];
    if (!rounds)
    {
        rounds = Ptr<SwitchRounds>(
            new SwitchRounds(*PeekPointer(Simulator::GetImplementation()), lookahead),
            false);
        rounds->SetFirstCallback([this] {
            if (IsLookedInto())
            {
                KeepInStep();
            }
        });
        rounds->SetFetching(m_prefetches);
    }
    return *rounds;
}

void
FabricNetwork::BeginRounds()
{
    // Without the EventOrder, what comes to a switch at one instant would do so in another order.
    const bool goesInRounds = m_goesInRounds && RadixScheduler::IsInUse();
    for (NodeId node = 0; goesInRounds && node < m_switches.size(); ++node)
    {
        const auto lookahead = m_switches[node] ? GetLeastDelay(node) : 0;
        if (lookahead == 0 || m_topology->GetPorts(node).empty())
        {
            continue;
        }
        const auto links = GetIngressPorts(node);
        m_switches[node]->SetRounds(&ProvideRounds(lookahead), links);
        for (auto* link : links)
        {
            link->SetGathered(true, 0);
        }
    }
}

/// Whether something here asks when packets come to switches while they do.
bool
FabricNetwork::IsLookedInto() const
{
    const bool isTraced = !m_dropTrace.IsEmpty() || !m_pauseTrace.IsEmpty() ||
                          !m_markTrace.IsEmpty() || m_queueTrace.IsWatched();
    const bool runsProgram = std::ranges::any_of(m_switches, [](const auto* node) {
        return node && node->HasProgram();
    });
    return isTraced || runsProgram || MayLose() || m_countBlocked || HasFaults();
}

void
FabricNetwork::KeepInStep()
{
    m_goesInRounds = false;
    const bool goesOn = std::ranges::any_of(m_rounds, [](const auto& rounds) {
        return !rounds.second->IsDissolved();
    });
    if (!goesOn)
    {
        return;
    }
    NS_LOG_INFO("switches are kept in step with the simulator");
    const auto now = Simulator::Now().GetTimeStep();
    for (auto* node : m_switches)
    {
        if (node)
        {
            node->SetRounds(nullptr, {});
        }
    }
    for (const auto& port : m_ports)
    {
        port->SetGathered(false, now);
    }
    for (const auto& [lookahead, rounds] : m_rounds)
    {
        rounds->Dissolve();
    }
}

/// Somebody looks into the network at an instant, or changes it.
void
FabricNetwork::RequireInStep()
{
    const bool isAhead = std::ranges::any_of(m_rounds, [](const auto& rounds) {
        return !rounds.second->IsDissolved() && rounds.second->HasBegun();
    });
    if (isAhead)
    {
        throw std::logic_error("switches are ahead of the simulator: call KeepInStep before the "
                               "first packet, or set attribute SwitchRounds to false");
    }
    KeepInStep();
}

void
FabricNetwork::SetBound(TimeStepCount bound)
{
    for (const auto& [lookahead, rounds] : m_rounds)
    {
        rounds->SetBound(bound);
    }
}

SwitchRounds*
FabricNetwork::HoldRounds(TimeStepCount lookahead)
{
    const bool areAllInRounds = std::ranges::all_of(m_switches, [](const auto* node) {
        return !node || node->GoesInRounds();
    });
    if (!areAllInRounds || m_rounds.size() != 1 || m_rounds.begin()->first < lookahead)
    {
        return nullptr;
    }
    auto* rounds = PeekPointer(m_rounds.begin()->second);
    rounds->Hold();
    return rounds;
}

SwitchRoundCounts
FabricNetwork::GetRoundCounts() const
{
    SwitchRoundCounts total;
    for (const auto& [lookahead, rounds] : m_rounds)
    {
        const auto counts = rounds->GetCounts();
        total.taken += counts.taken;
        total.rounds += counts.rounds;
    }
    return total;
}

} // namespace ns3::gradsync
