// SPDX-License-Identifier: GPL-2.0-only
// The part of SlotAggregation that shares the slots of switches among groups.
#include "ns3/simulator.h"
#include "ns3/slot-aggregation.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Divides the slots of switches: max-min fair, so that what a group cannot use goes to others.
class SlotDivision
{
  public:
    SlotDivision(uint32_t poolSlots, uint32_t mostSlots)
        : m_poolSlots(poolSlots),
          m_mostSlots(mostSlots)
    {
    }

    /// \param switches of a group; they must outlive this
    void AddGroup(const std::set<NodeId>& switches)
    {
        m_groups.push_back({&switches, 0});
        for (const auto node : switches)
        {
            m_pools.try_emplace(node, Pool{m_poolSlots, 0}).first->second.groups++;
        }
    }

    /// \returns the slots of each group
    std::vector<uint32_t> Divide()
    {
        std::vector<uint32_t> shares(m_groups.size());
        for (size_t left = m_groups.size(); left > 0; --left)
        {
            // The group whose switches have least for each takes its share first.
            size_t next = 0;
            uint32_t least = UINT32_MAX;
            for (size_t i = 0; i < m_groups.size(); ++i)
            {
                const auto limit =
                    m_groups[i].isDone ? UINT32_MAX : GetLimit(*m_groups[i].switches);
                next = limit < least ? i : next;
                least = std::min(least, limit);
            }
            shares[next] = least;
            m_groups[next].isDone = true;
            for (const auto node : *m_groups[next].switches)
            {
                m_pools.at(node).slots -= least;
                m_pools.at(node).groups--;
            }
        }
        return shares;
    }

  private:
    struct Pool
    {
        uint32_t slots;  //!< that are left
        uint32_t groups; //!< without a share
    };

    struct Group
    {
        const std::set<NodeId>* switches;
        bool isDone;
    };

    uint32_t GetLimit(const std::set<NodeId>& switches) const
    {
        auto limit = m_mostSlots;
        for (const auto node : switches)
        {
            const auto& pool = m_pools.at(node);
            limit = std::min(limit, pool.slots / pool.groups);
        }
        return limit;
    }

    uint32_t m_poolSlots;
    uint32_t m_mostSlots;
    std::vector<Group> m_groups;
    std::map<NodeId, Pool> m_pools;
};

} // namespace

/// Of static sharing. \throws std::invalid_argument with a text for the user when there are too few
void
SlotAggregation::TakeSlots(Session& session)
{
    TakeShare(session, m_slots);
    AddRoles(session);
    RestartWorkers(session);
}

/// Of dynamic sharing: once for all that happens at this instant.
void
SlotAggregation::RequestSlots()
{
    if (!m_reallotment.IsRunning())
    {
        m_reallotment = Simulator::ScheduleNow(&SlotAggregation::ReallotSlots, this);
    }
}

/// The slots of each group that is to have some. The newest groups fail when they are too few.
std::map<uint32_t, uint32_t>
SlotAggregation::ShareSlots()
{
    for (;;)
    {
        std::vector<Session*> sharers;
        SlotDivision division(m_poolSlots, m_slots);
        for (const auto& [group, session] : m_sessions)
        {
            if (session->hasBegun && session->failure.empty() && !session->slotWorkers.empty())
            {
                sharers.push_back(session.get());
                division.AddGroup(session->adding);
            }
        }
        const auto shares = division.Divide();
        if (std::ranges::find(shares, 0U) == shares.end())
        {
            std::map<uint32_t, uint32_t> slots;
            for (size_t i = 0; i < sharers.size(); ++i)
            {
                slots[sharers[i]->group] = shares[i];
            }
            return slots;
        }
        const auto newest =
            std::ranges::find(sharers.rbegin(), sharers.rend(), false, &Session::isPlaced);
        GiveUp(**newest,
               fmt::format("a switch has {} slots, fewer than aggregations (attribute PoolSlots)",
                           m_poolSlots));
    }
}

/// Those that get more or fewer go on with others, and so do those that are in their way: the slots
/// of a group lie side by side.
void
SlotAggregation::ReallotSlots()
{
    const auto shares = ShareSlots();
    std::set<uint32_t> moved;
    for (const auto& [group, slots] : shares)
    {
        const auto& session = *m_sessions.at(group);
        if (!session.isPlaced || session.slotSettings.slots != slots)
        {
            moved.insert(group);
        }
    }
    while (!Place(moved, shares))
    {
        AddNeighbours(moved, shares);
    }
    for (const auto group : moved)
    {
        RestartWorkers(*m_sessions.at(group));
    }
}

/// \returns false when there is no room: others must move
bool
SlotAggregation::Place(const std::set<uint32_t>& groups, const std::map<uint32_t, uint32_t>& shares)
{
    for (const auto group : groups)
    {
        RemoveRoles(*m_sessions.at(group));
    }
    for (const auto group : groups)
    {
        auto& session = *m_sessions.at(group);
        const auto slots = shares.at(group);
        if (!std::ranges::all_of(session.adding,
                                 [&](NodeId node) { return GetSlotProgram(node).HasRoom(slots); }))
        {
            return false;
        }
        TakeShare(session, slots);
        AddRoles(session);
    }
    return true;
}

/// Adds the groups that have slots of the same switches.
void
SlotAggregation::AddNeighbours(std::set<uint32_t>& groups,
                               const std::map<uint32_t, uint32_t>& shares) const
{
    std::set<NodeId> switches;
    for (const auto group : groups)
    {
        const auto& adding = m_sessions.at(group)->adding;
        switches.insert(adding.begin(), adding.end());
    }
    for (const auto& [group, slots] : shares)
    {
        if (std::ranges::any_of(m_sessions.at(group)->adding,
                                [&](NodeId node) { return switches.contains(node); }))
        {
            groups.insert(group);
        }
    }
}

/// A group that had slots before gets a new number, which tells what is still under way from what
/// is sent from now on.
void
SlotAggregation::TakeShare(Session& session, uint32_t slots)
{
    auto& had = session.slotSettings.slots;
    if (had > 0)
    {
        m_byNumber.erase(session.job.number);
        TakeNumber(session);
        m_statistics.resizes += had == slots ? 0 : 1;
    }
    had = slots;
    session.isPlaced = true;
}

/// The slots know of nothing yet: all go on with what any worker lacks.
void
SlotAggregation::RestartWorkers(Session& session)
{
    std::vector<SlotWorker*> workers;
    std::ranges::copy_if(session.slotWorkers, std::back_inserter(workers), [](const auto* worker) {
        return !worker->IsHalted();
    });
    uint64_t first = UINT64_MAX;
    uint64_t end = 0;
    for (const auto* worker : workers)
    {
        first = std::min(first, worker->GetFirstMissing());
        end = std::max(end, worker->GetEnd());
    }
    auto& done = session.slotSettings.done;
    std::set<uint64_t> doneNow;
    std::vector<std::set<uint64_t>> had(workers.size());
    for (auto packet = first; packet < end; ++packet)
    {
        size_t owners = 0;
        for (size_t i = 0; i < workers.size(); ++i)
        {
            if (workers[i]->Has(packet))
            {
                had[i].insert(had[i].end(), packet);
                ++owners;
            }
        }
        if (owners == workers.size())
        {
            doneNow.insert(doneNow.end(), packet);
        }
    }
    done = std::move(doneNow);
    for (size_t i = 0; i < workers.size(); ++i)
    {
        workers[i]->Restart(first, std::move(had[i]));
    }
}

} // namespace ns3::gradsync
