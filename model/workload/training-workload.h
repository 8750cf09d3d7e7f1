// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAINING_WORKLOAD_H
#define GRADSYNC_TRAINING_WORKLOAD_H

#include "ns3/gradient-buckets.h"
#include "ns3/pipeline-schedule.h"
#include "ns3/plan-shelf.h"
#include "ns3/rank-layout.h"
#include "ns3/scheme-choice.h"
#include "ns3/workload.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What the ranks of a group exchange of a block. Groups of one rank exchange nothing.
struct BlockCollective
{
    SchemeChoice scheme;
    uint64_t bytes; //!< of the whole buffer; of an all-to-all: that of each rank
    ParallelGroup group{ParallelGroup::Tensor};
};

/// A part of a model that is computed as one, for one microbatch on one rank.
struct ModelBlock
{
    std::string name;
    uint64_t forwardPicoseconds{0};
    /// To the input, and to the weights unless the schedule does that apart.
    uint64_t backwardPicoseconds{0};
    uint64_t weightPicoseconds{0};   //!< only where the schedule does it apart
    uint64_t gradientBytes{0};       //!< of the rank's own share, but for experts'
    uint64_t expertGradientBytes{0}; //!< of the rank's own share of experts
    /// To the next stage for a microbatch, from each rank, where the block is the last of its
    /// stage; 0: as TrainingSpec::activationBytes says.
    uint64_t outputBytes{0};
    std::vector<BlockCollective> beforeForward;  //!< the block waits for them
    std::vector<BlockCollective> afterForward;   //!< the next block waits for them
    std::vector<BlockCollective> beforeBackward; //!< likewise, on the way back
    std::vector<BlockCollective> afterBackward;
};

/// How data-parallel ranks come to the same parameters.
enum class DataParallelism : uint8_t
{
    AllReduce, //!< of every bucket (DDP)
    /// Reduce-scatter of every bucket, then all-gather of the parameters (ZeRO-1 and 2)
    ShardedOptimizer
};

/**
 * One training iteration of a model on tensor x context x data x pipeline ranks (RankLayout).
 * Gradients are exchanged by data and context ranks; those of experts by the ranks that have the
 * same ones.
 */
struct TrainingSpec
{
    uint32_t tensor{1};
    uint32_t context{1};
    uint32_t expert{1};       //!< within context and data
    uint32_t expertTensor{0}; //!< parts of an expert; 0: as `tensor`
    uint32_t data{1};
    std::vector<ParallelAxis> order; //!< of ranks; empty: Megatron-LM's
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
    ReceiveBackward,
    Context, //!< collectives of context-parallel ranks
    Expert   //!< of expert-parallel ones
};

/// Degrees and order of a spec, as they number ranks.
ParallelDegrees GetDegrees(const TrainingSpec& spec);

/// \returns for each chunk of each stage, chunk * stages + stage, its first block; at the end the
/// number of blocks \param spec with as many blocks as stages and chunks, at least
std::vector<uint32_t> CutBlocks(const TrainingSpec& spec);

/**
 * \throws WorkloadError for a spec that cannot be: groups of 0 or that do not divide, fewer blocks
 * than stages and chunks, a schedule that does not go with the pipeline, buckets of 0 \throws
 * SchemeError when a scheme cannot do what it is to
 */
Workload MakeTrainingWorkload(const TrainingSpec& spec, PlanShelf& shelf);

} // namespace ns3::gradsync

#endif // GRADSYNC_TRAINING_WORKLOAD_H
