// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PIPELINE_SCHEDULE_H
#define GRADSYNC_PIPELINE_SCHEDULE_H

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// In which order a stage of a pipeline does its passes.
enum class PipelineSchedule : uint8_t
{
    /// All forward passes, then all backward passes (GPipe, NeurIPS'19, section 2.3).
    GPipe,
    /// As soon as a microbatch is through, backward and forward passes in turn (PipeDream-Flush,
    /// DAPPLE's early backward: PPoPP'21, section 3.1).
    OneForwardOneBackward,
    /// Likewise with several chunks of the model at each stage (Megatron-LM, SC'21, section 2.2).
    Interleaved,
    /// As OneForwardOneBackward, with the gradients of weights apart and later: stage s is s
    /// microbatches behind with them (ZB-H1: Qi et al., ICLR'24, section 2.1).
    ZeroBubbleH1
};

enum class PassKind : uint8_t
{
    Forward,
    Backward,      //!< to the input, and to the weights where no pass of its own does that
    WeightGradient //!< of ZeroBubbleH1
};

/// What a stage does for one microbatch with one of its chunks of the model.
struct PipelinePass
{
    PassKind kind;
    uint32_t microbatch;
    uint32_t chunk;

    bool operator==(const PipelinePass&) const = default;
};

struct PipelineShape
{
    uint32_t stages{1};
    uint32_t microbatches{1};
    uint32_t chunks{1}; //!< of the model at each stage: "virtual stages"
};

/// \throws WorkloadError with a text for the user when the schedule does not go with the shape
void CheckPipeline(PipelineSchedule schedule, const PipelineShape& shape);

/// What a stage does, in this order. \param shape checked
std::vector<PipelinePass> ListPasses(PipelineSchedule schedule,
                                     const PipelineShape& shape,
                                     uint32_t stage);

/// Microbatches, times chunks, whose activations a stage holds at once.
uint32_t CountInFlight(const std::vector<PipelinePass>& passes);

} // namespace ns3::gradsync

#endif // GRADSYNC_PIPELINE_SCHEDULE_H
