// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SHARED_BOARDS_H
#define GRADSYNC_SHARED_BOARDS_H

#include "ns3/process-link.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/**
 * Memory that all processes of one machine share, where each of them puts up what it has for the
 * others in a round, without a message, which takes several times as long as a short window.
 *
 * Each process has a segment with two boards, for rounds in turn. It puts up round k when it has
 * read all others of round k - 1; these had read round k - 2 then, and needed it no more, which it
 * may so write over.
 */
class SharedBoards
{
  public:
    /// How memory is laid out, the same in all processes.
    struct Layout
    {
        uint32_t processes;
        uint64_t roomBytes; //!< of each board, for what is put up
    };

    /// Whether there is a core for each of the processes, so that one that waits need not let
    /// others in.
    enum class Cores : uint8_t
    {
        OfEach,
        Shared
    };

    static constexpr size_t SEGMENT_ALIGNMENT = 64; //!< a line of the cache

    static size_t GetSegmentBytes(const Layout& layout);

    /// Before any process has boards there. \param segment of GetSegmentBytes, aligned
    static void Clear(std::byte* segment, const Layout& layout);

    /// \param segments [process] where it has mapped its segment, which lasts longer
    SharedBoards(const Layout& layout, uint32_t own, std::vector<std::byte*> segments, Cores cores);

    /// Puts up the next round. \param batches [process] \returns whether there is room for the
    /// batches; without, only the note and their sizes are up
    bool PutUp(const ProcessNote& note, const std::vector<OutgoingBatch>& batches);

    /// Whether another process has put up the round that is next to be read of it.
    bool IsUp(uint32_t peer) const
    {
        return FindNext(peer).round.load(std::memory_order_acquire) == m_read[peer] + 1;
    }

    /// Waits until it is up, but not long. \returns whether it is
    bool Await(uint32_t peer) const;

    /// What a process has put up for this one, until the next PutUp.
    struct Reading
    {
        ProcessNote note;
        uint64_t size;          //!< of the batch
        const std::byte* batch; //!< nullptr: there was no room
    };

    /// Waits for the round that is next to be read of a process.
    Reading Read(uint32_t peer);

  private:
    /// What begins a segment: how others wait for its owner, asleep.
    struct alignas(SEGMENT_ALIGNMENT) Bell
    {
        std::atomic<uint32_t> rings;
        std::atomic<uint32_t> sleepers;
    };

    struct alignas(SEGMENT_ALIGNMENT) Board
    {
        std::atomic<uint64_t> round;
        ProcessNote note;
        uint64_t hasBatches;
    };

    static_assert(std::atomic<uint64_t>::is_always_lock_free);

    static constexpr uint32_t BOARDS = 2;

    static size_t GetBoardBytes(const Layout& layout);
    std::byte* GetBoard(uint32_t process, uint64_t round) const;
    Bell& GetBell(uint32_t process) const;
    void Sleep(uint32_t peer) const;

    const Board& FindNext(uint32_t peer) const
    {
        return *reinterpret_cast<const Board*>(GetBoard(peer, m_read[peer] + 1));
    }

    Layout m_layout;
    uint32_t m_own;
    std::vector<std::byte*> m_segments; //!< [process] its bell and its boards, with their batches
    Cores m_cores;
    uint64_t m_round{0};           //!< put up
    std::vector<uint64_t> m_read;  //!< [process] round that was read of it
    std::vector<uint64_t> m_sizes; //!< of batches; kept for its memory
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SHARED_BOARDS_H
