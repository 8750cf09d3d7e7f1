// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-compressor.h"

#include "ns3/gradient-states.h"
#include "ns3/plan-builder.h"
#include "ns3/plan-graph.h"
#include "ns3/scheme.h"
#include "ns3/thc.h"
#include "ns3/time-range.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <stdexcept>
#include <tuple>
#include <vector>

namespace ns3::gradsync
{

namespace
{

constexpr OperationId NONE = GradientStates::NONE;
constexpr uint64_t ELEMENT_BYTES = 4;

/// How one transfer gets its data.
struct TransferStep
{
    uint64_t bytes{0};
    OperationId forwardOf{NONE};  //!< copy whose message is passed on
    const CodecUse* use{nullptr}; //!< codec of the message; null: none
    uint32_t encoding{NONE};      //!< of what is sent
    uint32_t selection{NONE};     //!< of what the receiver adds it to, if it was not selected yet
    bool selectsOwn{true};        //!< that is the receiver's own gradient
    bool isWholeSum{false};       //!< a worker then has the sum of all, encoded
};

/// An Encode of a range of chunks in one state.
struct Encoding
{
    OperationId firstUser; //!< before which it is emitted
    bool isSelection;      //!< of what the receiver adds a message to
    const CodecUse* use;
    OperationId emitted{NONE};
};

/// One plan being compressed.
class PlanCompression
{
  public:
    /// \param elsewhere null: messages out of the scope are as they are
    PlanCompression(const Plan& plan,
                    const CodecUse& use,
                    const CodecScope& scope,
                    const CodecUse* elsewhere)
        : m_plan(plan),
          m_graph(plan),
          m_use(use),
          m_elsewhere(elsewhere),
          m_scope(scope),
          m_states(plan),
          m_steps(plan.GetOperations().size())
    {
    }

    Plan Run()
    {
        FindModels();
        for (const auto id : m_graph.GetOrder())
        {
            if (m_plan.GetOperations()[id].IsMove())
            {
                m_steps[id].use = FindUse(id);
                Read(id);
                m_states.Write(id, GetCoding(id));
                m_steps[id].isWholeSum = IsWholeSum(id);
            }
        }
        return Emit();
    }

  private:
    uint64_t CountElements(const Operation& operation) const
    {
        const auto bytes = m_plan.GetLayout().GetBytes(operation.firstChunk, operation.chunkCount);
        return (bytes + ELEMENT_BYTES - 1) / ELEMENT_BYTES;
    }

    /// Whether sums of its messages are made of messages; what comes from switches is decoded.
    bool KeepsSums(const CodecUse* use) const
    {
        return use != nullptr && SendsSums(use->codec) && !m_plan.HasAggregations();
    }

    /// Whether a worker has the encoded sum of all workers after a reduction, and nobody else will
    /// decode it for it.
    bool IsWholeSum(OperationId id) const
    {
        const auto& operation = m_plan.GetOperations()[id];
        if (!IsEncoded(id) || operation.kind != OperationKind::TransferReduce ||
            operation.dst >= m_plan.GetWorkerCount())
        {
            return false;
        }
        const auto sum = m_states.Read(operation.dst,
                                       operation.buffers.dst,
                                       operation.firstChunk,
                                       operation.chunkCount);
        return !sum.hasDense && sum.selections >= m_plan.GetWorkerCount();
    }

    /// Whether a message that arrived can be passed on: the same chunks, untouched, of the same
    /// codec.
    bool IsForward(OperationId arrivedBy, OperationId id) const
    {
        if (arrivedBy == NONE)
        {
            return false;
        }
        const auto& arrived = m_plan.GetOperations()[arrivedBy];
        const auto& operation = m_plan.GetOperations()[id];
        return arrived.firstChunk == operation.firstChunk &&
               arrived.chunkCount == operation.chunkCount &&
               m_steps[arrivedBy].use == m_steps[id].use;
    }

    /// What follows the gate carries the model, not a gradient.
    void FindModels()
    {
        m_isModel.assign(m_plan.GetOperations().size(), false);
        if (!m_plan.GetGate())
        {
            return;
        }
        m_isModel[m_plan.GetGate()->operation] = true;
        for (const auto id : m_graph.GetOrder())
        {
            for (const auto later : m_plan.GetSuccessors(id))
            {
                m_isModel[later] = m_isModel[later] || m_isModel[id];
            }
        }
    }

