// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/matched-trace.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Brings the nodes of ranks together.
class TraceMatcher
{
  public:
    TraceMatcher(MatchedTrace& trace, TraceIssues& issues)
        : m_trace(trace),
          m_issues(issues)
    {
    }

    void Match()
    {
        FindGroups();
        for (uint32_t rank = 0; rank < m_trace.set.programs.size(); ++rank)
        {
            m_trace.meetingOf.emplace_back(GetProgram(rank).nodes.size(), MatchedTrace::NO_MEETING);
        }
        for (uint32_t rank = 0; rank < m_trace.set.programs.size(); ++rank)
        {
            for (uint32_t node = 0; node < GetProgram(rank).nodes.size(); ++node)
            {
                Sort(rank, node);
            }
        }
        MatchCollectives();
        MatchMessages();
    }

  private:
    struct Place
    {
        uint32_t rank;
        uint32_t node;
    };

    using Channel = std::tuple<uint32_t, uint32_t, int64_t>; //!< sender, receiver, tag

    struct Ends
    {
        std::vector<Place> sends{};
        std::vector<Place> receives{};
    };

    const TraceProgram& GetProgram(uint32_t rank) const
    {
        return *m_trace.set.programs[rank];
    }

    const TraceNode& GetNode(const Place& place) const
    {
        return GetProgram(place.rank).nodes[place.node];
    }

    std::string Locate(const Place& place) const
    {
        return fmt::format("\"{}\" of rank {}",
                           GetProgram(place.rank).labels[GetNode(place).label],
                           place.rank);
    }

    uint32_t AddGroup(const std::vector<uint32_t>& ranks)
    {
        const auto [found, isNew] =
            m_groups.try_emplace(ranks, static_cast<uint32_t>(m_trace.groups.size()));
        if (isNew)
        {
            m_trace.groups.push_back(ranks);
            m_collectives.emplace_back();
        }
        return found->second;
    }

    /// For each name the group of each rank.
    void FindGroups()
    {
        for (const auto& [name, groups] : m_trace.set.groups)
        {
            auto& of = m_groupOf[name];
            of.assign(m_trace.set.programs.size(), NONE);
            for (const auto& ranks : groups)
            {
                const auto group = ranks.size() > 1 ? AddGroup(ranks) : ALONE;
                for (const auto rank : ranks)
                {
                    of.at(rank) = group;
                }
            }
        }
    }

    void Sort(uint32_t rank, uint32_t node)
    {
        const auto& of = GetProgram(rank).nodes[node];
        switch (of.action)
        {
        case TraceAction::Compute:
        case TraceAction::Host:
        case TraceAction::Join:
            return;
        case TraceAction::Collective:
            SortCollective({rank, node}, GetProgram(rank).groups[of.group]);
            return;
        case TraceAction::Send:
        case TraceAction::Receive:
            SortMessage({rank, node});
            return;
        }
    }

    void SortCollective(const Place& place, const std::string& name)
    {
        const auto found = m_groupOf.find(name);
        const auto group = found == m_groupOf.end() ? NONE : found->second[place.rank];
        if (group == NONE)
        {
            m_issues.Add("collectives of a rank that no group of that name has",
                         fmt::format("group \"{}\", {}", name, Locate(place)));
        }
        else if (group != ALONE)
        {
            m_collectives[group][place.rank].push_back(place.node);
        }
    }

    void SortMessage(const Place& place)
    {
        const auto& node = GetNode(place);
        const auto peer =
            node.peer + (m_trace.set.hasRelativePeers ? static_cast<int64_t>(place.rank) : 0);
        if (peer < 0 || peer >= std::ssize(m_trace.set.programs))
        {
            m_issues.Add(fmt::format("messages with ranks that the trace of {} does not have",
                                     m_trace.set.programs.size()),
                         fmt::format("rank {}, {}", peer, Locate(place)));
            return;
        }
        const auto other = static_cast<uint32_t>(peer);
        if (other == place.rank)
        {
            return; // crosses no network
        }
        if (node.action == TraceAction::Send)
        {
            m_messages[{place.rank, other, node.tag}].sends.push_back(place);
        }
        else
        {
            m_messages[{other, place.rank, node.tag}].receives.push_back(place);
        }
    }

