// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/roce-part.h"

#include "ns3/event-order.h"
#include "ns3/roce-mirrors.h"
#include "ns3/roce-transport.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace ns3::gradsync
{

namespace
{

using Paths = std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>>;

std::vector<uint32_t>
ListPorts(const Paths& paths)
{
    std::set<uint32_t> ports;
    for (const auto& [pair, path] : paths)
    {
        ports.insert(path.begin(), path.end());
    }
    return {ports.begin(), ports.end()};
}

TimeStepCount
Now()
{
    return Simulator::Now().GetTimeStep();
}

} // namespace

RocePart::RocePart(const Site& site,
                   std::span<const uint32_t> endpoints,
                   const Paths& paths,
                   std::vector<const RoceNic*> nics)
    : m_site(site),
      m_part(site.fabric, ListPorts(paths)),
      m_nics(std::move(nics))
{
    StateWords words(0);
    m_part.AddShape(endpoints, words);
    for (const auto& [pair, path] : paths)
    {
        words.Add(pair.first);
        words.Add(pair.second);
        for (const auto port : path)
        {
            words.Add(m_part.FindPlace(port));
        }
        words.EndList();
        m_lastPorts[{endpoints[pair.first], endpoints[pair.second]}] = path.back();
    }
    m_shape = words.Get();
}

const std::vector<uint64_t>&
RocePart::GetShape() const
{
    return m_shape;
}

std::span<const uint32_t>
RocePart::GetPorts() const
{
    return m_part.GetPorts();
}

bool
RocePart::IsAtRest()
{
    // Ports first: a NIC learns of what has left when its port is synced.
    return !m_site.sender.MayLose() && m_site.sender.GetRetransmittedPackets() == 0 &&
           m_part.IsAtRest(Now(), m_site.isMarked) &&
           std::ranges::all_of(m_nics, [](const auto* nic) { return nic->IsAtRest(); });
}

int64_t
RocePart::GetRestTime() const
{
    return m_part.GetRestTime();
}

void
RocePart::BeginMeasuring()
{
    m_part.BeginMeasuring(Now());
}

PartTraffic
RocePart::Measure()
{
    PartTraffic traffic;
    traffic.ports = m_part.Measure(Now());
    traffic.goodputBytes = m_part.GetArrivedBytes(traffic.ports);
    for (const auto& port : traffic.ports)
    {
        traffic.events += port.packets; // each arrives once; at rest nothing else is an event
    }
    return traffic;
}

void
RocePart::Add(const PartTraffic& traffic)
{
    m_part.Add(traffic.ports);
    m_site.receiver.AddGoodput(traffic.goodputBytes);
    m_site.savedEvents += traffic.events;
}

void
RocePart::DeliverLater(const Message& message, int64_t delay)
{
    const auto port = m_lastPorts.at({message.src, message.dst});
    ScheduleInOrder(EventOrder::OfArrival(port),
                    TimeStep(static_cast<uint64_t>(delay)),
                    &MessageHandler::OnDelivered,
                    message.handler,
                    message.tag);
    --m_site.savedEvents;
}

TransportParts*
RoceTransport::GetParts()
{
    return this;
}

std::string
RoceTransport::FindObstacle() const
{
    if (m_capture || !m_recoveryTrace.IsEmpty() || !m_payloadTrace.IsEmpty())
    {
        return "packets are watched";
    }
    if (m_fabric->HasFaults())
    {
        return "links or hosts have faults, or lose packets";
    }
    if (m_control && !m_signals.opensFresh)
    {
        return "congestion control remembers every flow";
    }
    return {};
}

void
RoceTransport::AddPlaces(uint32_t src, uint32_t dst, std::set<uint32_t>& places) const
{
    m_fabric->AddPlaces(src, dst, places);
}

bool
RoceTransport::MayHaveTwins() const
{
    return FindObstacle().empty() && !m_mirrors && m_fabric->MayHaveTwins();
}

void
RoceTransport::SetTwins(std::span<const PartTwins> sets)
{
    std::vector<uint32_t> simulated(m_fabric->GetPortCount());
    std::iota(simulated.begin(), simulated.end(), 0);
    for (const auto& twins : sets)
    {
        const auto ports = twins.front()->GetPorts();
        m_twins.push_back({twins.size() - 1, {ports.begin(), ports.end()}});
        for (const auto* twin : twins)
        {
            for (size_t i = 0; i < ports.size(); ++i)
            {
                simulated[twin->GetPorts()[i]] = ports[i];
            }
        }
    }
    m_fabric->SetTwins(std::move(simulated));
}

bool
RoceTransport::AreTwins() const
{
    // Timeouts, which what is sent again comes of, are events that are counted once.
    return FindObstacle().empty() && m_sender.GetRetransmittedPackets() == 0 &&
           std::ranges::all_of(m_twins, [this](const auto& twins) {
               return m_fabric->AreTwins(twins.ports, m_signals.ecn);
           });
}

void
RoceTransport::AddTwins(TransportStatistics& total) const
{
    for (const auto& twins : m_twins)
    {
        const auto counts = m_fabric->CountPart(twins.ports);
        total.savedEvents += twins.others * counts.events;
        total.goodputBytes += twins.others * counts.arrivedBytes;
    }
}

std::unique_ptr<NetworkPart>
RoceTransport::MakePart(std::span<const uint32_t> endpoints,
                        const std::set<std::pair<uint32_t, uint32_t>>& pairs)
{
    Paths paths;
    std::set<const RoceNic*> nics;
    for (const auto& [from, to] : pairs)
    {
        for (const auto& [src, dst] : {std::pair{from, to}, std::pair{to, from}})
        {
            auto path = m_fabric->FindOnlyPath(endpoints[src], endpoints[dst]);
            if (path.empty() || (m_mirrors && !m_mirrors->AreHere(path)))
            {
                return nullptr;
            }
            nics.insert(&m_nics[endpoints[src]]
                               [m_fabric->ChooseEndpointPort(endpoints[src], 0, endpoints[dst])]);
            paths.emplace(std::pair{src, dst}, std::move(path));
        }
    }
    return std::make_unique<RocePart>(
        RocePart::Site{*m_fabric, m_sender, m_receiver, m_savedEvents, m_signals.ecn},
        endpoints,
        paths,
        std::vector<const RoceNic*>(nics.begin(), nics.end()));
}

} // namespace ns3::gradsync
