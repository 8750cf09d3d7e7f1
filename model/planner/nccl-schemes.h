// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NCCL_SCHEMES_H
#define GRADSYNC_NCCL_SCHEMES_H

#include "ns3/job-spec.h"
#include "ns3/message-protocol.h"
#include "ns3/nccl-model.h"
#include "ns3/scheme-choice.h"
#include "ns3/topology.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/**
 * The names of NCCL's algorithms, and `nccl`, which chooses among them as NCCL does: schemes that
 * only jobs know, and whose plans are those of schemes of the registry. doc/nccl.rst.
 */
std::span<const Scheme> GetNcclSchemes();

/// What is missing for an algorithm of NCCL that no scheme stands for; nothing for other names.
std::optional<std::string> ExplainMissingNccl(std::string_view name);

/// What NCCL's model expects, and which of it was taken.
struct NcclChoice
{
    NcclMachine machine;
    std::vector<NcclPrediction> predictions; //!< all that NCCL offers
    NcclPrediction taken;                    //!< the least time of those that are simulated
};

/// What a name of NCCL stands for in a job.
struct NcclScheme
{
    SchemeChoice scheme;                       //!< of the registry
    std::optional<MessageProtocol> protocol{}; //!< that was chosen with it; none: that of the job
    std::optional<NcclChoice> choice{};        //!< of `nccl`
};

/**
 * \param serverOf [rank] -> server
 * \returns nothing for a job whose scheme is none of GetNcclSchemes
 * \throws SchemeError where `nccl` is to choose the protocol that the job gives, or servers differ
 */
std::optional<NcclScheme> ResolveNccl(const JobSpec& job,
                                      const Topology& topology,
                                      const std::vector<uint32_t>& serverOf);

/// As `ring ll128`.
std::string DescribeNccl(const NcclPrediction& prediction);

/// A line for the machine, then one for each algorithm: its predicted times by protocol.
std::vector<std::string> ListNcclPredictions(const NcclChoice& choice);

} // namespace ns3::gradsync

#endif // GRADSYNC_NCCL_SCHEMES_H
