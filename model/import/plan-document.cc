// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-document.h"

#include "ns3/import-error.h"
#include "ns3/plan-builder.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Makes the plan of one document.
class DocumentPlanner
{
  public:
    DocumentPlanner(const PlanDocument& document, uint64_t gradientBytes, uint32_t elementBytes)
        : m_document(document),
          m_layout(MakeLayout(gradientBytes, elementBytes))
    {
    }

    Plan Build() const
    {
        PlanBuilder builder(m_document.ranks,
                            m_document.workers,
                            m_layout,
                            Collective(m_document.collective,
                                       CheckWorkers("sources", m_document.sources),
                                       CheckWorkers("targets", m_document.targets),
                                       m_document.sum));
        if (m_document.selectsSums)
        {
            builder.SetSelectsSums();
        }
        for (OperationId id = 0; id < m_document.operations.size(); ++id)
        {
            CheckRanks(id);
            AddOperation(builder, id);
            AddEdges(builder, id);
        }
        AddAnswers(builder);
        return builder.Build();
    }

  private:
    ChunkLayout MakeLayout(uint64_t gradientBytes, uint32_t elementBytes) const
    {
        if (m_document.evenChunks > 0)
        {
            return ChunkLayout::Even(gradientBytes, m_document.evenChunks, elementBytes);
        }
        if (!m_document.chunkWeights.empty())
        {
            return ChunkLayout::Weighted(gradientBytes, m_document.chunkWeights, 1, elementBytes);
        }
        auto layout = ChunkLayout::FromSizes(m_document.chunkBytes);
        // Other collectives may be about the parts of many workers.
        const bool isAllReduce = m_document.collective == Collective().GetName();
        if (isAllReduce && layout.GetTotalBytes() != gradientBytes)
        {
            Fail("chunkBytes",
                 fmt::format("are {} bytes together, but the job has a gradient of {}; \"chunks\" "
                             "and \"chunkWeights\" cut any",
                             layout.GetTotalBytes(),
                             gradientBytes));
        }
        return layout;
    }

    [[noreturn]] void Fail(const std::string& where, const std::string& problem) const
    {
        throw ImportError(fmt::format("{}: {}: {}", m_document.file, where, problem));
    }

    [[noreturn]] void FailAt(OperationId id, const char* key, const std::string& problem) const
    {
        Fail(fmt::format("operations.{}.{}", id, key), problem);
    }

    /// One entry stands for many that are equal.
    std::vector<uint32_t> CheckWorkers(const char* key, std::vector<uint32_t> workers) const
    {
        if (workers.size() != 1 && workers.size() != m_layout.GetChunkCount())
        {
            Fail(key,
                 fmt::format("found {}, expected one for each of the {} chunks",
                             workers.size(),
                             m_layout.GetChunkCount()));
        }
        for (const auto worker : workers)
        {
            if (worker != Collective::ALL && worker >= m_document.workers)
            {
                Fail(key,
                     fmt::format("found {}, expected \"all\" or a worker below {}",
                                 worker,
                                 m_document.workers));
            }
        }
        const bool differ =
            std::adjacent_find(workers.begin(), workers.end(), std::not_equal_to<>()) !=
            workers.end();
        workers.resize(differ ? workers.size() : std::min<size_t>(workers.size(), 1));
        return workers;
    }

    void CheckRanks(OperationId id) const
    {
        const auto& operation = m_document.operations[id].operation;
        for (const auto& [key, rank] : {std::pair("from", operation.src), {"to", operation.dst}})
        {
            if (rank >= m_document.ranks)
            {
                FailAt(id,
                       key,
                       fmt::format("found {}, expected a rank below {}", rank, m_document.ranks));
            }
        }
        if (!operation.IsMove())
        {
            return;
        }
        const auto chunks = m_layout.GetChunkCount();
        const auto end = uint64_t{operation.firstChunk} + operation.chunkCount;
        if (operation.chunkCount == 0 || end > chunks)
        {
            FailAt(id,
                   "firstChunk",
                   fmt::format("found the chunks [{}, {}), expected at least one, and all below {}",
                               operation.firstChunk,
                               end,
                               chunks));
        }
        if (!operation.IsTransfer() && operation.buffers.src == operation.buffers.dst)
        {
            FailAt(
                id,
                "to",
                fmt::format("found {}, the rank that it is from, expected another rank or buffer",
                            operation.dst));
        }
    }

    void AddOperation(PlanBuilder& builder, OperationId id) const
    {
        const auto& entry = m_document.operations[id];
        const auto& operation = entry.operation;
        if (operation.IsCompute())
        {
            builder.AddCompute(operation.kind,
                               operation.src,
                               entry.picoseconds,
                               operation.firstChunk);
            return;
        }
        if (operation.kind == OperationKind::Gate)
        {
            builder.AddGate(operation.src,
                            m_document.gate->quorum,
                            m_document.gate->timeoutPicoseconds);
            return;
        }
        if (operation.kind == OperationKind::Signal && !operation.IsTransfer())
        {
            FailAt(id, "to", fmt::format("found {}, the rank that it is from", operation.dst));
        }
        builder.AddLike(operation);
        if (operation.IsMove())
        {
            AddMessage(builder, id);
        }
    }

    void AddMessage(PlanBuilder& builder, OperationId id) const
    {
        const auto& [operation, bytes, picoseconds, afterBegin, afterCount] =
            m_document.operations[id];
        if (bytes == PlanDocument::NO_BYTES)
        {
            return;
        }
        const auto carried = m_layout.GetBytes(operation.firstChunk, operation.chunkCount);
        if (m_document.isCompressed && operation.IsTransfer())
        {
            builder.SetMessageBytes(id, bytes);
        }
        else if (bytes != carried)
        {
            FailAt(id,
                   "bytes",
                   fmt::format("found {}, expected {}, those of its chunks; other sizes go with "
                               "\"compressed\": true",
                               bytes,
                               carried));
        }
    }

    void AddEdges(PlanBuilder& builder, OperationId id) const
    {
        const auto& entry = m_document.operations[id];
        for (size_t i = entry.afterBegin; i < entry.afterBegin + entry.afterCount; ++i)
        {
            const auto earlier = m_document.after[i];
            if (earlier >= m_document.operations.size() || earlier == id)
            {
                FailAt(id,
                       "after",
                       fmt::format("found {}, expected another operation below {}",
                                   earlier,
                                   m_document.operations.size()));
            }
            builder.AddEdge(earlier, id);
        }
    }

    void AddAnswers(PlanBuilder& builder) const
    {
        if (!m_document.gate)
        {
            return;
        }
        for (const auto& [operation, worker] : m_document.gate->answers)
        {
            if (operation >= m_document.operations.size() || worker >= m_document.workers)
            {
                FailAt(m_document.gate->operation,
                       "answers",
                       fmt::format("found operation {} of worker {}, expected an operation below "
                                   "{} and a worker below {}",
                                   operation,
                                   worker,
                                   m_document.operations.size(),
                                   m_document.workers));
            }
            builder.AddAnswer(operation, worker);
        }
    }

    const PlanDocument& m_document;
    ChunkLayout m_layout;
};

} // namespace

Plan
BuildDocumentPlan(const PlanDocument& document, uint64_t gradientBytes, uint32_t elementBytes)
{
    try
    {
        return DocumentPlanner(document, gradientBytes, elementBytes).Build();
    }
    catch (const std::logic_error& error)
    {
        // A cycle of edges, or a quorum that the answers do not make.
        throw ImportError(fmt::format("{}: {}", document.file, error.what()));
    }
}

} // namespace ns3::gradsync
