// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/twin-planes.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

/// What an execution has of its plane.
class TwinPlanes::Carrier final : public TransferCarrier
{
  public:
    Carrier(TwinPlanes& planes, const Place& place)
        : m_planes(planes),
          m_place(place)
    {
    }

    void Begin(bool /* isTogether */) override
    {
    }

    bool Take(const Message& message) override
    {
        return m_planes.Take(m_place, message);
    }

    void OnDelivered(OperationId id) override
    {
        m_planes.OnDelivered(m_place, id);
    }

  private:
    TwinPlanes& m_planes;
    Place m_place;
};

TwinPlanes::TwinPlanes(const Workload& workload,
                       std::vector<PlaneTwins> sets,
                       TransportParts& parts)
    : m_parts(parts),
      m_sets(std::move(sets)),
      m_places(workload.GetCommunications().size()),
      m_flights(m_sets.size())
{
    std::vector<PartTwins> twins;
    for (uint32_t set = 0; set < m_sets.size(); ++set)
    {
        twins.emplace_back();
        for (uint32_t plane = 0; plane < m_sets[set].size(); ++plane)
        {
            const auto& own = m_sets[set][plane];
            twins.back().push_back(own.part.get());
            for (uint32_t i = 0; i < own.communications.size(); ++i)
            {
                m_places[own.communications[i]] = {set, plane, i};
            }
        }
    }
    m_parts.SetTwins(twins);
}

std::unique_ptr<TransferCarrier>
TwinPlanes::MakeCarrier(CommunicationId id)
{
    const auto& place = m_places[id];
    if (place.set == NONE)
    {
        return nullptr;
    }
    m_count += place.plane > 0 ? 1 : 0;
    return std::make_unique<Carrier>(*this, place);
}

/// No exception: events that are under way end as always.
void
TwinPlanes::Differ(const char* how)
{
    m_difference = how;
    Simulator::Stop();
}

bool
TwinPlanes::Take(const Place& place, const Message& message)
{
    const auto now = Simulator::Now().GetTimeStep();
    const auto key = GetKey(place, static_cast<OperationId>(message.tag));
    const auto [found, isNew] = m_flights[place.set].try_emplace(key);
    auto& flight = found->second;
    if (isNew)
    {
        flight.left = now;
        flight.twins.resize(m_sets[place.set].size() - 1);
    }
    if (flight.left != now)
    {
        Differ("equal planes of the network were given equal messages at different times");
    }
    ++flight.count;
    if (place.plane == 0)
    {
        return false;
    }
    flight.twins[place.plane - 1] = message;
    return true;
}

void
TwinPlanes::OnDelivered(const Place& place, OperationId id)
{
    if (place.plane > 0)
    {
        return;
    }
    auto& flights = m_flights[place.set];
    const auto flight = std::move(flights.extract(GetKey(place, id)).mapped());
    if (flight.count != m_sets[place.set].size())
    {
        Differ("a plane of the network was not given what an equal one was");
        return;
    }
    for (size_t i = 0; i < flight.twins.size(); ++i)
    {
        // An event of its own, as an arrival by its own link would be.
        m_sets[place.set][i + 1].part->DeliverLater(flight.twins[i], 0);
    }
}

void
TwinPlanes::EndRun()
{
    const bool isOver =
        std::ranges::all_of(m_flights, [](const auto& flights) { return flights.empty(); });
    if (!isOver || !m_parts.AreTwins())
    {
        Differ("equal planes of the network may have done different things");
    }
}

} // namespace ns3::gradsync
