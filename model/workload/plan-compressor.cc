// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-compressor.h"

#include "ns3/plan-builder.h"
#include "ns3/plan-graph.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

namespace ns3::gradsync
{

namespace
{

constexpr OperationId NONE = std::numeric_limits<OperationId>::max();
constexpr uint64_t ELEMENT_BYTES = 4;

/// A chunk in a buffer of a rank.
struct Place
{
    uint32_t contributions{0};   //!< gradients in it
    uint32_t version{0};         //!< how often it was written
    OperationId arrivedBy{NONE}; //!< the copy that brought it, if nothing was done to it since
};

/// How one transfer gets its data.
struct TransferStep
{
    uint64_t bytes{0};
    OperationId forwardOf{NONE}; //!< copy whose message is passed on
    uint32_t encoding{NONE};     //!< of what is sent
    uint32_t selection{NONE};    //!< of what the receiver adds it to, if it was not selected yet
};

/// An Encode of a range of chunks in one state.
struct Encoding
{
    OperationId firstUser; //!< before which it is emitted
    bool isSelection;      //!< of the receiver's own gradient: needs nothing but that
    OperationId emitted{NONE};
};

/// One plan being compressed.
class PlanCompression
{
  public:
    PlanCompression(const Plan& plan, const CodecSpec& codec, const CodecCosts& costs)
        : m_plan(plan),
          m_graph(plan),
          m_codec(codec),
          m_isSparse(GetCodecInfo(codec.kind).isSparse),
          m_costs(costs),
          m_chunks(plan.GetLayout().GetChunkCount()),
          m_places(size_t{plan.GetRankCount()} * plan.GetBufferCount() * m_chunks),
          m_steps(plan.GetOperations().size())
    {
        for (uint32_t worker = 0; worker < plan.GetWorkerCount(); ++worker)
        {
            for (uint32_t chunk = 0; chunk < m_chunks; ++chunk)
            {
                const auto source = plan.GetCollective().GetSource(chunk);
                const bool isHeld = source == Collective::ALL || source == worker;
                GetPlace(worker, 0, chunk).contributions = isHeld ? 1 : 0;
            }
        }
    }

    Plan Run()
    {
        FindModels();
        for (const auto id : m_graph.GetOrder())
        {
            if (m_plan.GetOperations()[id].IsMove())
            {
                Read(id);
                Write(id);
            }
        }
        return Emit();
    }

  private:
    Place& GetPlace(uint32_t rank, uint32_t buffer, uint32_t chunk)
    {
        return m_places[(size_t{rank} * m_plan.GetBufferCount() + buffer) * m_chunks + chunk];
    }

    uint64_t CountElements(const Operation& operation) const
    {
        const auto bytes = m_plan.GetLayout().GetBytes(operation.firstChunk, operation.chunkCount);
        return (bytes + ELEMENT_BYTES - 1) / ELEMENT_BYTES;
    }