    /// The codec that works on an operation, if it is a message of which there is one.
    const CodecUse* FindUse(OperationId id) const
    {
        const auto& operation = m_plan.GetOperations()[id];
        if (m_plan.HasAggregations())
        {
            return operation.IsAggregate() ? &m_use : nullptr;
        }
        if (!operation.IsMove() || !operation.IsTransfer() || m_isModel[id])
        {
            return nullptr;
        }
        const bool isTooShort = m_elsewhere != nullptr && m_use.codec.kind == CodecKind::BiSparse &&
                                CountElements(operation) < m_use.codec.minimumElements;
        if (!isTooShort && (!m_scope || m_scope(operation.src, operation.dst)))
        {
            return &m_use;
        }
        const bool hasOther = m_elsewhere != nullptr && m_elsewhere->codec.kind != CodecKind::Fp32;
        return hasOther ? m_elsewhere : nullptr;
    }

    bool IsEncoded(OperationId id) const
    {
        return m_steps[id].use != nullptr;
    }

    GradientStates::Coding GetCoding(OperationId id) const
    {
        using enum GradientStates::Coding;
        return !IsEncoded(id) ? None : KeepsSums(m_steps[id].use) ? Sparse : Dense;
    }

    /// Decides on a move by the state of what it reads, and of what it adds that to.
    void Read(OperationId id)
    {
        const auto& operation = m_plan.GetOperations()[id];
        const auto [kind, buffers, src, dst, first, count, stream] = operation;
        const auto data = m_states.Read(src, buffers.src, first, count);
        auto& step = m_steps[id];
        if (IsEncoded(id))
        {
            const auto& codec = step.use->codec;
            const auto elements = CountElements(operation);
            CheckAdded(codec, data.selections);
            step.bytes =
                operation.IsAggregate()
                    ? GetSummandBytes(codec, elements)
                    : GetMergedMessageBytes(codec, elements, std::max(data.selections, 1U));
            if (IsForward(data.arrivedBy, id))
            {
                step.forwardOf = data.arrivedBy;
            }
            else if (!KeepsSums(step.use) || data.hasDense)
            {
                step.encoding = FindEncoding(src, id, data.content, false);
            }
        }
        const bool isSelection = KeepsSums(step.use) || (src == dst && data.selections > 0);
        if (!isSelection || kind != OperationKind::TransferReduce)
        {
            return;
        }
        const auto target = m_states.Read(dst, buffers.dst, first, count);
        if (target.hasDense && (target.isOwn || !m_plan.SelectsSums()))
        {
            step.selection = FindEncoding(dst, id, target.content, true);
            step.selectsOwn = target.isOwn;
        }
    }

    /// The Encode of the same chunks with the same content, or a new one.
    uint32_t FindEncoding(uint32_t rank, OperationId user, uint64_t content, bool isSelection)
    {
        const auto& operation = m_plan.GetOperations()[user];
        // A selection within a rank is by the codec that selects.
        const auto* use = IsEncoded(user) ? m_steps[user].use : &m_use;
        const std::tuple key{rank, operation.firstChunk, operation.chunkCount, content, use};
        const auto next = static_cast<uint32_t>(m_encodings.size());
        const auto [entry, isNew] = m_encodingOf.try_emplace(key, next);
        if (isNew)
        {
            m_encodings.push_back({user, isSelection, use});
        }
        return entry->second;
    }

    static void CheckAdded(const CodecSpec& codec, uint32_t summands)
    {
        if (codec.kind == CodecKind::Thc)
        {
            CheckSummands(codec, summands);
        }
    }

    /// Duration of a part of the codec, in picoseconds.
    static uint64_t GetDuration(const std::function<double(uint64_t)>& seconds, uint64_t elements)
    {
        return seconds && elements > 0
                   ? static_cast<uint64_t>(ToTimeSteps(seconds(elements) * 1e12))
                   : 0;
    }

