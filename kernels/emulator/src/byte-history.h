// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EMULATOR_BYTE_HISTORY_H
#define GRADSYNC_EMULATOR_BYTE_HISTORY_H

#include "access-checks.h"

#include <cstdint>

/**
 * A stamp says who touched a byte: launch (20 bits), block (20), barriers passed (12), thread (10),
 * and two flags. Two accesses to a byte, one of them a write, are a race if they are of different
 * blocks of one launch, or of different threads of a block between the same barriers, unless both
 * are atomic.
 */
namespace ns3::gradsync::emulator
{

/// Stamps of who last wrote and read a byte.
struct ByteHistory
{
    uint64_t written;
    uint64_t read;
};

inline constexpr uint32_t BLOCK_BIT = 24;
inline constexpr uint32_t LAUNCH_BIT = 44;
inline constexpr uint64_t ATOMIC = 1; //!< of writes
inline constexpr uint64_t MORE_THREADS =
    1; //!< of reads: others of the block between the same barriers
inline constexpr uint64_t MORE_BLOCKS = 2; //!< of reads: other blocks
inline constexpr uint64_t FLAGS = 3;

/// One access by the running thread.
struct Access
{
    uintptr_t address;
    uint32_t bytes;
    AccessKind kind;
    Place place;
    uint64_t stamp; //!< without flags

    bool IsWrite() const
    {
        return kind != AccessKind::READ && kind != AccessKind::VOLATILE_READ;
    }

    bool IsAtomic() const
    {
        return kind != AccessKind::READ && kind != AccessKind::WRITE;
    }
};

inline bool
IsOtherLaunch(uint64_t earlier, uint64_t now)
{
    return (earlier ^ now) >> LAUNCH_BIT != 0;
}

inline bool
IsOtherBlock(uint64_t earlier, uint64_t now)
{
    return (earlier ^ now) >> BLOCK_BIT != 0;
}

/// Whether nothing orders two accesses of a launch.
inline bool
IsUnordered(uint64_t earlier, uint64_t now)
{
    constexpr uint64_t THREAD = 0xffc;
    const uint64_t differs = earlier ^ now;
    if (IsOtherBlock(earlier, now))
    {
        return true;
    }
    const bool isSameInterval = (differs & ~(THREAD | FLAGS)) == 0;
    return isSameInterval && (differs & THREAD) != 0;
}

/// \returns what is wrong with a write after earlier accesses to a byte, or null
inline const char*
CheckWrite(const ByteHistory& history, const Access& access)
{
    const uint64_t now = access.stamp;
    if (!IsOtherLaunch(history.written, now) && IsUnordered(history.written, now) &&
        !(access.IsAtomic() && (history.written & ATOMIC) != 0))
    {
        return "written by two threads";
    }
    if (!IsOtherLaunch(history.read, now))
    {
        const bool isSameInterval = (history.read ^ now) >> 12 == 0;
        if ((history.read & MORE_BLOCKS) != 0 || IsUnordered(history.read, now) ||
            (isSameInterval && (history.read & MORE_THREADS) != 0))
        {
            return "written where another thread reads";
        }
    }
    return nullptr;
}

inline const char*
CheckRead(const ByteHistory& history, const Access& access)
{
    const bool isRace = !IsOtherLaunch(history.written, access.stamp) &&
                        IsUnordered(history.written, access.stamp) &&
                        !(access.IsAtomic() && (history.written & ATOMIC) != 0);
    return isRace ? "read where another thread writes" : nullptr;
}

inline void
KeepRead(ByteHistory& history, uint64_t now)
{
    const uint64_t last = history.read;
    if (IsOtherLaunch(last, now))
    {
        history.read = now;
    }
    else if (IsOtherBlock(last, now))
    {
        history.read = last | MORE_BLOCKS;
    }
    else if ((last ^ now) >> 12 != 0)
    {
        history.read = now | (last & MORE_BLOCKS); // after a barrier
    }
    else if (((last ^ now) & ~FLAGS) != 0)
    {
        history.read = last | MORE_THREADS;
    }
}

/// Looks for races on a byte and keeps what this access says of it. \param wrong what is wrong
/// first, or null
inline void
CheckRace(ByteHistory& history, const Access& access, const char*& wrong)
{
    if (access.kind != AccessKind::WRITE && access.kind != AccessKind::VOLATILE_WRITE)
    {
        const char* const found = CheckRead(history, access);
        wrong = wrong == nullptr ? found : wrong;
    }
    if (access.IsWrite())
    {
        const char* const found = CheckWrite(history, access);
        wrong = wrong == nullptr ? found : wrong;
        history.written = access.stamp | (access.IsAtomic() ? ATOMIC : 0);
    }
    else if (access.kind == AccessKind::READ)
    {
        KeepRead(history, access.stamp);
    }
}

} // namespace ns3::gradsync::emulator

#endif // GRADSYNC_EMULATOR_BYTE_HISTORY_H
