// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GATHER_EXCHANGE_H
#define GRADSYNC_GATHER_EXCHANGE_H

#include "ns3/scheme.h"

#include <cstdint>

namespace ns3::gradsync
{

/**
 * The plan of an all-gather: worker i has part i, all want all parts. Reads the parameter
 * `algorithm`.
 * \param layout `pieces` chunks for each worker, in the order of the workers
 */
Plan BuildAllGatherPlan(const SchemeRequest& request, const ChunkLayout& layout, uint32_t pieces);

/// The parameter `algorithm` of all-gathers.
ParameterSpec MakeAllGatherAlgorithmSpec();

} // namespace ns3::gradsync

#endif // GRADSYNC_GATHER_EXCHANGE_H
