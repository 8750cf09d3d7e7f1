// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAINING_LAYERS_H
#define GRADSYNC_TRAINING_LAYERS_H

#include "ns3/model-training.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// What each rank does and holds of the layers of a model that is trained.
class TrainingLayers
{
  public:
    /// \throws WorkloadError for what cannot be
    explicit TrainingLayers(const ModelTraining& training);

    /// [chunk * stages + stage] its first layer; at the end the number of layers.
    const std::vector<uint32_t>& GetFirstLayers() const
    {
        return m_firstLayers;
    }

    /// Computation, exchanges and gradients of a layer for a microbatch.
    ModelBlock MakeBlock(const ModelLayer& layer) const;

    /// To the next stage, from each rank.
    uint64_t GetOutputBytes(const ModelLayer& layer) const;

    /// Of a microbatch until its backward pass.
    uint64_t GetKeptBytes(const ModelLayer& layer) const;

    /// Of a microbatch, of what is computed again only.
    uint64_t GetRecomputedBytes(const ModelLayer& layer) const;

    /// Of the rank's own, but for experts.
    uint64_t CountOwnParameters(const ModelLayer& layer) const;

    uint64_t CountOwnExpertParameters(const ModelLayer& layer) const;

    /// Of all tensor-parallel ranks, for a microbatch of one context-parallel rank: what they sum.
    uint64_t GetActivationBytes() const;

    BlockCollective AllGather(ParallelGroup group, uint64_t bytes) const;

  private:
    /// Of a forward pass, in seconds.
    struct Times
    {
        double weights;    //!< products with weights
        double weightless; //!< others
        double moved;      //!< for reading and writing alone; the share of the peak is of products
    };

    void Check() const;
    void CheckSizes() const;
    void CheckTransformer(const TransformerShape& shape) const;
    std::vector<uint32_t> Cut() const;
    bool IsRecomputed(const ModelLayer& layer) const;
    Times GetTimes(const ModelLayer& layer) const;
    void SetTimes(const ModelLayer& layer, ModelBlock& block) const;
    void AddTensorExchanges(const ModelLayer& layer, ModelBlock& block) const;
    void AddOutputExchanges(ModelBlock& block) const;
    void AddContextExchanges(const ModelLayer& layer, ModelBlock& block) const;
    void SetRing(const ModelLayer& layer, uint64_t bytes, ModelBlock& block) const;
    void AddExpertExchanges(ModelBlock& block) const;
    BlockCollective AllReduce(ParallelGroup group, uint64_t bytes) const;
    BlockCollective ReduceScatter(ParallelGroup group, uint64_t bytes) const;
    BlockCollective AllToAll(ParallelGroup group, uint64_t bytes) const;
    const CollectiveSchemes& GetSchemes(ParallelGroup group) const;
    /// Bytes of a microbatch.
    uint64_t GetBytes(const ModelLayer& layer, const DataCount& count) const;
    /// Of what tensor- and context-parallel ranks split, the largest part.
    uint64_t Split(uint64_t bytes) const;
    /// Of what tensor-parallel ranks share unless sequences are parallel.
    uint64_t Share(uint64_t bytes) const;

    const ModelTraining& m_training;
    uint32_t m_tensor;
    uint32_t m_context;
    uint32_t m_expertTensor;
    std::vector<uint32_t> m_firstLayers;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TRAINING_LAYERS_H
