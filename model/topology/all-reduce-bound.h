// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ALL_REDUCE_BOUND_H
#define GRADSYNC_ALL_REDUCE_BOUND_H

#include "ns3/topology.h"

#include <cstdint>
#include <span>

namespace ns3::gradsync
{

/**
 * The least time in which any exchange among the endpoints can all-reduce a gradient on this
 * network, in seconds: no scheme, however clever, is faster. 0 for one worker.
 *
 * For the endpoints alone, and for the connected components of the nodes of each tier and below
 * (servers, racks, pods), with C_i the summed rate of the links that leave group i:
 * - the n groups that hold workers each send and receive the gradient once: K / C_i;
 * - before some rank holds the sum of an element, n - 1 groups have sent it; after that, n - 1
 *   groups have to receive it: 2 (n - 1) K / sum C_i, groups of dedicated servers included.
 * The bound is the largest of these. Headers, delays and switches that add numbers are not counted:
 * in-network aggregation can be faster than the second one. doc/plan.rst has the argument.
 *
 * \param endpointOf [rank] -> endpoint index; the workers, then the dedicated servers
 */
double ComputeAllReduceBound(const Topology& topology,
                             std::span<const uint32_t> endpointOf,
                             uint32_t workers,
                             uint64_t gradientBytes);

} // namespace ns3::gradsync

#endif // GRADSYNC_ALL_REDUCE_BOUND_H
