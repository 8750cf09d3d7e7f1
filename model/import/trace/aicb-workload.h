// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AICB_WORKLOAD_H
#define GRADSYNC_AICB_WORKLOAD_H

#include "ns3/trace-issues.h"
#include "ns3/trace-program.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/// Computation and what follows it, of one direction of a layer.
struct AicbPhase
{
    uint64_t nanoseconds{0};
    std::optional<TraceCollective> collective;
    std::string group; //!< "tp", "dp", "ep", "dp_ep"
    uint64_t bytes{0}; //!< of the whole buffer
};

struct AicbLayer
{
    std::string name;
    AicbPhase forward;
    AicbPhase input;  //!< gradient of the layer's input
    AicbPhase weight; //!< gradient of its weights
    uint64_t updateNanoseconds{0};
};

/// A workload file of AICB (aliyun/aicb), as SimAI and ASTRA-sim's older releases read it.
struct AicbWorkload
{
    uint32_t tensor{1};       //!< model_parallel_NPU_group
    uint32_t expert{1};       //!< ep
    uint32_t stages{1};       //!< pp
    uint32_t chunks{1};       //!< vpp
    uint32_t microbatches{1}; //!< ga
    uint32_t ranks{0};        //!< all_gpus; 0: not said
    uint64_t stageBytes{0};   //!< pp_comm: from a rank to the next stage for a microbatch
    std::vector<AicbLayer> layers;
};

/// \throws ImportError with file and line
AicbWorkload ReadAicbWorkload(const std::string& file, std::string_view text);

/**
 * The iteration of a workload on its ranks, tensor, data and pipeline-parallel ones as Megatron-LM
 * numbers them.
 *
 * Without a pipeline as SimAI runs it: forward through the layers, then back, where the gradient of
 * the input and its collective come before that of the weights, whose collective holds up nothing.
 * With a pipeline a file has what one rank of a stage does for all its microbatches: each stage
 * does that, microbatch by microbatch in the order of 1F1B, or interleaved with chunks, and sends
 * pp_comm bytes on. What stands before and after the microbatches is done once; the embedding
 * belongs to the first part of the model, and the layers behind the last of the others to the last.
 * \param ranks that run it \throws ImportError for ranks that do not divide, or microbatches
 * whose collectives are not alike
 */
TraceSet MakeAicbTrace(const std::string& file, const AicbWorkload& workload, uint32_t ranks);

/**
 * The last epoch of a communication table of AICB (.csv): all its ranks do one row after the other,
 * in groups as Megatron-LM numbers them.
 * \throws ImportError with file and line
 */
TraceSet ReadAicbTable(const std::string& file, std::string_view text, TraceIssues& issues);

} // namespace ns3::gradsync

#endif // GRADSYNC_AICB_WORKLOAD_H
