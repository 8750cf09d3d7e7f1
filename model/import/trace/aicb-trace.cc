// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/aicb-program.h"
#include "ns3/aicb-workload.h"
#include "ns3/import-error.h"
#include "ns3/pipeline-schedule.h"
#include "ns3/rank-layout.h"
#include "ns3/workload-builder.h"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Times may differ: some of a microbatch are those of the first one.
bool
AreAlike(const AicbPhase& left, const AicbPhase& right)
{
    return std::tie(left.collective, left.group, left.bytes) ==
           std::tie(right.collective, right.group, right.bytes);
}

bool
AreAlike(const AicbLayer& left, const AicbLayer& right)
{
    return left.name == right.name && AreAlike(left.forward, right.forward) &&
           AreAlike(left.input, right.input) && AreAlike(left.weight, right.weight);
}

/// What the stages do for a microbatch.
struct AicbMicrobatch
{
    std::vector<AicbLayer> embedding;         //!< of the first part of the model
    std::vector<std::vector<AicbLayer>> body; //!< [chunk]
    std::vector<AicbLayer> last;              //!< of the last part
};

/// The layers of a file with a pipeline.
struct AicbParts
{
    std::vector<AicbLayer> before; //!< of microbatches, once
    std::vector<AicbMicrobatch> microbatches;
    std::vector<AicbLayer> after; //!< likewise, once
};

bool
IsEmbedding(const AicbLayer& layer)
{
    return layer.name == "embedding_layer";
}

/// Where a model ends.
bool
IsFinal(const AicbLayer& layer)
{
    return layer.name == "final_column";
}

/// Finds the microbatches among the layers, from the first embedding on.
class AicbCutter
{
  public:
    AicbCutter(const std::string& file, const AicbWorkload& workload)
        : m_file(file),
          m_workload(workload)
    {
    }

    AicbParts Cut() const
    {
        const auto& layers = m_workload.layers;
        const auto begin = std::ranges::find_if(layers, IsEmbedding);
        const auto count = std::ranges::count_if(layers, IsEmbedding);
        if (count != int64_t{m_workload.microbatches})
        {
            Fail(fmt::format("found {} embedding_layer", count));
        }
        const auto period = FindEnd(begin) - begin;
        if (period * m_workload.microbatches > layers.end() - begin)
        {
            Fail("found that the last one has fewer layers");
        }
        AicbParts parts;
        parts.before.assign(layers.begin(), begin);
        for (auto own = begin; parts.microbatches.size() < m_workload.microbatches; own += period)
        {
            for (auto i = 0; i < period; ++i)
            {
                if (!AreAlike(own[i], begin[i]))
                {
                    Fail(fmt::format("microbatch {} differs in layer {}",
                                     parts.microbatches.size(),
                                     i));
                }
            }
            parts.microbatches.push_back(Split({own, own + period}));
        }
        parts.after.assign(begin + period * m_workload.microbatches, layers.end());
        return parts;
    }

  private:
    using Layer = std::vector<AicbLayer>::const_iterator;

    [[noreturn]] void Fail(const std::string& found) const
    {
        throw ImportError(
            fmt::format("{}: with {} stages the layers of its {} microbatches have to "
                        "follow each other, all alike and from an embedding_layer on: "
                        "{}",
                        m_file,
                        m_workload.stages,
                        m_workload.microbatches,
                        found));
    }

    /// Of the first microbatch: the next one, or behind the last layer of a model, or of the file.
    Layer FindEnd(Layer begin) const
    {
        const auto next = std::find_if(begin + 1, m_workload.layers.end(), IsEmbedding);
        const auto last = std::find_if(begin + 1, next, IsFinal);
        return last == next ? next : last + 1;
    }

    AicbMicrobatch Split(std::vector<AicbLayer> layers) const
    {
        AicbMicrobatch split;
        split.embedding = {layers.front()};
        layers.erase(layers.begin());
        if (!layers.empty() && IsFinal(layers.back()))
        {
            split.last = {layers.back()};
            layers.pop_back();
        }
        const auto chunks = m_workload.chunks;
        if (layers.size() % chunks != 0)
        {
            throw ImportError(fmt::format("{}: {} layers of a stage are no multiple of vpp: {}",
                                          m_file,
                                          layers.size(),
                                          chunks));
        }
        const auto size = static_cast<std::ptrdiff_t>(layers.size() / chunks);
        for (uint32_t chunk = 0; chunk < chunks; ++chunk)
        {
            const auto first = layers.begin() + chunk * size;
            split.body.emplace_back(first, first + size);
        }
        return split;
    }

    const std::string& m_file;
    const AicbWorkload& m_workload;
};

/// What one stage does.
class AicbStage
{
  public:
    /// \param stride from a rank to the same one of the next stage
    AicbStage(const std::string& file,
              const AicbWorkload& workload,
              const AicbParts& parts,
              uint32_t stage,
              uint32_t stride)
        : m_workload(workload),
          m_parts(parts),
          m_stage(stage),
          m_stride(stride),
          m_program(file)
    {
    }

    TraceProgram Make()
    {
        m_program.Forward(m_parts.before);
        const auto schedule = m_workload.chunks > 1 ? PipelineSchedule::Interleaved
                                                    : PipelineSchedule::OneForwardOneBackward;
        const PipelineShape shape{m_workload.stages, m_workload.microbatches, m_workload.chunks};
        CheckPipeline(schedule, shape);
        for (const auto& pass : ListPasses(schedule, shape, m_stage))
        {
            if (pass.kind == PassKind::Forward)
            {
                Forward(pass);
            }
            else
            {
                Backward(pass);
            }
        }
        m_program.Forward(m_parts.after);
        m_program.Backward(m_parts.after);
        m_program.Backward(m_parts.before);
        return m_program.Finish();
    }

