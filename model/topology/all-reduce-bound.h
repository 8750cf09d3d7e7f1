// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ALL_REDUCE_BOUND_H
#define GRADSYNC_ALL_REDUCE_BOUND_H

#include "ns3/topology.h"

#include <cstdint>
#include <optional>
#include <span>

namespace ns3::gradsync
{

/// Some bytes, the worker that contributes to them at the start and the one that wants the sum.
struct ExchangeDemand
{
    std::optional<uint32_t> source; //!< rank; none: all workers contribute
    std::optional<uint32_t> target; //!< rank; none: all workers want the sum
    uint64_t bytes;
};

/// Whether switches add what passes them, and copy it.
enum class SwitchSums : uint8_t
{
    No,
    Yes
};

/**
 * The least time in which any exchange among the endpoints can meet all demands on this network, in
 * seconds: no scheme, however clever, is faster. 0 for one worker.
 *
 * For the endpoints alone, and for the connected components of the nodes of each tier and below
 * (servers, racks, pods), with C_i the summed rate of the links that leave group i, and for each
 * demand, with S and T groups that hold its sources and its targets:
 * - a group with a source sends the bytes once if there is a target outside, one with a target
 *   receives them once if there is a source outside: what group i sends, and what it receives, over
 *   C_i;
 * - before some rank holds the sum of an element, S - 1 groups have sent it; after that, T - 1
 *   groups have to receive it (one more where no group has both): the sum over all demands, over
 *   sum C_i, groups of dedicated servers included.
 * The bound is the largest of these. Headers and delays are not counted. Switches that add or copy
 * can be faster than the second one, which is left out where there are any. doc/plan.rst has the
 * argument.
 *
 * \param endpointOf [rank] -> endpoint index; the workers, then the dedicated servers
 */
double ComputeExchangeBound(const Topology& topology,
                            std::span<const uint32_t> endpointOf,
                            uint32_t workers,
                            std::span<const ExchangeDemand> demands,
                            SwitchSums switches = SwitchSums::No);

/// ComputeExchangeBound of an all-reduce.
double ComputeAllReduceBound(const Topology& topology,
                             std::span<const uint32_t> endpointOf,
                             uint32_t workers,
                             uint64_t gradientBytes);

} // namespace ns3::gradsync

#endif // GRADSYNC_ALL_REDUCE_BOUND_H