    /// Of what follows a transfer: its message is decoded, or added to others as it is.
    uint64_t GetDecodeDuration(OperationId id) const
    {
        const auto& operation = m_plan.GetOperations()[id];
        const auto& costs = m_steps[id].use->costs;
        const auto elements = CountElements(operation);
        if (!costs.addSeconds || operation.kind != OperationKind::TransferReduce)
        {
            return GetDuration(costs.decodeSeconds, elements);
        }
        return GetDuration(costs.addSeconds, elements) +
               (m_steps[id].isWholeSum ? GetDuration(costs.decodeSeconds, elements) : 0);
    }

    /// Adds Encode or Decode if it takes time. \returns its number, or NONE
    OperationId AddCompute(OperationKind kind, uint32_t rank, uint64_t duration)
    {
        return duration == 0 ? NONE : m_builder.AddCompute(kind, rank, duration);
    }

    /// The same operations in the same order, each Encode before and each Decode after its
    /// transfer.
    Plan Emit()
    {
        const auto operations = m_plan.GetOperations();
        m_decode.assign(operations.size(), NONE);
        m_emitted.resize(operations.size());
        for (uint32_t group = 0; group < m_plan.GetAggregationGroups().size(); ++group)
        {
            m_builder.AddAggregationGroup(m_plan.GetAggregationGroups()[group],
                                          m_plan.GetAggregationProtocol(),
                                          m_plan.GetAggregationFlow(group));
        }
        if (m_plan.HasAggregations() && GetCodecInfo(m_use.codec.kind).sharesScale)
        {
            m_builder.SetSharesExponents();
        }
        for (OperationId id = 0; id < operations.size();)
        {
            // The operations of an aggregation must stay together.
            const auto members = m_plan.GetMembers(id);
            ForEach(members, [this](OperationId member) { EmitEncodings(member); });
            ForEach(members, [this](OperationId member) { EmitOperation(member); });
            ForEach(members, [this](OperationId member) { EmitDecoding(member); });
            id = members.last;
        }
        for (OperationId id = 0; id < operations.size(); ++id)
        {
            EmitEdges(id);
        }
        EmitAnswers();
        if (m_plan.SelectsSums())
        {
            m_builder.SetSelectsSums();
        }
        return m_builder.Build();
    }

    template <typename F>
    static void ForEach(const IdRange& range, F&& function)
    {
        for (auto id = range.first; id < range.last; ++id)
        {
            function(id);
        }
    }

    void EmitEncodings(OperationId id)
    {
        EmitEncoding(m_steps[id].encoding, id, m_plan.GetOperations()[id].src);
        EmitEncoding(m_steps[id].selection, id, m_plan.GetOperations()[id].dst);
    }

    void EmitOperation(OperationId id)
    {
        const auto& operation = m_plan.GetOperations()[id];
        m_emitted[id] = operation.kind == OperationKind::Gate
                            ? m_builder.AddGate(operation.src,
                                                m_plan.GetGate()->quorum,
                                                m_plan.GetGate()->timeoutPicoseconds)
                            : m_builder.AddLike(operation);
    }

    void EmitDecoding(OperationId id)
    {
        if (IsEncoded(id))
        {
            const auto& operation = m_plan.GetOperations()[id];
            m_builder.SetMessageBytes(m_emitted[id], m_steps[id].bytes);
            m_decode[id] = AddCompute(OperationKind::Decode, operation.dst, GetDecodeDuration(id));
        }
    }

    void EmitEncoding(uint32_t encoding, OperationId user, uint32_t rank)
    {
        if (encoding != NONE && m_encodings[encoding].firstUser == user)
        {
            m_encodings[encoding].emitted =
                AddCompute(OperationKind::Encode,
                           rank,
                           GetDuration(m_encodings[encoding].use->costs.encodeSeconds,
                                       CountElements(m_plan.GetOperations()[user])));
        }
    }

    /// An answer has ended when it is decoded.
    void EmitAnswers()
    {
        if (!m_plan.GetGate())
        {
            return;
        }
        for (const auto& [id, worker] : m_plan.GetGate()->answers)
        {
            m_builder.AddAnswer(GetEnd(id), worker);
        }
    }

    /// The operation of an encoding, or NONE if it has none.
    OperationId GetEmitted(uint32_t encoding) const
    {
        return encoding != NONE ? m_encodings[encoding].emitted : NONE;
    }

