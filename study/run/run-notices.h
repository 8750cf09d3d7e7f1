// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RUN_NOTICES_H
#define GRADSYNC_RUN_NOTICES_H

#include "ns3/divided-transport.h"
#include "ns3/nstime.h"
#include "ns3/planned-run.h"
#include "ns3/topology-division.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// What the processes that simulate a run tell each other ahead of their operations (DistantEnds).
struct RunNotices
{
    bool areAny{false};
    AwaitedEndpoints endpoints{};
    std::optional<Time> leastWork{}; //!< the shortest that is told when it begins
    /// The first job of which not all can be told in time, as messages call it, and why.
    std::optional<std::pair<std::string, std::string>> obstacle{};
};

/// \param endpointOf [rank] of a job \returns [rank] -> process
std::vector<uint32_t> FindParts(const std::vector<uint32_t>& endpointOf,
                                const ResolvedRun& run,
                                const TopologyDivision& division);

/// \param planned whose jobs can be divided but for that
RunNotices FindNotices(const ResolvedRun& run,
                       const PlannedRun& planned,
                       const TopologyDivision& division);

/// Has a divided transport tell what is needed. \returns the least time ahead of any notice
/// \throws std::invalid_argument as of DividedTransport::Announce
Time AnnounceArrivals(const RunNotices& notices, DividedTransport& transport);

} // namespace ns3::gradsync

#endif // GRADSYNC_RUN_NOTICES_H
