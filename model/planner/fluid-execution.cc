// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fluid-execution.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

namespace
{
/// What happens within this share of the time that has passed happens at once: far above the
/// rounding of a double, far below what an estimate is good for.
constexpr double RELATIVE_TOLERANCE = 1e-11;

/// A NIC sends a packet of each connection in turn, in the order in which they came. Of messages
/// with more packets the first round is too small a part to be looked at.
constexpr uint64_t MAX_PACKETS_OF_TURNS = 64;

/// Paths in service, summed over events, after which an estimate is given up: about two seconds.
constexpr uint64_t MAX_WORK = 10'000'000;
} // namespace

FluidExecution::FluidExecution(const PlacedPlan& placed,
                               std::span<const AggregationPace> paces,
                               const NetworkModel& model,
                               PathCatalogue& paths,
                               RateSharing sharing)
    : m_placed(placed),
      m_paces(paces),
      m_model(model),
      m_paths(paths),
      m_served(paths.GetCapacities(), sharing),
      m_gate(placed.plan),
      m_capacities(paths.GetCapacities()),
      m_windowBytes(m_capacities.size(), 0.0),
      m_addingUntil(placed.plan.GetRankCount(), 0.0),
      m_computingUntil(placed.plan.GetRankCount(), 0.0),
      m_nextTurn(m_capacities.size(), 0.0)
{
    PreparePaths(PrepareConnections());
    PrepareGroups();
}

std::vector<FluidExecution::PathBytes>
FluidExecution::PrepareConnections()
{
    const auto operations = m_placed.plan.GetOperations();
    std::vector<PathBytes> bytesOf;                          // [path in m_served]
    std::map<uint32_t, uint32_t> pathOf;                     // [path in the catalogue]
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> known; // [(path, stream)] -> connection
    m_connectionOf.assign(operations.size(), NONE);
    for (OperationId id = 0; id < operations.size(); ++id)
    {
        const auto& operation = operations[id];
        if (!operation.IsTransfer() || operation.IsAggregate())
        {
            continue;
        }
        const auto found = m_paths.Find(m_placed.endpointOf[operation.src],
                                        m_placed.endpointOf[operation.dst],
                                        operation.stream);
        const auto path =
            pathOf.try_emplace(found, static_cast<uint32_t>(m_pathOf.size())).first->second;
        if (path == m_pathOf.size())
        {
            m_pathOf.push_back(found);
            bytesOf.emplace_back();
        }
        const auto [connection, isNew] =
            known.try_emplace({path, operation.stream},
                              static_cast<uint32_t>(m_connections.size()));
        if (isNew)
        {
            m_connections.push_back({path, {}});
        }
        m_connectionOf[id] = connection->second;
        bytesOf[path].sent += m_model.GetWireBytes(m_placed.plan.GetBytes(id));
        bytesOf[path].acknowledging += m_model.GetAckWireBytes(m_placed.plan.GetBytes(id));
    }
    return bytesOf;
}

void
FluidExecution::PreparePaths(std::span<const PathBytes> bytes)
{
    for (size_t i = 0; i < bytes.size(); ++i)
    {
        const auto& path = m_paths.Get(m_pathOf[i]);
        auto uses = path.uses;
        if (bytes[i].acknowledging > 0.0)
        {
            // On other directions of links, since both ways are shortest paths.
            for (const auto& use : m_paths.Get(path.back).uses)
            {
                uses.push_back({use.link, use.weight * bytes[i].acknowledging / bytes[i].sent});
            }
        }
        m_served.Add(uses, path.firstLink);
    }
}

std::optional<double>
FluidExecution::Run(double limit)
{
    m_now = m_placed.GetBaseSeconds();
    m_waitsFor = m_placed.plan.CountPredecessors();
    const auto initial = m_waitsFor; // what is done at once changes the other
    std::vector<OperationId> done;
    for (OperationId id = 0; id < initial.size(); ++id)
    {
        if (initial[id] == 0)
        {
            MakeReady(id, done);
        }
    }
    MarkDone(std::move(done));
    while (m_doneCount < initial.size())
    {
        StartReady();
        if (std::exchange(m_changed, false))
        {
            m_served.Allocate();
        }
        auto next = m_now + m_served.GetSecondsToNext();
        next = m_arrivals.empty() ? next : std::min(next, m_arrivals.top().first);
        next = m_turns.empty() ? next : std::min(next, m_turns.top().first);
        m_work += m_served.GetActive().size();
        if (next >= limit || m_work > MAX_WORK)
        {
            return std::nullopt;
        }
        m_served.Advance(next - m_now);
        m_now = next;
        FinishServed();
        FinishArrivals();
        StartTurns();
    }
    return m_now;
}

void
FluidExecution::MakeReady(OperationId id, std::vector<OperationId>& done)
{
    const auto& operation = m_placed.plan.GetOperations()[id];
    if (operation.IsAggregate())
    {
        // When the last of its members is there, the first stands for it.
        m_gate.Reach(id, [this, first = m_placed.plan.GetMembers(id).first](OperationId member) {
            if (member == first)
            {
                m_ready.push_back(first);
            }
        });
    }
    else if (operation.IsTransfer())
    {
        m_ready.push_back(id);
    }
    else if (TakesTime(operation))
    {
        StartWork(id);
    }
    else
    {
        done.push_back(id);
    }
}

