// SPDX-License-Identifier: GPL-2.0-only
// What of a training is refused.
#include "ns3/training-layers.h"
#include "ns3/workload-builder.h"

#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

constexpr double MOST_BYTES = 1ULL << 46; // that all layers keep of a microbatch

} // namespace

void
TrainingLayers::Check() const
{
    const RankLayout layout(m_training.degrees); // throws for degrees that cannot be
    CheckPipeline(m_training.schedule,
                  {m_training.degrees.pipeline, m_training.microbatches, m_training.chunks});
    if (m_training.microbatchSize == 0)
    {
        throw WorkloadError("a microbatch has at least one sample");
    }
    if (m_training.zeroStage > 3)
    {
        throw WorkloadError(fmt::format("ZeRO has stages 0 to 3, not {}", m_training.zeroStage));
    }
    const auto& model = m_training.model;
    CheckSizes();
    if (model.transformer)
    {
        CheckTransformer(*model.transformer);
    }
    else if (m_tensor > 1 || m_context > 1 || m_training.degrees.expert > 1)
    {
        throw WorkloadError(fmt::format("tensor, context and expert parallelism are of "
                                        "transformers; {} is none",
                                        model.name));
    }
    else if (m_training.recomputation != Recomputation::None)
    {
        throw WorkloadError(
            fmt::format("recomputation is of transformers; {} is none", model.name));
    }
}

void
TrainingLayers::CheckSizes() const
{
    double bytes = 0.0;
    for (const auto& layer : m_training.model.layers)
    {
        for (const auto& count :
             {layer.kept.split, layer.kept.shared, layer.kept.scores, layer.output})
        {
            bytes += static_cast<double>(count.elements) * m_training.precision.elementBytes +
                     static_cast<double>(count.bytes);
        }
    }
    if (bytes * m_training.microbatchSize > MOST_BYTES)
    {
        throw WorkloadError(fmt::format("a microbatch of {} samples has {:.4g} bytes of "
                                        "activations, expected {:.4g} at most",
                                        m_training.microbatchSize,
                                        bytes * m_training.microbatchSize,
                                        MOST_BYTES));
    }
}

void
TrainingLayers::CheckTransformer(const TransformerShape& shape) const
{
    const auto& name = m_training.model.name;
    const auto divide = [&name](uint64_t count, const char* what, uint64_t parts, const char* by) {
        if (count % parts != 0)
        {
            throw WorkloadError(fmt::format("the {} {} of {} do not divide by {} {}",
                                            count,
                                            what,
                                            name,
                                            parts,
                                            by));
        }
    };
    divide(shape.heads, "heads", m_tensor, "tensor ranks");
    divide(shape.kvHeads, "heads of keys and values", m_tensor, "tensor ranks");
    divide(shape.feedForward, "columns", m_tensor, "tensor ranks");
    divide(shape.sequence, "tokens", m_context, "context ranks");
    if (m_training.sequenceParallel)
    {
        divide(shape.sequence,
               "tokens",
               uint64_t{m_context} * m_tensor,
               "context and tensor ranks");
    }
    const auto expert = m_training.degrees.expert;
    if (expert > 1 && shape.experts == 0)
    {
        throw WorkloadError(fmt::format("{} has no experts to be parallel", name));
    }
    if (shape.experts > 0)
    {
        divide(shape.experts, "experts", expert, "expert ranks");
        divide(shape.feedForward, "columns", m_expertTensor, "tensor ranks of an expert");
        if (m_tensor > 1 && !m_training.sequenceParallel)
        {
            throw WorkloadError("experts on tensor-parallel ranks need sequence parallelism, or "
                                "each of these would send the same tokens");
        }
    }
}

} // namespace ns3::gradsync
