// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/msccl-planner.h"

#include "ns3/dataflow-builder.h"
#include "ns3/import-error.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace ns3::gradsync
{

namespace
{

[[noreturn]] void
Fail(const MscclStep& step, const std::string& text)
{
    throw ImportError(fmt::format("{}: <step>: {}", step.where, text));
}

} // namespace

MscclPlanner::MscclPlanner(const MscclAlgorithm& algorithm,
                           uint64_t gradientBytes,
                           uint32_t elementBytes)
    : m_algorithm(algorithm),
      m_layout(ChunkLayout::Even(gradientBytes, algorithm.chunks, elementBytes))
{
    FillPlaces();
}

void
MscclPlanner::FillPlaces()
{
    for (const auto& gpu : m_algorithm.gpus)
    {
        // In place: the buffer of a chunk is known, filled or not.
        auto& main = m_main.emplace_back(m_algorithm.chunks);
        for (uint32_t chunk = 0; chunk < m_algorithm.chunks; ++chunk)
        {
            main[chunk].chunk = chunk;
        }
        m_scratch.emplace_back(gpu.scratchChunks + gpu.spareChunks);
        m_taken.emplace_back();
        m_states.emplace_back(gpu.blocks.size());
    }
}

MscclPlanner::Content&
MscclPlanner::At(uint32_t rank, MscclPlace place, uint32_t index)
{
    const auto offset = place.offset + index;
    if (place.buffer == MscclBuffer::Scratch)
    {
        return m_scratch[rank][offset];
    }
    // The part of a rank in the whole buffer, where one of its buffers is a part only.
    const auto share = m_algorithm.chunks / static_cast<uint32_t>(m_algorithm.gpus.size());
    const bool isPart =
        place.buffer ==
            (m_algorithm.collective == "allgather" ? MscclBuffer::Input : MscclBuffer::Output) &&
        m_algorithm.collective != "allreduce";
    return m_main[rank][isPart ? rank * share + offset : offset];
}

Plan
MscclPlanner::Build()
{
    bool moves = true;
    while (moves)
    {
        moves = false;
        for (uint32_t rank = 0; rank < m_states.size(); ++rank)
        {
            for (uint32_t block = 0; block < m_states[rank].size(); ++block)
            {
                moves = Advance(rank, block) || moves;
            }
        }
    }
    CheckIdle();
    const auto ranks = static_cast<uint32_t>(m_algorithm.gpus.size());
    DataflowBuilder builder(ranks, ranks, m_layout, GetCollective(), m_bufferCount);
    for (const auto& move : m_operations)
    {
        if (m_layout.GetBytes(move.chunk, move.count) == 0)
        {
            continue;
        }
        if (move.reduces)
        {
            builder
                .AddReduce(move.src, move.dst, move.chunk, move.count, move.stream, move.buffers);
        }
        else
        {
            builder.AddCopy(move.src, move.dst, move.chunk, move.count, move.stream, move.buffers);
        }
    }
    return builder.Build();
}

bool
MscclPlanner::Advance(uint32_t rank, uint32_t index)
{
    const auto& block = m_algorithm.gpus[rank].blocks[index];
    auto& state = m_states[rank][index];
    if (state.next == block.steps.size())
    {
        return false;
    }
    const auto& step = block.steps[state.next];
    if (!state.hasReceived)
    {
        if (IsHeldBack(rank, step) || (step.receives && !Receive(rank, block, step)))
        {
            return false;
        }
        if (step.isLocal)
        {
            MoveLocally(rank, step);
        }
        state.hasReceived = step.receives && step.sends;
        if (state.hasReceived)
        {
            return true; // others first: what they send is read before it is overwritten
        }
    }
    if (step.sends)
    {
        Send(rank, block, step);
    }
    state.hasReceived = false;
    ++state.next;
    return true;
}

bool
MscclPlanner::IsHeldBack(uint32_t rank, const MscclStep& step) const
{
    if (step.waitBlock < 0)
    {
        return false;
    }
    const auto& states = m_states[rank];
    if (static_cast<size_t>(step.waitBlock) >= states.size())
    {
        Fail(step,
             fmt::format("depid: found {}, but there are {} <tb>", step.waitBlock, states.size()));
    }
    return std::cmp_less_equal(states[static_cast<size_t>(step.waitBlock)].next, step.waitStep);
}

bool
MscclPlanner::Receive(uint32_t rank, const MscclBlock& block, const MscclStep& step)
{
    auto& arriving = m_underway[{static_cast<uint32_t>(block.receivePeer), rank, block.channel}];
    if (arriving.empty())
    {
        return false;
    }
    const auto message = std::move(arriving.front());
    arriving.pop_front();
    if (message.size() != step.count)
    {
        Fail(step, fmt::format("cnt: found {}, but {} chunks arrive", step.count, message.size()));
    }
    if (step.reduces)
    {
        // The sum goes to `destination`, and `source` stays as it is.
        MoveLocally(rank, step);
    }
    for (uint32_t i = 0; i < step.count; ++i)
    {
        Move(message[i], rank, step.destination, step, i, block.channel);
    }
    return true;
}

void
MscclPlanner::Send(uint32_t rank, const MscclBlock& block, const MscclStep& step)
{
    const auto place = step.receives ? step.destination : step.source;
    std::vector<Moving> message;
    message.reserve(step.count);
    for (uint32_t i = 0; i < step.count; ++i)
    {
        const auto& content = At(rank, place, i);
        if (content.chunk == NO_CHUNK)
        {
            Fail(step,
                 fmt::format("sends scratch chunk {}, which holds nothing", place.offset + i));
        }
        message.push_back({content, rank, {place.buffer, place.offset + i}});
    }
    m_underway[{rank, static_cast<uint32_t>(block.sendPeer), block.channel}].push_back(
        std::move(message));
}

void
MscclPlanner::MoveLocally(uint32_t rank, const MscclStep& step)
{
    // In a receiving step what is added is what arrives.
    auto copy = step;
    copy.reduces = step.reduces && step.isLocal;
    for (uint32_t i = 0; i < step.count; ++i)
    {
        const auto& content = At(rank, step.source, i);
        if (content.chunk == NO_CHUNK)
        {
            Fail(
                step,
                fmt::format("reads scratch chunk {}, which holds nothing", step.source.offset + i));
        }
        Move({content, rank, {step.source.buffer, step.source.offset + i}},
             rank,
             step.destination,
             copy,
             i,
             0);
    }
}

void
MscclPlanner::Move(const Moving& from,
                   uint32_t rank,
                   MscclPlace place,
                   const MscclStep& step,
                   uint32_t index,
                   uint32_t stream)
{
    if (At(from.rank, from.place, 0).version != from.content.version)
    {
        Fail(step, "what it receives was overwritten at its sender before it arrived");
    }
    auto& content = At(rank, place, index);
    const auto chunk = from.content.chunk;
    if ((step.reduces || place.buffer != MscclBuffer::Scratch) && content.chunk != chunk)
    {
        Fail(step,
             content.chunk == NO_CHUNK
                 ? fmt::format("adds chunk {} to scratch that holds nothing", chunk)
                 : fmt::format("moves chunk {} to the place of chunk {}", chunk, content.chunk));
    }
    if (!step.reduces && place.buffer == MscclBuffer::Scratch)
    {
        TakeBuffer(rank, chunk, content);
    }
    if (from.rank == rank && from.content.buffer == content.buffer)
    {
        return; // input and output are one
    }
    ++content.version;
    Add({step.reduces, from.rank, rank, chunk, 1, stream, {from.content.buffer, content.buffer}},
        index > 0);
}

void
MscclPlanner::TakeBuffer(uint32_t rank, uint32_t chunk, Content& place)
{
    if (place.chunk != NO_CHUNK)
    {
        m_taken[rank][place.chunk].reset(place.buffer);
    }
    // The first staging buffer in which no other scratch place holds the same chunk.
    auto& taken = m_taken[rank][chunk];
    size_t buffer = 1;
    while (buffer < taken.size() && taken.test(buffer))
    {
        ++buffer;
    }
    if (buffer == taken.size())
    {
        throw ImportError(
            fmt::format("GPU {} holds more than {} versions of chunk {}", rank, buffer - 1, chunk));
    }
    taken.set(buffer);
    place.chunk = chunk;
    place.buffer = static_cast<uint8_t>(buffer);
}

void
MscclPlanner::Add(const Operation& operation, bool joins)
{
    m_bufferCount =
        std::max<uint32_t>(m_bufferCount,
                           uint32_t{std::max(operation.buffers.src, operation.buffers.dst)} + 1);
    if (joins && !m_operations.empty())
    {
        // Chunks of one step that lie side by side are one message.
        auto& last = m_operations.back();
        if (last.chunk + last.count == operation.chunk && last.src == operation.src &&
            last.dst == operation.dst && last.buffers.src == operation.buffers.src &&
            last.buffers.dst == operation.buffers.dst && last.reduces == operation.reduces)
        {
            ++last.count;
            return;
        }
    }
    m_operations.push_back(operation);
}

void
MscclPlanner::CheckIdle() const
{
    for (uint32_t rank = 0; rank < m_states.size(); ++rank)
    {
        for (size_t block = 0; block < m_states[rank].size(); ++block)
        {
            const auto& steps = m_algorithm.gpus[rank].blocks[block].steps;
            if (m_states[rank][block].next < steps.size())
            {
                Fail(steps[m_states[rank][block].next],
                     "never comes to an end: it waits for a message or a step that does not come");
            }
        }
    }
    for (const auto& [connection, messages] : m_underway)
    {
        if (!messages.empty())
        {
            throw ImportError(fmt::format("GPU {} sends GPU {} more on channel {} than it receives",
                                          std::get<0>(connection),
                                          std::get<1>(connection),
                                          std::get<2>(connection)));
        }
    }
}

Collective
MscclPlanner::GetCollective() const
{
    if (m_algorithm.collective == "allreduce")
    {
        return {};
    }
    const auto ranks = static_cast<uint32_t>(m_algorithm.gpus.size());
    std::vector<uint32_t> owners;
    owners.reserve(m_algorithm.chunks);
    for (uint32_t chunk = 0; chunk < m_algorithm.chunks; ++chunk)
    {
        owners.push_back(chunk / (m_algorithm.chunks / ranks));
    }
    return m_algorithm.collective == "allgather"
               ? Collective("all-gather", owners, {Collective::ALL})
               : Collective("reduce-scatter", {Collective::ALL}, owners);
}

} // namespace ns3::gradsync
