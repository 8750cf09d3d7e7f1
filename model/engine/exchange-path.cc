// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/exchange-path.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr OperationId NOTHING = UINT32_MAX;

/// Walks back from the end.
class PathFinder
{
  public:
    PathFinder(const Plan& plan, const ExchangeTimes& times)
        : m_plan(plan),
          m_times(times),
          m_now(times.iteration.end)
    {
        IndexPredecessors();
        FindEnds();
        IndexRanks();
    }

    std::vector<ExchangeStep> Find()
    {
        auto id = FindLast();
        while (id != NOTHING)
        {
            WaitSince(std::min(m_now, m_end[id]));
            id = GoBack(id);
        }
        WaitSince(m_times.iteration.begin);
        std::ranges::reverse(m_path);
        return std::move(m_path);
    }

  private:
    /// What a rank was busy with, by when it ended.
    struct Busy
    {
        uint32_t rank;
        bool isWork;
        Time end;
        OperationId operation;

        bool operator<(const Busy& other) const
        {
            return std::tie(rank, isWork, end, operation) <
                   std::tie(other.rank, other.isWork, other.end, other.operation);
        }
    };

    void IndexPredecessors()
    {
        const auto size = m_plan.GetOperations().size();
        m_firstBefore.assign(size + 1, 0);
        for (OperationId id = 0; id < size; ++id)
        {
            for (const auto successor : m_plan.GetSuccessors(id))
            {
                ++m_firstBefore[size_t{successor} + 1];
            }
        }
        for (size_t i = 1; i <= size; ++i)
        {
            m_firstBefore[i] += m_firstBefore[i - 1];
        }
        m_before.resize(m_firstBefore[size]);
        auto next = m_firstBefore;
        for (OperationId id = 0; id < size; ++id)
        {
            for (const auto successor : m_plan.GetSuccessors(id))
            {
                m_before[next[successor]++] = id;
            }
        }
    }

    std::span<const OperationId> GetBefore(OperationId id) const
    {
        return std::span(m_before).subspan(m_firstBefore[id],
                                           m_firstBefore[size_t{id} + 1] - m_firstBefore[id]);
    }

    /// When each operation was done; of one that takes no time, when the last before it was.
    void FindEnds()
    {
        auto waiting = m_plan.CountPredecessors();
        m_end.assign(waiting.size(), m_times.iteration.begin);
        std::vector<OperationId> ready;
        for (OperationId id = 0; id < waiting.size(); ++id)
        {
            if (waiting[id] == 0)
            {
                ready.push_back(id);
            }
        }
        while (!ready.empty())
        {
            const auto id = ready.back();
            ready.pop_back();
            m_end[id] = FindEnd(id);
            for (const auto successor : m_plan.GetSuccessors(id))
            {
                if (--waiting[successor] == 0)
                {
                    ready.push_back(successor);
                }
            }
        }
    }

    Time FindEnd(OperationId id) const
    {
        if (m_times.work[id] || m_times.transfers[id])
        {
            return m_times.work[id] ? m_times.work[id]->end : m_times.transfers[id]->end;
        }
        const auto& computed = m_times.computations[m_plan.GetOperations()[id].src];
        auto end = computed ? computed->end : m_times.iteration.begin;
        for (const auto before : GetBefore(id))
        {
            end = std::max(end, m_end[before]);
        }
        return end;
    }

    void IndexRanks()
    {
        for (OperationId id = 0; id < m_end.size(); ++id)
        {
            const auto operation = m_plan.GetOperations()[id];
            if (m_times.work[id])
            {
                m_busy.push_back({operation.dst, true, m_times.work[id]->end, id});
            }
            if (m_times.transfers[id])
            {
                m_busy.push_back({operation.src, false, m_times.transfers[id]->end, id});
            }
        }
        std::sort(m_busy.begin(), m_busy.end());
    }

    /// What a rank ended now and began before.
    OperationId FindBusy(uint32_t rank, bool isWork) const
    {
        auto found = std::lower_bound(m_busy.begin(), m_busy.end(), Busy{rank, isWork, m_now, 0});
        for (; found != m_busy.end() && found->rank == rank && found->isWork == isWork &&
               found->end == m_now;
             ++found)
        {
            const auto& spans = isWork ? m_times.work : m_times.transfers;
            if (spans[found->operation]->begin < m_now)
            {
                return found->operation;
            }
        }
        return NOTHING;
    }

