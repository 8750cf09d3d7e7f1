// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAINING_WORKLOAD_H
#define GRADSYNC_TRAINING_WORKLOAD_H

#include "ns3/gradient-buckets.h"
#include "ns3/pipeline-schedule.h"
#include "ns3/plan-shelf.h"
#include "ns3/scheme-choice.h"
#include "ns3/workload.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What tensor-parallel ranks exchange of a block.
struct BlockCollective
{
    SchemeChoice scheme;
    uint64_t bytes; //!< of the whole buffer
};

/// A part of a model that is computed as one, for one microbatch on one rank.
struct ModelBlock
{
    std::string name;
    uint64_t forwardPicoseconds{0};
    /// To the input, and to the weights unless the schedule does that apart.
    uint64_t backwardPicoseconds{0};
    uint64_t weightPicoseconds{0};              //!< only where the schedule does it apart
    uint64_t gradientBytes{0};                  //!< of the rank's own share
    std::vector<BlockCollective> afterForward;  //!< the next block waits for them
    std::vector<BlockCollective> afterBackward; //!< likewise, on the way back
};

/// How data-parallel ranks come to the same parameters.
enum class DataParallelism : uint8_t
{
    AllReduce, //!< of every bucket (DDP)
    /// Reduce-scatter of every bucket, then all-gather of the parameters (ZeRO-1 and 2)
    ShardedOptimizer
};

/**
 * One training iteration of a model on tensor x data x pipeline ranks, numbered as Megatron-LM
 * does: tensor-parallel ranks follow each other, then data-parallel ones, then stages.
 */
struct TrainingSpec
{
    uint32_t tensor{1};
    uint32_t data{1};
    PipelineSchedule schedule{PipelineSchedule::OneForwardOneBackward};
    PipelineShape pipeline;         //!< microbatches: also those whose gradients are accumulated
    std::vector<ModelBlock> blocks; //!< of the whole model
    /// [stage, then chunk: chunk * stages + stage] first block of it; empty: as many each
    std::vector<uint32_t> firstBlocks;
    uint64_t activationBytes{0}; //!< from stage to stage for a microbatch, of each rank; 0: no time
    DataParallelism dataParallelism{DataParallelism::AllReduce};
    SchemeChoice gradientScheme;  //!< AllReduce, or reduce-scatter
    SchemeChoice parameterScheme; //!< all-gather of ShardedOptimizer
    /// Bytes of parameters for one of gradients: 0.5 for bf16 after gradients in fp32.
    double parameterShare{1.0};
    BucketCaps buckets;
    bool overlaps{true}; //!< exchanges gradients while backward passes go on
};

/// The streams of a rank, in this order.
enum class TrainingStream : uint8_t
{
    Compute,
    Tensor,      //!< collectives of tensor-parallel ranks
    Data,        //!< of data-parallel ones
    SendForward, //!< activations
    ReceiveForward,
    SendBackward, //!< their gradients
    ReceiveBackward
};

/**
 * \throws WorkloadError for a spec that cannot be: groups of 0, fewer blocks than stages and
 * chunks, a schedule that does not go with the pipeline, buckets of 0 \throws SchemeError when a
 * scheme cannot do what it is to
 */
Workload MakeTrainingWorkload(const TrainingSpec& spec, PlanShelf& shelf);

} // namespace ns3::gradsync

#endif // GRADSYNC_TRAINING_WORKLOAD_H
