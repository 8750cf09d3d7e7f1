// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_MODEL_TRAINING_H
#define GRADSYNC_MODEL_TRAINING_H

#include "ns3/device-profile.h"
#include "ns3/model-spec.h"
#include "ns3/training-workload.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What of the forward pass is computed again on the way back (Korthikanti et al., MLSys'23).
enum class Recomputation : uint8_t
{
    None,
    Selective, //!< attention's scores
    Full       //!< every layer from its input, with its collectives
};

/// Bytes of numbers.
struct TrainingPrecision
{
    std::string datatype{"bf16"}; //!< of matrix products: which peak of the device counts
    uint32_t elementBytes{2};     //!< of parameters, activations and what is sent of them
    uint32_t gradientBytes{4};    //!< of a parameter, as it is summed
    uint32_t optimizerBytes{12};  //!< of a parameter: Adam's two moments, fp32 weights if needed
};

/**
 * What training in mixed precision with Adam takes (Megatron-LM): 16-bit weights, fp32 gradients,
 * fp32 weights and moments; in fp32 and tf32 no second weights. fp8 is of the products alone.
 * \throws WorkloadError for a datatype that is none of fp32, tf32, fp16, bf16, fp8
 */
TrainingPrecision MakePrecision(const std::string& datatype);

/// How the ranks of a group exchange.
struct CollectiveSchemes
{
    SchemeChoice allReduce;
    SchemeChoice allGather;
    SchemeChoice reduceScatter;
    SchemeChoice allToAll;
};

/// A model on devices: from it come the workload, its memory and what its work is counted by.
struct ModelTraining
{
    ModelSpec model;
    DeviceProfile device;
    ParallelDegrees degrees; //!< pipeline: its stages
    PipelineSchedule schedule{PipelineSchedule::OneForwardOneBackward};
    uint32_t chunks{1};         //!< of the model at each stage
    uint32_t microbatches{1};   //!< of each data-parallel rank in an iteration
    uint32_t microbatchSize{1}; //!< samples
    /// [chunk * stages + stage] where it begins: of transformers a transformer layer, else a layer;
    /// empty: as many each.
    std::vector<uint32_t> firstLayers;
    TrainingPrecision precision;
    double achievedShare{0.0}; //!< of the device's peak; 0: as its profile says
    Recomputation recomputation{Recomputation::None};
    bool ringAttention{false};    //!< keys and values go round, they are not gathered
    bool sequenceParallel{false}; //!< tensor-parallel ranks split what they would share
    /// 0: all have all (DDP); 1, 2: optimizer states, and gradients, are split by data-parallel
    /// ranks; 3: parameters too.
    uint32_t zeroStage{0};
    ParameterGather parameterGather{ParameterGather::Pass}; //!< of zeroStage 3
    BucketCaps buckets;
    bool overlaps{true}; //!< exchanges gradients while backward passes go on
    std::array<CollectiveSchemes, PARALLEL_GROUPS> schemes; //!< [ParallelGroup]
};

/**
 * Blocks are the layers of the model; those of transformers are an attention and a feed-forward
 * part each. With zeroStage 3 a transformer layer is gathered as one, and so is the output with
 * what belongs to it. \throws WorkloadError for what cannot be
 */
TrainingSpec MakeTrainingSpec(const ModelTraining& training);

/// What a rank holds, in bytes.
struct TrainingMemory
{
    uint64_t parameters{0};
    uint64_t gradients{0};
    uint64_t optimizer{0};
    uint64_t activations{0}; //!< at most, of all microbatches in flight
    uint64_t working{0};     //!< of the layer that is computed again; of gathered parameters
    uint32_t inFlight{0};    //!< microbatches, times chunks, whose activations are held at once

    uint64_t GetTotal() const
    {
        return parameters + gradients + optimizer + activations + working;
    }
};

/// Of each rank of a stage. \throws WorkloadError as MakeTrainingSpec
TrainingMemory EstimateMemory(const ModelTraining& training, uint32_t stage);

/// \throws WorkloadError that names the stage and what it holds when that is more than the device's
/// memory
void CheckMemory(const ModelTraining& training);

/// What an iteration does, of all ranks together.
struct TrainingWork
{
    /// Of the model: forward and backward pass, without what is computed again (for MFU).
    double flops{0.0};
    uint64_t samples{0};
    uint64_t tokens{0}; //!< of transformers
};

TrainingWork CountWork(const ModelTraining& training);

} // namespace ns3::gradsync

#endif // GRADSYNC_MODEL_TRAINING_H