  private:
    uint32_t GetPart(const PipelinePass& pass) const
    {
        return pass.chunk * m_workload.stages + m_stage;
    }

    bool IsLast(uint32_t part) const
    {
        return part + 1 == m_workload.chunks * m_workload.stages;
    }

    /// How far the rank of another part is.
    int32_t GetDistance(uint32_t part) const
    {
        return (static_cast<int32_t>(part % m_workload.stages) - static_cast<int32_t>(m_stage)) *
               static_cast<int32_t>(m_stride);
    }

    /// Tells messages apart: of a microbatch, into a part of the model, back or forth.
    int64_t MakeTag(const PipelinePass& pass, uint32_t into) const
    {
        const auto parts = m_workload.chunks * m_workload.stages;
        return (int64_t{pass.microbatch} * parts + into) * 2 +
               (pass.kind == PassKind::Forward ? 0 : 1);
    }

    void Forward(const PipelinePass& pass)
    {
        const auto part = GetPart(pass);
        const auto& of = m_parts.microbatches[pass.microbatch];
        if (part > 0)
        {
            m_program.Receive(GetDistance(part - 1), MakeTag(pass, part), m_workload.stageBytes);
        }
        else
        {
            m_program.Forward(of.embedding);
        }
        m_program.Forward(of.body[pass.chunk]);
        if (IsLast(part))
        {
            m_program.Forward(of.last);
        }
        else
        {
            m_program.Send(GetDistance(part + 1), MakeTag(pass, part + 1), m_workload.stageBytes);
        }
    }

    void Backward(const PipelinePass& pass)
    {
        const auto part = GetPart(pass);
        const auto& of = m_parts.microbatches[pass.microbatch];
        if (IsLast(part))
        {
            m_program.Backward(of.last);
        }
        else
        {
            m_program.Receive(GetDistance(part + 1), MakeTag(pass, part), m_workload.stageBytes);
        }
        m_program.Backward(of.body[pass.chunk]);
        if (part > 0)
        {
            m_program.Send(GetDistance(part - 1), MakeTag(pass, part - 1), m_workload.stageBytes);
        }
        else
        {
            m_program.Backward(of.embedding);
        }
    }

    const AicbWorkload& m_workload;
    const AicbParts& m_parts;
    uint32_t m_stage;
    uint32_t m_stride;
    AicbProgram m_program;
};

} // namespace

void
AddParallelGroups(const ParallelDegrees& degrees, TraceSet& set)
{
    const RankLayout layout(degrees);
    for (const auto& [name, group] : {std::pair("tp", ParallelGroup::Tensor),
                                      std::pair("dp", ParallelGroup::Data),
                                      std::pair("pp", ParallelGroup::Pipeline),
                                      std::pair("ep", ParallelGroup::Expert),
                                      std::pair("dp_ep", ParallelGroup::ExpertData)})
    {
        auto& groups = set.groups[name];
        std::vector<bool> isIn(layout.GetRankCount(), false);
        for (uint32_t rank = 0; rank < layout.GetRankCount(); ++rank)
        {
            if (isIn[rank])
            {
                continue;
            }
            groups.push_back(layout.GetGroup(group, rank));
            for (const auto member : groups.back())
            {
                isIn[member] = true;
            }
        }
    }
}

TraceSet
MakeAicbTrace(const std::string& file, const AicbWorkload& workload, uint32_t ranks)
{
    const auto model = uint64_t{workload.tensor} * workload.stages;
    if (ranks == 0 || ranks % model != 0 || ranks / model % workload.expert != 0)
    {
        throw ImportError(
            fmt::format("{}: {} ranks are no multiple of {} tensor-parallel ranks x {} "
                        "stages x {} expert-parallel ranks",
                        file,
                        ranks,
                        workload.tensor,
                        workload.stages,
                        workload.expert));
    }
    // Each pass has a message at least.
    CheckTraceSize(file, uint64_t{workload.microbatches} * workload.chunks * ranks);
    TraceSet set;
    set.hasRelativePeers = true;
    ParallelDegrees degrees;
    degrees.tensor = workload.tensor;
    degrees.expert = workload.expert;
    degrees.data = static_cast<uint32_t>(ranks / model);
    degrees.pipeline = workload.stages;
    try
    {
        AddParallelGroups(degrees, set);
        const auto stride = ranks / workload.stages;
        const auto parts = workload.stages > 1 ? AicbCutter(file, workload).Cut() : AicbParts();
        uint64_t nodes = 0;
        for (uint32_t stage = 0; stage < workload.stages; ++stage)
        {
            const auto program = std::make_shared<const TraceProgram>(
                workload.stages > 1 ? AicbStage(file, workload, parts, stage, stride).Make()
                                    : AicbProgram(file).MakeWhole(workload.layers));
            set.programs.insert(set.programs.end(), stride, program);
            nodes += program->nodes.size() * stride;
        }
        CheckTraceSize(file, nodes);
    }
    catch (const WorkloadError& error)
    {
        throw ImportError(fmt::format("{}: {}", file, error.what()));
    }
    return set;
}

} // namespace ns3::gradsync
