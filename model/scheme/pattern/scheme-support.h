// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCHEME_SUPPORT_H
#define GRADSYNC_SCHEME_SUPPORT_H

#include "ns3/scheme.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * What every scheme asks of a request before it looks at anything else.
 * \throws SchemeError without workers or gradient, or when a level of the groups does not fit the
 * workers
 */
void CheckRequest(const SchemeRequest& request);

/**
 * An integer parameter that has to be at least `minimum`.
 * \throws SchemeError when it is smaller, or larger than 2^20
 */
uint32_t GetCount(const ParameterSet& parameters, const std::string& name, uint32_t minimum);

/**
 * parts * pipelineChunks as a chunk count.
 * \throws SchemeError when the product exceeds 2^24, where chunks would be smaller than packets
 */
uint32_t CountChunks(uint32_t parts, uint32_t pipelineChunks);

/**
 * As CountChunks, for schemes that keep track of every chunk at every rank (DataflowBuilder).
 * \throws SchemeError also when ranks * chunks exceed 2^28: three gigabytes of bookkeeping
 */
uint32_t CountTrackedChunks(uint32_t ranks, uint32_t parts, uint32_t pipelineChunks);

/// The specs of `first`, then those of `second`.
std::vector<ParameterSpec> MergeSpecs(std::vector<ParameterSpec> first,
                                      const std::vector<ParameterSpec>& second);

/// Scheme::countServers of schemes without dedicated servers.
uint32_t CountNoServers(const ParameterSet& parameters);

/// The parameter `pipelineChunks`, which most schemes have.
ParameterSpec MakePipelineChunksSpec(int64_t defaultValue, std::string help);

} // namespace ns3::gradsync

#endif // GRADSYNC_SCHEME_SUPPORT_H
