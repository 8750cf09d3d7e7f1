// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_BUSIEST_LINK_H
#define GRADSYNC_BUSIEST_LINK_H

#include "ns3/routing-tables.h"
#include "ns3/run-result.h"
#include "ns3/workload.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * Which link bounds the communications of a training job: of those on the equal-cost paths between
 * the ranks that send to each other, the one that was busy for the largest share of the run.
 */
class BusiestLink
{
  public:
    /// \param result outlives this
    BusiestLink(const RunResult& result, const TrainingResult& training);

    /// Link direction, as Transport numbers them; nothing where links were not recorded, or no
    /// message crosses one.
    std::optional<uint32_t> Find(CommunicationId id);

  private:
    std::optional<uint32_t> Search(const Plan& plan, std::span<const uint32_t> group) const;

    const RunResult& m_result;
    const TrainingResult& m_training;
    std::optional<RoutingTables> m_routes; //!< made when they are first needed
    std::vector<double> m_busy;            //!< [link direction] seconds at its rate
    std::map<std::pair<uint32_t, uint32_t>, std::optional<uint32_t>> m_known; //!< (group, plan)
};

} // namespace ns3::gradsync

#endif // GRADSYNC_BUSIEST_LINK_H