    /// What ends an operation: its Decode, if it has one.
    OperationId GetEnd(OperationId id) const
    {
        return m_decode[id] != NONE ? m_decode[id] : m_emitted[id];
    }

    void EmitEdges(OperationId id)
    {
        const auto& step = m_steps[id];
        const auto encode = GetEmitted(step.encoding);
        if (encode != NONE)
        {
            m_builder.AddEdge(encode, m_emitted[id]);
        }
        EmitSelectionEdges(id);
        // What the transfer waits for, its Encode waits for, if it is the first to need it.
        const bool isFirst = encode != NONE && m_encodings[step.encoding].firstUser == id &&
                             !m_encodings[step.encoding].isSelection;
        if (m_decode[id] != NONE)
        {
            m_builder.AddEdge(m_emitted[id], m_decode[id]);
        }
        for (const auto earlier : m_graph.GetPredecessors(id))
        {
            m_builder.AddEdge(step.forwardOf != earlier ? GetEnd(earlier) : m_emitted[earlier],
                              isFirst ? encode : m_emitted[id]);
        }
    }

    void EmitSelectionEdges(OperationId id)
    {
        const auto& step = m_steps[id];
        const auto selection = GetEmitted(step.selection);
        if (selection == NONE)
        {
            return;
        }
        m_builder.AddEdge(selection, GetEnd(id));
        // The own gradient is there from the start; a sum, when what the transfer waits for at its
        // receiver has ended.
        for (const auto earlier : m_graph.GetPredecessors(id))
        {
            if (!step.selectsOwn && m_encodings[step.selection].firstUser == id &&
                m_plan.GetOperations()[earlier].dst == m_plan.GetOperations()[id].dst)
            {
                m_builder.AddEdge(GetEnd(earlier), selection);
            }
        }
    }

    const Plan& m_plan;
    PlanGraph m_graph;
    const CodecUse& m_use;
    const CodecUse* m_elsewhere;
    const CodecScope& m_scope;
    GradientStates m_states;
    std::vector<bool> m_isModel;       //!< [operation]
    std::vector<TransferStep> m_steps; //!< [operation]
    std::vector<Encoding> m_encodings;
    /// Rank, chunks, their content and the codec -> index in m_encodings.
    std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint64_t, const CodecUse*>, uint32_t>
        m_encodingOf;
    PlanBuilder m_builder{m_plan.GetRankCount(),
                          m_plan.GetWorkerCount(),
                          m_plan.GetLayout(),
                          m_plan.GetCollective()};
    std::vector<OperationId> m_emitted; //!< [operation] -> in the new plan
    std::vector<OperationId> m_decode;
};

} // namespace

void
CheckSummands(const CodecSpec& codec, uint32_t workers)
{
    const uint32_t most = GetMostSummands(codec);
    if (workers <= most)
    {
        return;
    }
    if (codec.kind != CodecKind::Thc)
    {
        throw SchemeError(fmt::format("a sum of {} workers in 8 bits leaves each nothing but 0; {} "
                                      "goes with {} at most",
                                      workers,
                                      GetCodecInfo(codec.kind).name,
                                      most));
    }
    throw SchemeError(fmt::format("a sum of {} workers' thc does not fit in 8 bits with the "
                                  "granularity {}: that goes with {} at most, the smallest, {}, "
                                  "with {}",
                                  workers,
                                  codec.granularity,
                                  most,
                                  THC_LEVELS - 1,
                                  CountThcWorkers(THC_LEVELS - 1)));
}

Plan
CompressPlan(const Plan& plan,
             const CodecSpec& codec,
             const CodecCosts& costs,
             const CodecScope& scope)
{
    return PlanCompression(plan, {codec, costs}, scope, nullptr).Run();
}

Plan
CompressPlan(const Plan& plan,
             const CodecUse& use,
             const CodecScope& scope,
             const CodecUse& elsewhere)
{
    if (SendsSums(elsewhere.codec))
    {
        throw std::invalid_argument(
            "a codec that does not encode sums cannot be the one of all other messages");
    }
    return PlanCompression(plan, use, scope, &elsewhere).Run();
}

} // namespace ns3::gradsync
