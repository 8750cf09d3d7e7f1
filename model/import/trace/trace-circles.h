// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRACE_CIRCLES_H
#define GRADSYNC_TRACE_CIRCLES_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// (earlier, later)
using TraceEdges = std::vector<std::pair<uint32_t, uint32_t>>;

/**
 * Takes from a graph the edges that lead back in a depth-first walk, from its first node on, so
 * that none is left in a circle. Also sorts them and keeps one of equal ones.
 * \returns those that were taken
 */
TraceEdges CutCircles(size_t nodes, TraceEdges& edges);

} // namespace ns3::gradsync

#endif // GRADSYNC_TRACE_CIRCLES_H
