// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROOTED_TREE_H
#define GRADSYNC_ROOTED_TREE_H

#include "ns3/scheme.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/// A parent and its child, by rank.
struct TreeEdge
{
    uint32_t parent;
    uint32_t child;
};

/**
 * The edges of a tree over all workers in the order in which a broadcast uses them; a reduce uses
 * them in reverse.
 *
 * "star": the root has all others as children. "chain": everybody has the next one. "binomial": in
 * the round of stride 2^t, from the largest down, multiples of 2^(t+1) have the rank 2^t further.
 * Ranks are counted from the root on, around.
 */
std::vector<TreeEdge> MakeTreeEdges(std::string_view shape, uint32_t workers, uint32_t root);

/// The parameter `root`, as a rank. \throws SchemeError when it is none of the workers
uint32_t GetRoot(const SchemeRequest& request);

/// The parameter `root`.
ParameterSpec MakeRootSpec();

} // namespace ns3::gradsync

#endif // GRADSYNC_ROOTED_TREE_H
