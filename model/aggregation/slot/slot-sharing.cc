// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/slot-sharing.h"

#include "ns3/ns3-interfaces.h"
#include "ns3/simulator.h"
#include "ns3/slot-division.h"
#include "ns3/slot-session.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace ns3::gradsync
{

SlotSharing::~SlotSharing()
{
    Cancel();
}

void
SlotSharing::Cancel()
{
    // Not EventId::Cancel, which makes a new simulator when the old one is destroyed already.
    if (auto* event = m_reallotment.PeekEventImpl())
    {
        event->Cancel();
    }
}

void
SlotSharing::Add(SlotSession& session)
{
    m_sessions[session.GetId()] = &session;
}

void
SlotSharing::Remove(const SlotSession& session)
{
    m_sessions.erase(session.GetId());
}

void
SlotSharing::OnOpened(SlotSession& session)
{
    if (m_config.mode == SHARING_STATIC)
    {
        session.Place(m_config.slots);
        session.RestartWorkers();
    }
}

void
SlotSharing::OnRebuilt(SlotSession& session)
{
    OnOpened(session);
    OnChange();
}

/// Shares slots out once for all that happens at this instant.
void
SlotSharing::OnChange()
{
    if (m_config.mode == SHARING_DYNAMIC && !IsDue(m_reallotment))
    {
        m_reallotment = Simulator::ScheduleNow(&SlotSharing::Reallot, this);
    }
}

/// The slots of each group that is to have some. The newest groups fail when they are too few.
std::map<uint32_t, uint32_t>
SlotSharing::Share()
{
    for (;;)
    {
        std::vector<SlotSession*> sharers;
        SlotDivision division(m_config.poolSlots, m_config.slots);
        for (const auto& [group, session] : m_sessions)
        {
            if (session->HasBegun() && session->GetFailure().empty())
            {
                sharers.push_back(session);
                division.AddGroup(session->GetSwitches());
            }
        }
        const auto shares = division.Divide();
        if (std::ranges::find(shares, 0U) == shares.end())
        {
            std::map<uint32_t, uint32_t> slots;
            for (size_t i = 0; i < sharers.size(); ++i)
            {
                slots[sharers[i]->GetId()] = shares[i];
            }
            return slots;
        }
        const auto newest =
            std::ranges::find(sharers.rbegin(), sharers.rend(), false, &SlotSession::IsPlaced);
        (*newest)->GiveUp(
            fmt::format("a switch has {} slots, fewer than aggregations (attribute PoolSlots)",
                        m_config.poolSlots));
    }
}

/// Those that get more or fewer go on with others, and so do those that are in their way: the slots
/// of a group lie side by side.
void
SlotSharing::Reallot()
{
    const auto shares = Share();
    std::set<uint32_t> moved;
    for (const auto& [group, slots] : shares)
    {
        const auto& session = *m_sessions.at(group);
        if (!session.IsPlaced() || session.GetSlots() != slots)
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
        m_sessions.at(group)->RestartWorkers();
    }
}

/// \returns false when there is no room: others must move
bool
SlotSharing::Place(const std::set<uint32_t>& groups, const std::map<uint32_t, uint32_t>& shares)
{
    for (const auto group : groups)
    {
        m_sessions.at(group)->RemoveRoles();
    }
    for (const auto group : groups)
    {
        auto& session = *m_sessions.at(group);
        if (!session.HasRoom(shares.at(group)))
        {
            return false;
        }
        session.Place(shares.at(group));
    }
    return true;
}

/// Adds the groups that have slots of the same switches.
void
SlotSharing::AddNeighbours(std::set<uint32_t>& groups,
                           const std::map<uint32_t, uint32_t>& shares) const
{
    std::set<NodeId> switches;
    for (const auto group : groups)
    {
        const auto& own = m_sessions.at(group)->GetSwitches();
        switches.insert(own.begin(), own.end());
    }
    for (const auto& [group, slots] : shares)
    {
        if (std::ranges::any_of(m_sessions.at(group)->GetSwitches(),
                                [&](NodeId node) { return switches.contains(node); }))
        {
            groups.insert(group);
        }
    }
}

} // namespace ns3::gradsync