    /// Whether a message that arrived can be passed on: the same chunks, untouched.
    bool IsForward(OperationId arrivedBy, const Operation& operation) const
    {
        if (arrivedBy == NONE)
        {
            return false;
        }
        const auto& arrived = m_plan.GetOperations()[arrivedBy];
        return arrived.firstChunk == operation.firstChunk &&
               arrived.chunkCount == operation.chunkCount;
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

    /// Whether an operation is a message that the codec works on.
    bool IsEncoded(OperationId id) const
    {
        const auto& operation = m_plan.GetOperations()[id];
        return operation.IsMove() && operation.IsTransfer() && !m_isModel[id];
    }

    /// Decides on a transfer by the state of what it reads.
    void Read(OperationId id)
    {
        if (!IsEncoded(id))
        {
            return;
        }
        const auto& operation = m_plan.GetOperations()[id];
        const auto& first = GetPlace(operation.src, operation.buffers.src, operation.firstChunk);
        const OperationId arrivedBy = first.arrivedBy;
        uint32_t contributions = 0;
        uint64_t version = 0; // grows with every write to any of the chunks
        bool isForward = IsForward(arrivedBy, operation);
        for (uint32_t i = 0; i < operation.chunkCount; ++i)
        {
            const auto& place =
                GetPlace(operation.src, operation.buffers.src, operation.firstChunk + i);
            contributions = std::max(contributions, place.contributions);
            version += place.version;
            isForward = isForward && place.arrivedBy == arrivedBy;
        }
        auto& step = m_steps[id];
        step.bytes = GetMergedMessageBytes(m_codec, CountElements(operation), contributions);
        if (isForward)
        {
            step.forwardOf = arrivedBy;
        }
        else if (!m_isSparse || version == 0)
        {
            step.encoding = FindEncoding(operation.src, operation.buffers.src, id, version, false);
        }
        const auto& target = GetPlace(operation.dst, operation.buffers.dst, operation.firstChunk);
        if (m_isSparse && operation.kind == OperationKind::TransferReduce && target.version == 0 &&
            target.contributions > 0)
        {
            step.selection = FindEncoding(operation.dst, operation.buffers.dst, id, 0, true);
        }
    }

    /// The Encode of the same chunks in the same state, or a new one.
    uint32_t FindEncoding(uint32_t rank,
                          uint8_t buffer,
                          OperationId user,
                          uint64_t version,
                          bool isSelection)
    {
        const auto& operation = m_plan.GetOperations()[user];
        const std::tuple key{rank, buffer, operation.firstChunk, operation.chunkCount, version};
        const auto next = static_cast<uint32_t>(m_encodings.size());
        const auto [entry, isNew] = m_encodingOf.try_emplace(key, next);
        if (isNew)
        {
            m_encodings.push_back({user, isSelection});
        }
        return entry->second;
    }

    void Write(OperationId id)
    {
        const auto& operation = m_plan.GetOperations()[id];
        for (uint32_t i = 0; i < operation.chunkCount; ++i)
        {
            const uint32_t chunk = operation.firstChunk + i;
            const auto source = GetPlace(operation.src, operation.buffers.src, chunk);
            auto& place = GetPlace(operation.dst, operation.buffers.dst, chunk);
            const bool isCopy = operation.kind == OperationKind::TransferCopy;
            place.contributions = source.contributions + (isCopy ? 0 : place.contributions);
            ++place.version;
            place.arrivedBy = isCopy ? (operation.IsTransfer() ? id : source.arrivedBy) : NONE;
        }
    }

    /// Duration of a part of the codec, in picoseconds.
    static uint64_t GetDuration(const std::function<double(uint64_t)>& seconds, uint64_t elements)
    {
        return seconds && elements > 0
                   ? static_cast<uint64_t>(std::llround(seconds(elements) * 1e12))
                   : 0;
    }

    /// Adds Encode or Decode if it takes time. \returns its number, or NONE
    OperationId AddCompute(OperationKind kind, uint32_t rank, const Operation& operation)
    {
        const auto& seconds =
            kind == OperationKind::Encode ? m_costs.encodeSeconds : m_costs.decodeSeconds;
        const uint64_t duration = GetDuration(seconds, CountElements(operation));
        return duration == 0 ? NONE : m_builder.AddCompute(kind, rank, duration);
    }

    /// The same operations in the same order, each Encode before and each Decode after its
    /// transfer.
    Plan Emit()
    {
        const auto operations = m_plan.GetOperations();
        m_decode.assign(operations.size(), NONE);
        m_emitted.resize(operations.size());
        for (OperationId id = 0; id < operations.size(); ++id)
        {
            EmitOperation(id);
        }
        for (OperationId id = 0; id < operations.size(); ++id)
        {
            EmitEdges(id);
        }
        EmitAnswers();
        return m_builder.Build();
    }

    void EmitOperation(OperationId id)
    {
        const auto& operation = m_plan.GetOperations()[id];
        EmitEncoding(m_steps[id].encoding, id, operation.src);
        EmitEncoding(m_steps[id].selection, id, operation.dst);
        m_emitted[id] = operation.kind == OperationKind::Gate
                            ? m_builder.AddGate(operation.src,
                                                m_plan.GetGate()->quorum,
                                                m_plan.GetGate()->timeoutPicoseconds)
                            : m_builder.AddLike(operation);
        if (IsEncoded(id))
        {
            m_builder.SetMessageBytes(m_emitted[id], m_steps[id].bytes);
            m_decode[id] = AddCompute(OperationKind::Decode, operation.dst, operation);
        }
    }

    void EmitEncoding(uint32_t encoding, OperationId user, uint32_t rank)
    {
        if (encoding != NONE && m_encodings[encoding].firstUser == user)
        {
            m_encodings[encoding].emitted =
                AddCompute(OperationKind::Encode, rank, m_plan.GetOperations()[user]);
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
            m_builder.AddAnswer(m_decode[id] != NONE ? m_decode[id] : m_emitted[id], worker);
        }
    }

    /// The operation of an encoding, or NONE if it has none.
    OperationId GetEmitted(uint32_t encoding) const
    {
        return encoding != NONE ? m_encodings[encoding].emitted : NONE;
    }

    void EmitEdges(OperationId id)
    {
        const auto& step = m_steps[id];
        const auto encode = GetEmitted(step.encoding);
        if (encode != NONE)
        {
            m_builder.AddEdge(encode, m_emitted[id]);
        }
        if (const auto selection = GetEmitted(step.selection); selection != NONE)
        {
            m_builder.AddEdge(selection, m_decode[id] != NONE ? m_decode[id] : m_emitted[id]);
        }
        // What the transfer waits for, its Encode waits for, if it is the first to need it.
        const bool isFirst = encode != NONE && m_encodings[step.encoding].firstUser == id &&
                             !m_encodings[step.encoding].isSelection;
        if (m_decode[id] != NONE)
        {
            m_builder.AddEdge(m_emitted[id], m_decode[id]);
        }
        for (const auto earlier : m_graph.GetPredecessors(id))
        {
            const bool needsDecode = m_decode[earlier] != NONE && step.forwardOf != earlier;
            m_builder.AddEdge(needsDecode ? m_decode[earlier] : m_emitted[earlier],
                              isFirst ? encode : m_emitted[id]);
        }
    }

    const Plan& m_plan;
    PlanGraph m_graph;
    CodecSpec m_codec;
    bool m_isSparse;
    const CodecCosts& m_costs;
    uint32_t m_chunks;
    std::vector<Place> m_places;
    std::vector<bool> m_isModel;       //!< [operation]
    std::vector<TransferStep> m_steps; //!< [operation]
    std::vector<Encoding> m_encodings;
    /// Rank, buffer, chunks and the sum of their versions -> index in m_encodings.
    std::map<std::tuple<uint32_t, uint8_t, uint32_t, uint32_t, uint64_t>, uint32_t> m_encodingOf;
    PlanBuilder m_builder{m_plan.GetRankCount(),
                          m_plan.GetWorkerCount(),
                          m_plan.GetLayout(),
                          m_plan.GetCollective()};
    std::vector<OperationId> m_emitted; //!< [operation] -> in the new plan
    std::vector<OperationId> m_decode;
};

} // namespace

Plan
CompressPlan(const Plan& plan, const CodecSpec& codec, const CodecCosts& costs)
{
    return PlanCompression(plan, codec, costs).Run();
}

} // namespace ns3::gradsync
