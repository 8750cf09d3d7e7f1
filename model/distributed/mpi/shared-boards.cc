// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/shared-boards.h"

#include <cstring>
#include <new>
#include <numeric>
#include <sched.h>

namespace ns3::gradsync
{

namespace
{

/// Of a wait, before the processor is left to others: there may be fewer than processes.
constexpr uint32_t BUSY_LOOKS = 4096;

constexpr size_t LINE_BYTES = 64;

/// Whether it is so in all processes.
bool
IsEverywhere(bool isHere)
{
    int isSo = isHere ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &isSo, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return isSo != 0;
}

bool
AreOnOneMachine(int count)
{
    MPI_Comm here = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    int countHere = 0;
    MPI_Comm_size(here, &countHere);
    MPI_Comm_free(&here);
    return IsEverywhere(countHere == count);
}

/// From a place in shared memory to the next line of the cache: as far in all processes, which have
/// it at the same place of a page each.
size_t
GetPadding(const std::byte* place)
{
    return (LINE_BYTES - reinterpret_cast<uintptr_t>(place) % LINE_BYTES) % LINE_BYTES;
}

void
WaitABit(uint32_t look)
{
    if (look >= BUSY_LOOKS)
    {
        sched_yield();
        return;
    }
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause(); // leaves a core that two share to the other one
#endif
}

} // namespace

SharedBoards::SharedBoards()
{
    MPI_Comm_rank(MPI_COMM_WORLD, &m_own);
    MPI_Comm_size(MPI_COMM_WORLD, &m_count);
    if (m_count == 1 || !AreOnOneMachine(m_count) || !Allocate())
    {
        return;
    }
    for (int process = 0; process < m_count; ++process)
    {
        MPI_Aint bytes = 0;
        int unit = 0;
        std::byte* segment = nullptr;
        MPI_Win_shared_query(m_window, process, &bytes, &unit, static_cast<void*>(&segment));
        m_segments.push_back(segment + GetPadding(segment));
    }
    auto* own = m_segments[static_cast<size_t>(m_own)];
    for (size_t board = 0; board < BOARDS; ++board)
    {
        new (own + board * GetBoardBytes()) Board{.round = 0, .note = {}, .hasBatches = 0};
    }
    m_read.resize(m_segments.size());
    MPI_Barrier(MPI_COMM_WORLD); // all boards are begun
}

/// \returns whether all processes have their memory
bool
SharedBoards::Allocate()
{
    std::byte* own = nullptr;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const auto error =
        MPI_Win_allocate_shared(static_cast<MPI_Aint>(BOARDS * GetBoardBytes() + LINE_BYTES),
                                1,
                                MPI_INFO_NULL,
                                MPI_COMM_WORLD,
                                static_cast<void*>(&own),
                                &m_window);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    return IsEverywhere(error == MPI_SUCCESS);
}

SharedBoards::~SharedBoards()
{
    if (Exist())
    {
        MPI_Win_free(&m_window);
    }
}

/// A board, the sizes of its batches, and these.
size_t
SharedBoards::GetBoardBytes() const
{
    const auto sizes = static_cast<size_t>(m_count) * sizeof(uint64_t);
    return (sizeof(Board) + sizes + ROOM_BYTES + alignof(Board) - 1) / alignof(Board) *
           alignof(Board);
}

std::byte*
SharedBoards::GetBoard(uint32_t process, uint64_t round) const
{
    return m_segments[process] + (round % BOARDS) * GetBoardBytes();
}

bool
SharedBoards::PutUp(const ProcessNote& note, const std::vector<OutgoingBatch>& batches)
{
    ++m_round;
    auto* place = GetBoard(static_cast<uint32_t>(m_own), m_round);
    auto& board = *reinterpret_cast<Board*>(place);
    place += sizeof(Board);
    m_sizes.clear();
    for (const auto& batch : batches)
    {
        m_sizes.push_back(batch.GetSize());
    }
    std::memcpy(place, m_sizes.data(), m_sizes.size() * sizeof(uint64_t));
    place += m_sizes.size() * sizeof(uint64_t);
    const bool hasRoom = std::accumulate(m_sizes.begin(), m_sizes.end(), uint64_t{0}) <= ROOM_BYTES;
    for (const auto& batch : batches)
    {
        if (hasRoom)
        {
            batch.CopyTo(place);
            place += batch.GetSize();
        }
    }
    board.note = note;
    board.hasBatches = hasRoom ? 1 : 0;
    board.round.store(m_round, std::memory_order_release);
    return hasRoom;
}

SharedBoards::Reading
SharedBoards::Read(uint32_t peer)
{
    for (uint32_t look = 0; !IsUp(peer); ++look)
    {
        WaitABit(look);
    }
    const auto& board = FindNext(peer);
    const auto* place = GetBoard(peer, ++m_read[peer]) + sizeof(Board);
    m_sizes.resize(m_segments.size());
    std::memcpy(m_sizes.data(), place, m_sizes.size() * sizeof(uint64_t));
    place += m_sizes.size() * sizeof(uint64_t);
    place += std::accumulate(m_sizes.begin(), m_sizes.begin() + m_own, uint64_t{0});
    return {.note = board.note,
            .size = m_sizes[static_cast<size_t>(m_own)],
            .batch = board.hasBatches == 0 ? nullptr : place};
}

} // namespace ns3::gradsync
