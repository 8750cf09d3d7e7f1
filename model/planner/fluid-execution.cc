// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fluid-execution.h"

#include <algorithm>
#include <limits>
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
      m_gate(placed.plan),
      m_sharing(sharing),
      m_addingUntil(placed.plan.GetRankCount(), 0.0),
      m_computingUntil(placed.plan.GetRankCount(), 0.0)
{
    PrepareConnections();
    PreparePaths();
    PrepareGroups();
}

uint32_t
FluidExecution::FindState(uint32_t path, std::map<uint32_t, uint32_t>& known)
{
    const auto [found, isNew] = known.try_emplace(path, static_cast<uint32_t>(m_states.size()));
    if (isNew)
    {
        m_states.emplace_back().path = path;
    }
    return found->second;
}

void
FluidExecution::PrepareConnections()
{
    const auto operations = m_placed.plan.GetOperations();
    m_connectionOf.assign(operations.size(), NONE);
    std::map<uint32_t, uint32_t> stateOf;                    // [path]
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> known; // [(state, stream)] -> connection
    for (OperationId id = 0; id < operations.size(); ++id)
    {
        const auto& operation = operations[id];
        if (!operation.IsTransfer() || operation.IsAggregate())
        {
            continue;
        }
        const auto path = m_paths.Find(m_placed.endpointOf[operation.src],
                                       m_placed.endpointOf[operation.dst],
                                       operation.stream);
        const auto state = FindState(path, stateOf);
        const auto [found, isNew] = known.try_emplace({state, operation.stream},
                                                      static_cast<uint32_t>(m_connections.size()));
        if (isNew)
        {
            m_connections.push_back({state, {}});
        }
        m_connectionOf[id] = found->second;
        m_states[state].wireBytes += m_model.GetWireBytes(m_placed.plan.GetBytes(id));
        m_states[state].ackBytes += m_model.GetAckWireBytes(m_placed.plan.GetBytes(id));
    }
}

void
FluidExecution::PreparePaths()
{
    m_allocator = MaxMinAllocator(m_paths.GetCapacities());
    m_nextTurn.resize(m_paths.GetCapacities().size(), 0.0);
    m_flowCounts.resize(m_states.size(), 0);
    m_rates.resize(m_states.size(), 0.0);
    std::map<uint32_t, uint32_t> nicOf; // [link direction]
    for (auto& state : m_states)
    {
        const auto& path = m_paths.Get(state.path);
        auto uses = path.uses;
        if (state.ackBytes > 0.0)
        {
            // On other directions of links, since both ways are shortest paths.
            for (const auto& use : m_paths.Get(path.back).uses)
            {
                uses.push_back({use.link, use.weight * state.ackBytes / state.wireBytes});
            }
        }
        state.nic =
            nicOf.try_emplace(path.firstLink, static_cast<uint32_t>(nicOf.size())).first->second;
        if (m_sharing == RateSharing::Connections)
        {
            m_allocator.AddClass(uses);
        }
        m_usesOf.push_back(std::move(uses));
    }
    m_nics.resize(nicOf.size());
    if (m_sharing == RateSharing::Nics)
    {
        for (const auto& [link, nic] : nicOf)
        {
            const MaxMinAllocator::Use use{link, 1.0};
            m_allocator.AddClass({&use, 1});
        }
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
        Allocate();
        auto next = FindNextService();
        next = m_arrivals.empty() ? next : std::min(next, m_arrivals.top().first);
        next = m_turns.empty() ? next : std::min(next, m_turns.top().first);
        m_work += m_active.size();
        if (next >= limit || m_work > MAX_WORK)
        {
            return std::nullopt;
        }
        Advance(next);
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
        Serve(m_connectionOf[id], m_states[connection.path].served);
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
    const auto& path = m_paths.Get(m_states[m_connections[connection].path].path);
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
        Serve(connection, m_states[m_connections[connection].path].served);
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
    auto& state = m_states[served.path];
    state.heap.push_back({base + wireBytes, connection});
    std::push_heap(state.heap.begin(), state.heap.end());
    if (state.activeIndex == NONE)
    {
        state.activeIndex = static_cast<uint32_t>(m_active.size());
        m_active.push_back(served.path);
    }
}

void
FluidExecution::Allocate()
{
    if (!m_changed)
    {
        return;
    }
    m_changed = false;
    bool stale = false;
    for (size_t i = 0; i < m_active.size();)
    {
        const auto path = m_active[i];
        auto& state = m_states[path];
        const auto flows = static_cast<uint32_t>(state.heap.size());
        stale = stale || flows != m_flowCounts[path];
        m_flowCounts[path] = flows;
        if (flows == 0)
        {
            m_active[i] = m_active.back();
            m_states[m_active[i]].activeIndex = static_cast<uint32_t>(i);
            m_active.pop_back();
            state.activeIndex = NONE;
            state.served = 0.0;
            continue;
        }
        ++i;
    }
    if (!stale || m_active.empty())
    {
        return;
    }
    if (m_sharing == RateSharing::Nics)
    {
        ShareAmongNics();
        return;
    }
    m_allocator.Allocate(m_active, m_flowCounts, m_rates);
}

void
FluidExecution::ShareAmongNics()
{
    for (auto& nic : m_nics)
    {
        nic.uses.clear();
    }
    for (const auto path : m_active)
    {
        for (const auto& use : m_usesOf[path])
        {
            m_nics[m_states[path].nic].uses[use.link] += use.weight * m_flowCounts[path];
        }
    }
    std::vector<uint32_t> active;
    for (uint32_t i = 0; i < m_nics.size(); ++i)
    {
        if (m_nics[i].uses.empty())
        {
            continue;
        }
        std::vector<MaxMinAllocator::Use> uses;
        for (const auto& [link, weight] : m_nics[i].uses)
        {
            uses.push_back({link, weight});
        }
        m_allocator.SetUses(i, uses);
        active.push_back(i);
    }
    const std::vector<uint32_t> ones(m_nics.size(), 1);
    std::vector<double> rates(m_nics.size(), 0.0);
    m_allocator.Allocate(active, ones, rates);
    for (const auto path : m_active)
    {
        m_rates[path] = rates[m_states[path].nic];
    }
}

double
FluidExecution::FindNextService() const
{
    double next = std::numeric_limits<double>::infinity();
    for (const auto path : m_active)
    {
        const auto& state = m_states[path];
        next = std::min(next, (state.heap.front().target - state.served) / m_rates[path]);
    }
    return m_now + std::max(next, 0.0);
}

void
FluidExecution::Advance(double time)
{
    for (const auto path : m_active)
    {
        m_states[path].served += m_rates[path] * (time - m_now);
    }
    m_now = time;
}

double
FluidExecution::GetTolerance() const
{
    return m_now * RELATIVE_TOLERANCE;
}

void
FluidExecution::FinishServed()
{
    for (const auto path : m_active)
    {
        const auto& state = m_states[path];
        const auto slack = m_rates[path] * GetTolerance();
        while (!state.heap.empty() && state.heap.front().target - state.served <= slack)
        {
            FinishHead(path);
        }
    }
}

void
FluidExecution::FinishHead(uint32_t path)
{
    auto& heap = m_states[path].heap;
    const auto service = heap.front();
    std::pop_heap(heap.begin(), heap.end());
    heap.pop_back();
    auto& connection = m_connections[service.connection];
    const auto id = connection.waiting.front();
    connection.waiting.pop_front();
    const auto arrival =
        m_states[path].path == NONE
            ? FinishAggregation(id)
            : m_now +
                  m_paths.Get(m_states[path].path).GetLatency(m_model, m_placed.plan.GetBytes(id));
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
