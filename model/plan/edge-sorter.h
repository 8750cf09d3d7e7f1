// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EDGE_SORTER_H
#define GRADSYNC_EDGE_SORTER_H

#include "ns3/operation-table.h"
#include "ns3/packed-rows.h"

#include <cstddef>

namespace ns3::gradsync
{

/// The edges of a plan by the operation at which they begin, each once (compressed sparse rows).
struct SortedEdges
{
    OperationIdTable offsets;    //!< [operation] in `successors`; one more than operations
    OperationIdTable successors; //!< of each operation in ascending order
    PackedRows<1> predecessors;  //!< [operation]: how many it waits for
    bool areForward{true};       //!< all lead to operations of higher ids: there is no cycle
};

/**
 * \param edges earlier and later operation of each, in any order. Edges in about the order of their
 * earlier ends take no memory beside what is returned; of others, what is not in order does
 * \param copies how often all operations come with these edges, one copy behind the other
 * \throws std::logic_error when an edge names an operation that is not there
 */
SortedEdges SortEdges(const PackedRows<2>& edges, size_t operations, uint32_t copies = 1);

} // namespace ns3::gradsync

#endif // GRADSYNC_EDGE_SORTER_H
