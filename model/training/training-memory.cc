// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/model-training.h"
#include "ns3/training-layers.h"
#include "ns3/workload-builder.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Parameters of a rank, and by how many ranks what belongs to them can be split.
struct OwnParameters
{
    uint64_t count;
    uint32_t replicas;
};

/// Of bytes a parameter; each of its replicas has a part if ZeRO splits that.
uint64_t
Hold(const OwnParameters& own, uint32_t bytes, bool isSplit)
{
    const auto all = own.count * bytes;
    return isSplit ? (all + own.replicas - 1) / own.replicas : all;
}

/// At most, when chunks hold different amounts. \param bytes [chunk]
uint64_t
FindPeak(std::span<const PipelinePass> passes, std::span<const uint64_t> bytes)
{
    uint64_t held = 0;
    uint64_t most = 0;
    for (const auto& pass : passes)
    {
        held += pass.kind == PassKind::Forward ? bytes[pass.chunk] : 0;
        most = std::max(most, held);
        held -= pass.kind == PassKind::Backward ? bytes[pass.chunk] : 0;
    }
    return most;
}

/// What each rank of a stage holds, layer after layer.
class StageMemory
{
  public:
    explicit StageMemory(const ModelTraining& training)
        : m_training(training),
          m_layers(training)
    {
        const RankLayout layout(training.degrees);
        m_own.replicas = layout.GetGroupSize(ParallelGroup::Data);
        m_ownExperts.replicas = layout.GetGroupSize(ParallelGroup::ExpertData);
    }

    TrainingMemory Estimate(uint32_t stage)
    {
        const auto stages = m_training.degrees.pipeline;
        const auto& first = m_layers.GetFirstLayers();
        std::vector<uint64_t> kept; // [chunk]
        for (uint32_t chunk = 0; chunk < m_training.chunks; ++chunk)
        {
            const auto part = chunk * stages + stage;
            kept.push_back(0);
            for (auto layer = first[part]; layer < first[part + 1]; ++layer)
            {
                kept.back() += Add(m_training.model.layers[layer]);
            }
        }
        const auto passes = ListPasses(m_training.schedule,
                                       {stages, m_training.microbatches, m_training.chunks},
                                       stage);
        m_memory.inFlight = CountInFlight(passes);
        m_memory.activations = FindPeak(passes, kept);
        HoldParameters();
        return m_memory;
    }

  private:
    /// \returns what is kept of a microbatch
    uint64_t Add(const ModelLayer& layer)
    {
        const auto own = m_layers.CountOwnParameters(layer);
        const auto ownExperts = m_layers.CountOwnExpertParameters(layer);
        m_own.count += own;
        m_ownExperts.count += ownExperts;
        // What is computed again at once: a transformer layer.
        m_again = layer.isCut ? 0 : m_again;
        m_again += m_layers.GetRecomputedBytes(layer);
        m_memory.working = std::max(m_memory.working, m_again);
        if (m_training.zeroStage == 3)
        {
            m_unit = layer.isCut || layer.role == LayerRole::Output ? 0 : m_unit;
            m_unit += (own + ownExperts) * m_training.precision.elementBytes;
            m_largestUnit = std::max(m_largestUnit, m_unit);
        }
        return m_layers.GetKeptBytes(layer);
    }

    void HoldParameters()
    {
        const auto& precision = m_training.precision;
        const auto zero = m_training.zeroStage;
        const bool keepsParameters =
            zero == 3 && m_training.parameterGather == ParameterGather::Iteration;
        // Gradients of several microbatches are added up where they are scattered once.
        const bool keepsGradients = keepsParameters && m_training.microbatches > 1;
        for (const auto& own : {m_own, m_ownExperts})
        {
            m_memory.parameters += Hold(own, precision.elementBytes, zero >= 3);
            m_memory.gradients += Hold(own, precision.gradientBytes, zero >= 2 && !keepsGradients);
            m_memory.optimizer += Hold(own, precision.optimizerBytes, zero >= 1);
            m_memory.working += keepsParameters ? Hold(own, precision.elementBytes, false) : 0;
        }
        if (!keepsParameters)
        {
            // One block is computed while the next is gathered.
            m_memory.working += 2 * m_largestUnit;
        }
    }

    const ModelTraining& m_training;
    TrainingLayers m_layers;
    TrainingMemory m_memory;
    OwnParameters m_own{0, 1};
    OwnParameters m_ownExperts{0, 1};
    uint64_t m_again{0};       //!< bytes of the layer that is computed again, so far
    uint64_t m_unit{0};        //!< bytes of the parameters that are gathered as one, so far
    uint64_t m_largestUnit{0}; //!< likewise, at most
};

std::string
ShowGigabytes(uint64_t bytes)
{
    return fmt::format("{:.2f}", static_cast<double>(bytes) / 1e9);
}

} // namespace

TrainingMemory
EstimateMemory(const ModelTraining& training, uint32_t stage)
{
    return StageMemory(training).Estimate(stage);
}

void
CheckMemory(const ModelTraining& training)
{
    for (uint32_t stage = 0; stage < training.degrees.pipeline; ++stage)
    {
        const auto memory = EstimateMemory(training, stage);
        if (memory.GetTotal() > training.device.memoryBytes)
        {
            throw WorkloadError(fmt::format(
                "each rank of stage {} would hold {} GB (parameters {}, gradients {}, optimizer "
                "{}, activations {} with {} in flight, working space {}), but {} has {} GB",
                stage,
                ShowGigabytes(memory.GetTotal()),
                ShowGigabytes(memory.parameters),
                ShowGigabytes(memory.gradients),
                ShowGigabytes(memory.optimizer),
                ShowGigabytes(memory.activations),
                memory.inFlight,
                ShowGigabytes(memory.working),
                training.device.name,
                ShowGigabytes(training.device.memoryBytes)));
        }
    }
}

} // namespace ns3::gradsync