void
FluidExecution::StartReady()
{
    std::sort(m_ready.begin(), m_ready.end());
    for (const auto id : m_ready)
    {
        auto& connection = m_connections[m_connectionOf[id]];
        connection.waiting.push_back(id);
        const bool isGroup = m_connectionOf[id] >= m_firstGroup;
        if (isGroup)
        {
            Queue(id, 1.0);
        }
        if (connection.waiting.size() > 1)
        {
            continue;
        }
        const bool isFirst = isGroup && BeginSeries(m_connectionOf[id] - m_firstGroup);
        if (const auto turn = TakeTurn(m_connectionOf[id], isFirst); turn > m_now)
        {
            m_turns.emplace(turn, m_connectionOf[id]);
            continue;
        }
        Serve(m_connectionOf[id], m_served.GetServed(connection.path));
        m_changed = true;
    }
    m_ready.clear();
}

double
FluidExecution::TakeTurn(uint32_t connection, bool isFirst)
{
    const auto bytes = m_placed.plan.GetBytes(m_connections[connection].waiting.front());
    if (connection >= m_firstGroup)
    {
        return isFirst ? TakeWindow(connection) : m_now;
    }
    if (m_model.CountPackets(bytes) > MAX_PACKETS_OF_TURNS || m_model.payloadBytes == 0)
    {
        return m_now;
    }
    const auto& path = m_paths.Get(m_pathOf[m_connections[connection].path]);
    auto& next = m_nextTurn[path.firstLink];
    const auto turn = std::max(next, m_now);
    next = turn + m_model.GetPacketWireBytes(bytes) * path.firstSecondsPerByte;
    return turn;
}

void
FluidExecution::StartTurns()
{
    while (!m_turns.empty() && m_turns.top().first <= m_now + GetTolerance())
    {
        const auto connection = m_turns.top().second;
        m_turns.pop();
        Serve(connection, m_served.GetServed(m_connections[connection].path));
        m_changed = true;
    }
}

void
FluidExecution::Serve(uint32_t connection, double base)
{
    const auto& served = m_connections[connection];
    const auto bytes = m_placed.plan.GetBytes(served.waiting.front());
    auto wireBytes = 0.0;
    if (connection < m_firstGroup)
    {
        wireBytes = m_model.GetWireBytes(bytes);
    }
    else
    {
        m_series[connection - m_firstGroup].served = m_now;
        wireBytes = m_paces[connection - m_firstGroup].GetBytes(bytes);
    }
    m_served.Serve(served.path, {base + wireBytes, connection});
}

double
FluidExecution::GetTolerance() const
{
    return m_now * RELATIVE_TOLERANCE;
}

void
FluidExecution::FinishServed()
{
    for (const auto path : m_served.GetActive())
    {
        while (const auto service = m_served.TakeServed(path, GetTolerance()))
        {
            FinishService(path, *service);
        }
    }
}

void
FluidExecution::FinishService(uint32_t path, const ServedPaths::Service& service)
{
    auto& connection = m_connections[service.connection];
    const auto id = connection.waiting.front();
    connection.waiting.pop_front();
    const auto arrival =
        m_pathOf[path] == NONE
            ? FinishAggregation(id)
            : m_now + m_paths.Get(m_pathOf[path]).GetLatency(m_model, m_placed.plan.GetBytes(id));
    m_arrivals.emplace(arrival + m_placed.GetHopSeconds(id), id);
    if (connection.waiting.empty())
    {
        m_changed = true;
    }
    else
    {
        Serve(service.connection, service.target);
    }
}

void
FluidExecution::FinishArrivals()
{
    while (!m_arrivals.empty() && m_arrivals.top().first <= m_now + GetTolerance())
    {
        const auto id = m_arrivals.top().second;
        m_arrivals.pop();
        const auto& operation = m_placed.plan.GetOperations()[id];
        if (TakesTime(operation) && m_connectionOf[id] != NONE)
        {
            // What arrived is added, and then arrives a second time.
            m_connectionOf[id] = NONE;
            StartWork(id);
            continue;
        }
        MarkDone(ListEnding(id));
    }
}

bool
FluidExecution::TakesTime(const Operation& operation) const
{
    return operation.IsCompute() ||
           (operation.kind == OperationKind::TransferReduce && m_placed.reduceSecondsPerByte > 0.0);
}

void
FluidExecution::StartWork(OperationId id)
{
    const auto& operation = m_placed.plan.GetOperations()[id];
    auto& busy = operation.IsCompute() ? m_computingUntil : m_addingUntil;
    auto& until = busy[operation.dst];
    until = std::max(until, m_now) + m_placed.GetWorkSeconds(id);
    m_arrivals.emplace(until, id);
}

void
FluidExecution::MarkDone(std::vector<OperationId> done)
{
    // A list, not recursion: a plan may chain any number of joins.
    while (!done.empty())
    {
        const auto last = done.back();
        done.pop_back();
        ++m_doneCount;
        for (const auto later : m_placed.plan.GetSuccessors(last))
        {
            if (--m_waitsFor[later] == 0)
            {
                MakeReady(later, done);
            }
        }
    }
}

} // namespace ns3::gradsync
