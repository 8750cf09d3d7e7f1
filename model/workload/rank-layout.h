// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RANK_LAYOUT_H
#define GRADSYNC_RANK_LAYOUT_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// What the ranks of a training job are split by.
enum class ParallelAxis : uint8_t
{
    Tensor,
    Context, //!< parts of each sequence
    Expert,  //!< of mixtures of experts; lies within context and data
    Data,
    Pipeline
};

inline constexpr size_t PARALLEL_AXES = 5;

/// Ranks that communicate with each other. Each rank is in one group of each kind.
enum class ParallelGroup : uint8_t
{
    Tensor,
    Context,
    Data, //!< the same parameters but for experts': data and context ranks
    Pipeline,
    Expert,       //!< all experts of a layer
    ExpertTensor, //!< parts of the same experts
    ExpertData    //!< the same part of the same experts
};

inline constexpr size_t PARALLEL_GROUPS = 7;

/**
 * How many ways each axis splits. The ranks are tensor * context * data * pipeline. Where there are
 * experts, the same ranks without the pipeline are expertTensor * expert * the rest.
 */
struct ParallelDegrees
{
    uint32_t tensor{1};
    uint32_t context{1};
    uint32_t expert{1};
    uint32_t data{1};
    uint32_t pipeline{1};
    uint32_t expertTensor{0}; //!< parts of an expert; 0: as `tensor`

    /// The axis whose ranks follow each other first; empty: tensor, context, expert, data,
    /// pipeline, Megatron-LM's order.
    std::vector<ParallelAxis> order;
};

/**
 * Which rank does which part, as Megatron-LM numbers them (megatron/core/parallel_state.py,
 * RankGenerator): the layers but for experts in the given order without the expert axis, experts in
 * the same order without the context axis.
 */
class RankLayout
{
  public:
    static constexpr uint32_t MAX_RANKS = 1U << 20;

    /**
     * \throws WorkloadError for a degree of 0, more ranks than MAX_RANKS, experts that do not
     * divide the ranks, an order that is none, or one by which the layers and their experts would
     * be on different stages
     */
    explicit RankLayout(const ParallelDegrees& degrees);

    uint32_t GetRankCount() const
    {
        return m_ranks;
    }

    /// Ascending along the axes of the group, as the order has them; with the rank itself.
    std::vector<uint32_t> GetGroup(ParallelGroup group, uint32_t rank) const;

    uint32_t GetGroupSize(ParallelGroup group) const;

    uint32_t GetStage(uint32_t rank) const;

    /// The one with the same place in another stage.
    uint32_t GetPeer(uint32_t rank, uint32_t stage) const;

  private:
    /// An axis: rank / stride % size is a rank's coordinate.
    struct Axis
    {
        uint32_t size{1};
        uint32_t stride{1};
    };

    using Axes = std::array<Axis, PARALLEL_AXES>;

    static std::vector<ParallelAxis> CompleteOrder(const std::vector<ParallelAxis>& order);
    Axes Stack(const std::array<uint32_t, PARALLEL_AXES>& sizes) const;
    void CheckStages() const;

    std::vector<ParallelAxis> m_order;
    Axes m_axes;       //!< [ParallelAxis] of all layers but experts
    Axes m_expertAxes; //!< of experts
    uint32_t m_ranks{1};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_RANK_LAYOUT_H