    static bool Agree(const TraceNode& left, const TraceNode& right)
    {
        return left.collective == right.collective && left.bytes == right.bytes &&
               left.isShare == right.isShare;
    }

    void MatchCollectives()
    {
        for (uint32_t group = 0; group < m_collectives.size(); ++group)
        {
            size_t count = 0;
            for (const auto& [rank, nodes] : m_collectives[group])
            {
                count = std::max(count, nodes.size());
            }
            for (size_t turn = 0; turn < count; ++turn)
            {
                MatchTurn(group, turn);
            }
        }
    }

    /// The collectives that the ranks of a group come to as their n-th.
    void MatchTurn(uint32_t group, size_t turn)
    {
        std::vector<Place> places;
        for (const auto rank : m_trace.groups[group])
        {
            const auto& nodes = m_collectives[group][rank];
            if (turn < nodes.size())
            {
                places.push_back({rank, nodes[turn]});
            }
        }
        const auto& first = GetNode(places.front());
        const auto other = std::ranges::find_if(places, [&](const auto& place) {
            return !Agree(GetNode(place), first);
        });
        if (places.size() < m_trace.groups[group].size() || other != places.end())
        {
            m_issues.Add("collectives that the ranks of a group do not agree about",
                         other == places.end()
                             ? fmt::format("{}: {} of {} ranks come to it",
                                           Locate(places.front()),
                                           places.size(),
                                           m_trace.groups[group].size())
                             : fmt::format("{} and {}", Locate(places.front()), Locate(*other)));
            return;
        }
        const auto bytes = first.bytes * (first.isShare ? places.size() : 1);
        if (bytes > 0 || first.collective == TraceCollective::Barrier)
        {
            Meet(places, {group, first.label, bytes, first.collective});
        }
    }

    void MatchMessages()
    {
        for (const auto& [channel, ends] : m_messages)
        {
            const auto count = std::min(ends.sends.size(), ends.receives.size());
            for (size_t i = 0; i < count; ++i)
            {
                MatchMessage(ends.sends[i], ends.receives[i]);
            }
            for (const auto* rest : {&ends.sends, &ends.receives})
            {
                if (rest->size() > count)
                {
                    m_issues.Add("messages without their other end",
                                 Locate((*rest)[count]),
                                 rest->size() - count);
                }
            }
        }
    }

    void MatchMessage(const Place& send, const Place& receive)
    {
        if (GetNode(send).bytes != GetNode(receive).bytes)
        {
            m_issues.Add("messages whose ends have different sizes",
                         fmt::format("{} and {}", Locate(send), Locate(receive)));
        }
        else
        {
            Meet({send, receive},
                 {AddGroup({send.rank, receive.rank}),
                  GetNode(send).label,
                  std::max<uint64_t>(GetNode(send).bytes, 1),
                  {}});
        }
    }

    void Meet(const std::vector<Place>& places, const TraceMeeting& meeting)
    {
        for (const auto& place : places)
        {
            m_trace.meetingOf[place.rank][place.node] =
                static_cast<uint32_t>(m_trace.meetings.size());
        }
        m_trace.meetings.push_back(meeting);
    }

    static constexpr uint32_t NONE = UINT32_MAX;
    static constexpr uint32_t ALONE = UINT32_MAX - 1;

    MatchedTrace& m_trace;
    TraceIssues& m_issues;
    std::map<std::vector<uint32_t>, uint32_t> m_groups;
    std::map<std::string, std::vector<uint32_t>> m_groupOf; //!< name, [rank]
    /// [group] rank -> its collectives.
    std::vector<std::map<uint32_t, std::vector<uint32_t>>> m_collectives;
    std::map<Channel, Ends> m_messages;
};

} // namespace

MatchedTrace
MatchTrace(TraceSet set, TraceIssues& issues)
{
    MatchedTrace trace;
    trace.set = std::move(set);
    std::vector<uint32_t> all(trace.set.programs.size());
    std::iota(all.begin(), all.end(), 0);
    trace.set.groups.try_emplace("", std::vector<std::vector<uint32_t>>{std::move(all)});
    TraceMatcher(trace, issues).Match();
    return trace;
}

} // namespace ns3::gradsync
