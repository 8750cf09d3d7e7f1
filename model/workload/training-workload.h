// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAINING_WORKLOAD_H
#define GRADSYNC_TRAINING_WORKLOAD_H

#include "ns3/gradient-buckets.h"
#include "ns3/gradient-codecs.h"
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
    SharedCodec codec{}; //!< of what is sent
};

/// Attention of context-parallel ranks by a ring of keys and values (ContextRing).
struct RingAttention
{
    /// Of a rank's own keys and values, for a microbatch; 0, as with one context-parallel rank:
    /// there is no ring.
    uint64_t bytes{0};
    /// Of attention to all keys, on top of what the block computes beside it.
    uint64_t forwardPicoseconds{0};
    uint64_t backwardPicoseconds{0};
    bool isRecomputed{false}; //!< goes round again before the backward pass
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
    /// FullySharded: its parameters are gathered as one with those of the block before it, unless
    /// that is of another stage or chunk.
    bool joinsPrevious{false};
    RingAttention ring;                         //!< after the forward pass, before the backward one
    std::vector<BlockCollective> beforeForward; //!< the block waits for them
    std::vector<BlockCollective> afterForward;  //!< the next block waits for them
    std::vector<BlockCollective> beforeBackward; //!< likewise, on the way back
    std::vector<BlockCollective> afterBackward;
};

/// How data-parallel ranks come to the same parameters.
enum class DataParallelism : uint8_t
{
    AllReduce, //!< of every bucket (DDP)
    /// Reduce-scatter of every bucket, then all-gather of the parameters (ZeRO-1 and 2)
    ShardedOptimizer,
    /// Likewise of the gradients themselves: an all-reduce whose second half is put off, first
    /// blocks first (Centauri's substitution of primitives: Chen et al., ASPLOS'24).
    ScatterGather,
    /// Reduce-scatter within inner groups, all-reduce among them, all-gather within (Centauri's
    /// partition of groups), each on a stream of its own.
    Hierarchical,
    /// Ranks hold a share of every parameter, gather it before it is used and scatter its gradients
    /// (ZeRO-3, FSDP): ShardedParameters. gradientBytes of blocks are of the parameters, too.
    FullySharded
};

/// FullySharded: how long gathered parameters stay.
enum class ParameterGather : uint8_t
{
    Pass, //!< gathered for each pass of a microbatch, whose gradients are scattered (ZeRO-3, FSDP)
    /// From the first pass of the iteration to the last one, after which gradients are scattered:
    /// what PyTorch does with pipelines (torchtitan, fsdp_reshard_after_forward).
    Iteration
};

/// The streams on which gradients are exchanged.
struct GradientStreams
{
    StreamPolicy policy{StreamPolicy::Program}; //!< by priority, the first blocks come first
    uint64_t creditBytes{0};                    //!< as of StreamSpec
    /// Buckets are exchanged in pieces of this size, which others may come between (P3's slices,
    /// ByteScheduler's partitions); 0: whole.
    uint64_t pieceBytes{0};
    uint32_t count{1}; //!< streams that pieces take in turn
};

/**
 * Parameters that the first block of the model and the last one share (the embedding and the output
 * of a model that ties them). Where these are on two stages both have a copy, and sum its gradients
 * when data-parallel ranks have (Megatron-LM, _allreduce_word_embedding_grads).
 */
struct TiedParameters
{
    uint64_t gradientBytes{
        0};              //!< of each rank's own share; they are in gradientBytes of both blocks
    SchemeChoice scheme; //!< all-reduce of two ranks
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
    TiedParameters tied;
    DataParallelism dataParallelism{DataParallelism::AllReduce};
    SchemeChoice gradientScheme;  //!< AllReduce, or reduce-scatter
    SchemeChoice parameterScheme; //!< all-gather of all but AllReduce
    SchemeChoice outerScheme;     //!< all-reduce among the inner groups of Hierarchical
    /// Of an inner group, as data-parallel ranks follow each other; 0: those that the network's
    /// innermost level has together.
    uint32_t innerRanks{0};
    ParameterGather parameterGather{ParameterGather::Pass};
    /// ShardedOptimizer: bytes of parameters for one of gradients: 0.5 for bf16 after gradients in
    /// fp32.
    double parameterShare{1.0};
    BucketCaps buckets;
    /// Which gradients are compressed. Those of one codec have buckets of their own, as DDP's have
    /// those of one data type.
    std::vector<GradientCodecRule> codecs;
    GradientStreams streams;
    bool overlaps{true}; //!< exchanges gradients while backward passes go on
    /// Passes of a block, and its collectives, are cut into as many slices of the microbatch, so
    /// that one slice computes while another communicates (Centauri's partition of the workload).
    uint32_t slices{1};
    /// That follow one another without a barrier: the forward pass of a block waits for its own sum
    /// of the iteration before.
    uint32_t iterations{1};
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
