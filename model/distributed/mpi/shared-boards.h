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
 * others in a round. A round is over as soon as all have read, without a message by MPI, which
 * takes several times as long as a short window.
 *
 * Each process has two boards, for even and odd rounds. It puts up round k when it has read all
 * others of round k - 1; these had read round k - 2 then, which it may so write over.
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
    bool PutUp(const ProcessNote& note, const std::vector<ByteBatch>& batches);

    /// Waits for what another process puts up in this round. \param[out] batch for this process, or
    /// as large as that will be \returns whether it is there
    bool Read(uint32_t peer, ProcessNote& note, ByteBatch& batch);

  private:
    struct alignas(64) Board
    {
        std::atomic<uint64_t> round;
        ProcessNote note;
        uint64_t hasBatches;
    };

    static_assert(std::atomic<uint64_t>::is_always_lock_free);

    bool Allocate();
    size_t GetBoardBytes() const;
    std::byte* GetBoard(uint32_t process) const;

    int m_own{0};
    int m_count{0};
    uint64_t m_round{0};
    MPI_Win m_window{MPI_WIN_NULL};
    std::vector<std::byte*> m_segments; //!< [process] its two boards, each with sizes and batches
    std::vector<uint64_t> m_sizes;      //!< of batches; kept for its memory
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SHARED_BOARDS_H
