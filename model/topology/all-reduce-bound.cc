// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/all-reduce-bound.h"

#include "ns3/node-components.h"

#include <algorithm>
#include <map>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// A group of nodes that holds ranks, and what it has to exchange with the others.
struct Group
{
    double exitBps{0.0}; //!< summed rate of the links that leave it
    bool hasWorkers{false};
    double sentBytes{0.0};     //!< beside what all groups with workers send
    double receivedBytes{0.0}; //!< likewise
};

/// The groups of one partition that hold ranks.
class Cuts
{
  public:
    Cuts(const Topology& topology,
         std::span<const uint32_t> endpointOf,
         uint32_t workers,
         NodeComponents& components)
    {
        for (size_t rank = 0; rank < endpointOf.size(); ++rank)
        {
            auto& group = m_groups[components.Find(topology.GetEndpoints()[endpointOf[rank]])];
            group.hasWorkers = group.hasWorkers || rank < workers;
            m_groupOf.push_back(&group);
        }
        for (const auto& link : topology.GetLinks())
        {
            const auto a = components.Find(link.a);
            const auto b = components.Find(link.b);
            for (const auto root : {a, b})
            {
                const auto found = m_groups.find(root);
                if (a != b && found != m_groups.end())
                {
                    found->second.exitBps += static_cast<double>(link.rate.GetBitRate());
                }
            }
        }
    }

    double GetSeconds(std::span<const ExchangeDemand> demands, SwitchSums switches)
    {
        m_workerGroups = static_cast<double>(
            std::count_if(m_groups.begin(), m_groups.end(), [](const auto& entry) {
                return entry.second.hasWorkers;
            }));
        if (m_workerGroups < 2.0)
        {
            return 0.0;
        }
        for (const auto& demand : demands)
        {
            Add(demand);
        }
        double seconds = 0.0;
        double sumBps = 0.0;
        for (const auto& [root, group] : m_groups)
        {
            sumBps += group.exitBps;
            if (group.hasWorkers)
            {
                const double busiest =
                    std::max(m_sentByAll + group.sentBytes, m_receivedByAll + group.receivedBytes);
                seconds = std::max(seconds, 8.0 * busiest / group.exitBps);
            }
        }
        // Switches outside all groups may add, and copy, what crosses from group to group.
        return switches == SwitchSums::Yes ? seconds
                                           : std::max(seconds, 8.0 * m_crossings / sumBps);
    }

  private:
    void Add(const ExchangeDemand& demand)
    {
        const auto bytes = static_cast<double>(demand.bytes);
        Group* source = demand.source ? m_groupOf[*demand.source] : nullptr;
        Group* target = demand.target ? m_groupOf[*demand.target] : nullptr;
        if (source != nullptr && source == target)
        {
            return;
        }
        if (source == nullptr)
        {
            // All groups send, but that of the only target, which has nobody to send to.
            m_sentByAll += bytes;
            m_crossings += (m_workerGroups - 1.0) * bytes;
            AddTo(target, &Group::sentBytes, -bytes);
        }
        else
        {
            source->sentBytes += bytes;
        }
        if (target == nullptr)
        {
            m_receivedByAll += bytes;
            m_crossings += (m_workerGroups - 1.0) * bytes;
            AddTo(source, &Group::receivedBytes, -bytes);
        }
        else
        {
            target->receivedBytes += bytes;
        }
        m_crossings += source != nullptr && target != nullptr ? bytes : 0.0;
    }

    static void AddTo(Group* group, double Group::*sum, double bytes)
    {
        if (group != nullptr)
        {
            group->*sum += bytes;
        }
    }

    std::map<NodeId, Group> m_groups;
    std::vector<Group*> m_groupOf; //!< [rank]
    double m_workerGroups{0.0};    //!< groups that hold workers
    double m_sentByAll{0.0};       //!< bytes
    double m_receivedByAll{0.0};
    double m_crossings{0.0}; //!< bytes from group to group
};

} // namespace

double
ComputeExchangeBound(const Topology& topology,
                     std::span<const uint32_t> endpointOf,
                     uint32_t workers,
                     std::span<const ExchangeDemand> demands,
                     SwitchSums switches)
{
    NodeComponents components(topology);
    double seconds = Cuts(topology, endpointOf, workers, components).GetSeconds(demands, switches);
    for (uint32_t tier = 0; tier < components.GetTierCount(); ++tier)
    {
        components.JoinUpTo(tier);
        seconds =
            std::max(seconds,
                     Cuts(topology, endpointOf, workers, components).GetSeconds(demands, switches));
    }
    return seconds;
}

double
ComputeAllReduceBound(const Topology& topology,
                      std::span<const uint32_t> endpointOf,
                      uint32_t workers,
                      uint64_t gradientBytes)
{
    const ExchangeDemand all{std::nullopt, std::nullopt, gradientBytes};
    return ComputeExchangeBound(topology, endpointOf, workers, {&all, 1});
}

} // namespace ns3::gradsync
