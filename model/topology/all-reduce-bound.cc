// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/all-reduce-bound.h"

#include "ns3/node-components.h"

#include <algorithm>
#include <map>

namespace ns3::gradsync
{

namespace
{

/// A group of nodes that holds ranks.
struct Group
{
    double exitBps{0.0}; //!< summed rate of the links that leave it
    bool hasWorkers{false};
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

    double GetSeconds(double bits) const
    {
        double seconds = 0.0;
        double sumBps = 0.0;
        double count = 0.0;
        for (const auto& [root, group] : m_groups)
        {
            sumBps += group.exitBps;
            if (group.hasWorkers)
            {
                count += 1.0;
                seconds = std::max(seconds, bits / group.exitBps);
            }
        }
        return count < 2.0 ? 0.0 : std::max(seconds, 2.0 * (count - 1.0) * bits / sumBps);
    }

  private:
    std::map<NodeId, Group> m_groups;
};

} // namespace

double
ComputeAllReduceBound(const Topology& topology,
                      std::span<const uint32_t> endpointOf,
                      uint32_t workers,
                      uint64_t gradientBytes)
{
    const double bits = 8.0 * static_cast<double>(gradientBytes);
    NodeComponents components(topology);
    double seconds = Cuts(topology, endpointOf, workers, components).GetSeconds(bits);
    for (uint32_t tier = 0; tier < components.GetTierCount(); ++tier)
    {
        components.JoinUpTo(tier);
        seconds =
            std::max(seconds, Cuts(topology, endpointOf, workers, components).GetSeconds(bits));
    }
    return seconds;
}

} // namespace ns3::gradsync
