// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/shared-boards.h"

#include <cstring>
#include <ctime>
#include <new>
#include <numeric>
#include <sched.h>
#include <utility>
#ifdef __linux__
#include <climits>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace ns3::gradsync
{

namespace
{

/// How often a process looks for what it waits for before it does something else.
struct Patience
{
    uint32_t busyLooks; //!< before its core is left to others
    uint32_t yields;    //!< before it sleeps
};

/// To be woken takes longer than most windows. Where a core is left to nobody, that saves nothing.
constexpr Patience WITH_A_CORE{.busyLooks = 4096, .yields = 1U << 14};
/// One that never sleeps keeps another on a core that has more to do.
constexpr Patience WITHOUT{.busyLooks = 0, .yields = 16};

/// Of a sleep, in ns: who waits finds out by then that nobody is left to wake it.
constexpr long SLEEP_NS = 20'000'000;

void
Relax()
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause(); // leaves a core that two share to the other one
#endif
}

#ifdef __linux__
static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

/// Sleeps while a number is what was seen, but not long. It may be in memory of several processes.
void
SleepWhile(std::atomic<uint32_t>& number, uint32_t seen)
{
    const timespec most{.tv_sec = 0, .tv_nsec = SLEEP_NS};
    syscall(SYS_futex, &number, FUTEX_WAIT, seen, &most, nullptr, 0);
}

void
WakeAll(std::atomic<uint32_t>& number)
{
    syscall(SYS_futex, &number, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}
#else
void
SleepWhile(std::atomic<uint32_t>& /* number */, uint32_t /* seen */)
{
    const timespec some{.tv_sec = 0, .tv_nsec = SLEEP_NS / 1000};
    nanosleep(&some, nullptr);
}

void
WakeAll(std::atomic<uint32_t>& /* number */)
{
}
#endif

} // namespace

/// A board, the sizes of its batches, and these.
size_t
SharedBoards::GetBoardBytes(const Layout& layout)
{
    const auto sizes = layout.processes * sizeof(uint64_t);
    return (sizeof(Board) + sizes + layout.roomBytes + alignof(Board) - 1) / alignof(Board) *
           alignof(Board);
}

size_t
SharedBoards::GetSegmentBytes(const Layout& layout)
{
    return sizeof(Bell) + BOARDS * GetBoardBytes(layout);
}

void
SharedBoards::Clear(std::byte* segment, const Layout& layout)
{
    new (segment) Bell{.rings = 0, .sleepers = 0};
    for (size_t board = 0; board < BOARDS; ++board)
    {
        new (segment + sizeof(Bell) + board * GetBoardBytes(layout))
            Board{.round = 0, .note = {}, .hasBatches = 0};
    }
}

SharedBoards::SharedBoards(const Layout& layout,
                           uint32_t own,
                           std::vector<std::byte*> segments,
                           Cores cores)
    : m_layout(layout),
      m_own(own),
      m_segments(std::move(segments)),
      m_cores(cores),
      m_read(m_segments.size())
{
}

SharedBoards::Bell&
SharedBoards::GetBell(uint32_t process) const
{
    return *reinterpret_cast<Bell*>(m_segments[process]);
}

std::byte*
SharedBoards::GetBoard(uint32_t process, uint64_t round) const
{
    return m_segments[process] + sizeof(Bell) + (round % BOARDS) * GetBoardBytes(m_layout);
}

bool
SharedBoards::PutUp(const ProcessNote& note, const std::vector<OutgoingBatch>& batches)
{
    ++m_round;
    auto* place = GetBoard(m_own, m_round);
    auto& board = *reinterpret_cast<Board*>(place);
    place += sizeof(Board);
    m_sizes.clear();
    for (const auto& batch : batches)
    {
        m_sizes.push_back(batch.GetSize());
    }
    std::memcpy(place, m_sizes.data(), m_sizes.size() * sizeof(uint64_t));
    place += m_sizes.size() * sizeof(uint64_t);
    const bool hasRoom =
        std::accumulate(m_sizes.begin(), m_sizes.end(), uint64_t{0}) <= m_layout.roomBytes;
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
    // One order for this, and for who goes to sleep and looks: one of both sees the other.
    board.round.store(m_round, std::memory_order_seq_cst);
    auto& bell = GetBell(m_own);
    if (bell.sleepers.load(std::memory_order_seq_cst) > 0)
    {
        bell.rings.fetch_add(1, std::memory_order_seq_cst);
        WakeAll(bell.rings);
    }
    return hasRoom;
}

bool
SharedBoards::Await(uint32_t peer) const
{
    const auto& patience = m_cores == Cores::OfEach ? WITH_A_CORE : WITHOUT;
    for (uint32_t look = 0; look < patience.busyLooks + patience.yields; ++look)
    {
        if (IsUp(peer))
        {
            return true;
        }
        if (look < patience.busyLooks)
        {
            Relax();
        }
        else
        {
            sched_yield();
        }
    }
    Sleep(peer);
    return IsUp(peer);
}

/// Until it is up or for a while.
void
SharedBoards::Sleep(uint32_t peer) const
{
    auto& bell = GetBell(peer);
    const auto rings = bell.rings.load(std::memory_order_seq_cst);
    bell.sleepers.fetch_add(1, std::memory_order_seq_cst);
    if (FindNext(peer).round.load(std::memory_order_seq_cst) != m_read[peer] + 1)
    {
        SleepWhile(bell.rings, rings);
    }
    bell.sleepers.fetch_sub(1, std::memory_order_seq_cst);
}

SharedBoards::Reading
SharedBoards::Read(uint32_t peer)
{
    while (!Await(peer))
    {
    }
    const auto& board = FindNext(peer);
    const auto* place = GetBoard(peer, ++m_read[peer]) + sizeof(Board);
    m_sizes.resize(m_segments.size());
    std::memcpy(m_sizes.data(), place, m_sizes.size() * sizeof(uint64_t));
    place += m_sizes.size() * sizeof(uint64_t);
    place += std::accumulate(m_sizes.begin(), m_sizes.begin() + m_own, uint64_t{0});
    return {.note = board.note,
            .size = m_sizes[m_own],
            .batch = board.hasBatches == 0 ? nullptr : place};
}

} // namespace ns3::gradsync
