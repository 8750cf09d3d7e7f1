// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NCCL_MACHINE_H
#define GRADSYNC_NCCL_MACHINE_H

#include "ns3/nccl-model.h"
#include "ns3/topology.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// How many ranks of a job servers have.
struct ServerSizes
{
    uint32_t servers{0};
    uint32_t least{0};
    uint32_t most{0};
};

/// \param serverOf [rank] -> server
ServerSizes CountServerSizes(const std::vector<uint32_t>& serverOf);

/**
 * What a graph says of a machine: ranks and servers, the least rate of an accelerator's NVLinks (of
 * its other links, where one has none), the least summed rate of the links that leave a server.
 * \param endpointOf [rank], at least one \param serverOf [rank] -> server, numbered from 0
 */
NcclMachine MeasureNcclMachine(const Topology& topology,
                               std::span<const uint32_t> endpointOf,
                               const std::vector<uint32_t>& serverOf);

} // namespace ns3::gradsync

#endif // GRADSYNC_NCCL_MACHINE_H