    OperationId FindLast() const
    {
        const auto last = std::ranges::max_element(m_end);
        return last == m_end.end() ? NOTHING : static_cast<OperationId>(last - m_end.begin());
    }

    void Add(ExchangeStepKind kind, OperationId id, uint32_t rank, const Time& begin)
    {
        if (begin < m_now)
        {
            m_path.push_back({kind, id, rank, {begin, m_now}});
            m_now = begin;
        }
    }

    void WaitSince(const Time& begin)
    {
        Add(ExchangeStepKind::Wait, NOTHING, 0, begin);
    }

    /// Over an operation that is done now. \returns what it waited for, done now or before
    OperationId GoBack(OperationId id)
    {
        const auto& work = m_times.work[id];
        if (work && m_now <= work->end)
        {
            Add(ExchangeStepKind::Work, id, 0, work->begin);
            const auto& transfer = m_times.transfers[id];
            if (!transfer || transfer->end < m_now)
            {
                const auto busy = FindBusy(m_plan.GetOperations()[id].dst, true);
                if (busy != NOTHING)
                {
                    return busy;
                }
            }
            WaitSince(transfer ? transfer->end : m_now);
        }
        if (m_times.transfers[id])
        {
            id = GoOver(id);
        }
        const auto operation = m_plan.GetOperations()[id];
        const auto& computed = m_times.computations[operation.src];
        if (operation.kind == OperationKind::Train && computed && computed->end <= m_now)
        {
            WaitSince(computed->end);
            Add(ExchangeStepKind::Computation, NOTHING, operation.src, computed->begin);
        }
        return FindCause(id);
    }

    /// When an operation was done, as far as what comes after it can tell: a gate opens before all
    /// answers are there.
    Time GetEnd(OperationId id) const
    {
        const bool isGate = m_plan.GetOperations()[id].kind == OperationKind::Gate;
        return isGate ? std::min(m_end[id], m_now) : m_end[id];
    }

    /// A transfer. \returns the one that kept it waiting: of an aggregation the last to give
    OperationId GoOver(OperationId id)
    {
        const auto members = m_plan.GetMembers(id);
        auto last = id;
        for (auto member = members.first; member < members.last; ++member)
        {
            const auto& given = m_times.transfers[member];
            if (given && given->begin < m_now && given->begin > m_times.transfers[last]->begin)
            {
                last = member;
            }
        }
        Add(ExchangeStepKind::Transfer, last, 0, m_times.transfers[last]->begin);
        return last;
    }

    /// Of an operation that began now.
    OperationId FindCause(OperationId id)
    {
        auto cause = NOTHING;
        for (const auto before : GetBefore(id))
        {
            if (GetEnd(before) <= m_now && (cause == NOTHING || GetEnd(before) > GetEnd(cause)))
            {
                cause = before;
            }
        }
        if (cause != NOTHING && GetEnd(cause) == m_now)
        {
            return cause;
        }
        const auto rank = m_plan.GetOperations()[id].src;
        const auto& computed = m_times.computations[rank];
        const auto busy = FindBusy(rank, m_times.work[id] && !m_times.transfers[id]);
        if (busy != NOTHING && !(computed && computed->end == m_now))
        {
            return busy;
        }
        if (computed && computed->end <= m_now &&
            (cause == NOTHING || GetEnd(cause) < computed->end))
        {
            WaitSince(computed->end);
            Add(ExchangeStepKind::Computation, NOTHING, rank, computed->begin);
            return NOTHING;
        }
        return cause;
    }

    const Plan& m_plan;
    const ExchangeTimes& m_times;
    std::vector<size_t> m_firstBefore; //!< [operation] in m_before; one more than operations
    std::vector<OperationId> m_before; //!< what each waits for
    std::vector<Time> m_end;           //!< [operation]
    std::vector<Busy> m_busy;
    std::vector<ExchangeStep> m_path; //!< the last first
    Time m_now;                       //!< up to which the path is not known yet
};

} // namespace

ExchangeTimes::ExchangeTimes(const Plan& plan, const WorkSpan& whole)
    : iteration(whole),
      transfers(plan.GetOperations().size()),
      work(plan.GetOperations().size()),
      computations(plan.GetRankCount())
{
}

std::vector<ExchangeStep>
FindExchangePath(const Plan& plan, const ExchangeTimes& times)
{
    return PathFinder(plan, times).Find();
}

} // namespace ns3::gradsync
