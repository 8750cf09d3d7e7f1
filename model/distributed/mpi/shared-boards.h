// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SHARED_BOARDS_H
#define GRADSYNC_SHARED_BOARDS_H

#include "ns3/process-link.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mpi.h>
#include <vector>

namespace ns3::gradsync
{

/**
 * Memory that all processes of one machine share, where each of them puts up what it has for the
 * others in a round, without a message by MPI, which takes several times as long as a short window.
 *
 * Each process has four boards, for rounds one after the other. It puts up round k when it has read
 * all others of round k - 2 (ProcessLink::MOST_AHEAD); these had read round k - 4 then, which it
 * may so write over.
 */
class SharedBoards
{
  public:
    /// Of each board, for what is put up. More goes by messages.
    static constexpr uint64_t ROOM_BYTES = uint64_t{2} << 20;

    /// Called by all processes. There are none where these are not all of one machine, or have no
    /// memory for them.
    SharedBoards();
    SharedBoards(const SharedBoards&) = delete;
    SharedBoards& operator=(const SharedBoards&) = delete;

    /// All processes call it, or none.
    ~SharedBoards();

    bool Exist() const
    {
        return !m_segments.empty();
    }

    /// Puts up the next round. \param batches [process] \returns whether there is room for the
    /// batches; without, only the note and their sizes are up
    bool PutUp(const ProcessNote& note, const std::vector<OutgoingBatch>& batches);

    /// Whether another process has put up the round that is next to be read of it.
    bool IsUp(uint32_t peer) const
    {
        return FindNext(peer).round.load(std::memory_order_acquire) == m_read[peer] + 1;
    }

    /// What a process has put up for this one, until the next Read of it.
    struct Reading
    {
        ProcessNote note;
        uint64_t size;          //!< of the batch
        const std::byte* batch; //!< nullptr: there was no room
    };

    /// Waits for the round that is next to be read of a process.
    Reading Read(uint32_t peer);

  private:
    struct alignas(64) Board
    {
        std::atomic<uint64_t> round;
        ProcessNote note;
        uint64_t hasBatches;
    };

    static_assert(std::atomic<uint64_t>::is_always_lock_free);

    static constexpr uint32_t BOARDS = 2 * ProcessLink::MOST_AHEAD;

    bool Allocate();
    size_t GetBoardBytes() const;
    std::byte* GetBoard(uint32_t process, uint64_t round) const;

    const Board& FindNext(uint32_t peer) const
    {
        return *reinterpret_cast<const Board*>(GetBoard(peer, m_read[peer] + 1));
    }

    int m_own{0};
    int m_count{0};
    uint64_t m_round{0};          //!< put up
    std::vector<uint64_t> m_read; //!< [process] round that was read of it
    MPI_Win m_window{MPI_WIN_NULL};
    std::vector<std::byte*> m_segments; //!< [process] its boards, each with sizes and batches
    std::vector<uint64_t> m_sizes;      //!< of batches; kept for its memory
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SHARED_BOARDS_H
