// SPDX-License-Identifier: GPL-2.0-only
#include "access-checks.h"

#include "block.h"
#include "byte-history.h"
#include "device-memory.h"
#include "findings.h"
#include "launches.h"
#include "shared-memory.h"

#include <algorithm>
#include <atomic>
#include <sched.h>
#include <vector>

namespace ns3::gradsync::emulator
{

namespace
{

constexpr size_t SHARED_UNIT = 2;
constexpr uint32_t MOST_SPINS = 1U << 22;

/// \returns whether the access may be done
bool
CheckGlobal(const Access& access)
{
    const auto& memory = GetDeviceMemory();
    if (!memory.IsAllocated(access.address, access.bytes))
    {
        Note(Fault::GLOBAL_BOUNDS,
             access.place,
             access.IsWrite() ? "written" : "read",
             access.address);
        return false;
    }
    const bool isRead = !access.IsWrite() || access.kind == AccessKind::ATOMIC;
    const bool isWrite = access.IsWrite();
    const uint32_t launch = runner->GetLaunch().number;
    const char* wrong = nullptr;
    for (uintptr_t byte = access.address; byte < access.address + access.bytes; ++byte)
    {
        if (isRead && !memory.IsWritten(byte))
        {
            Note(Fault::UNINITIALISED, access.place, "read", byte);
        }
        auto& history = memory.GetHistory(byte);
        traffic.bytesWritten += isWrite && IsOtherLaunch(history.written, access.stamp) ? 1 : 0;
        traffic.bytesRead +=
            access.kind == AccessKind::READ && IsOtherLaunch(history.read, access.stamp) ? 1 : 0;
        CheckRace(history, access, wrong);
    }
    const uintptr_t last = access.address + access.bytes - 1;
    for (uintptr_t byte = access.address; byte <= last; byte += SECTOR)
    {
        traffic.sectorsRead += isRead && memory.TouchSector(byte, false, launch) ? 1 : 0;
        traffic.sectorsWritten += isWrite && memory.TouchSector(byte, true, launch) ? 1 : 0;
    }
    memory.SetWritten(access.address, access.bytes, true);
    if (wrong != nullptr)
    {
        Note(Fault::RACE, access.place, wrong, access.address);
    }
    return true;
}

/// By half words: shared arrays have no smaller elements.
bool
CheckShared(const Access& access, const ThreadLocalMemory& memory)
{
    static thread_local std::vector<ByteHistory> histories(memory.bytes / SHARED_UNIT + 1);
    const size_t begin = access.address - memory.begin;
    if (!IsShared(runner->GetLaunch().arrays, begin, access.bytes))
    {
        Note(Fault::SHARED_BOUNDS, access.place, access.IsWrite() ? "written" : "read", 0);
        return false;
    }
    const char* wrong = nullptr;
    for (size_t byte = begin; byte < begin + access.bytes; byte += SHARED_UNIT)
    {
        auto& history = histories[byte / SHARED_UNIT];
        if (IsOtherBlock(history.written, access.stamp))
        {
            // The memory of a block that is over.
            history = {};
            if (access.kind != AccessKind::WRITE)
            {
                Note(Fault::UNINITIALISED, access.place, "shared memory", 0);
            }
        }
        CheckRace(history, access, wrong);
    }
    if (wrong != nullptr)
    {
        Note(Fault::RACE, access.place, wrong, 0);
    }
    return true;
}

/// Whether memory holds constants of this program, or the arguments of the kernel.
bool
IsConstant(const Access& access)
{
    extern const char imageBegin __asm__("__executable_start"); // by the linker
    extern const char dataBegin __asm__("__data_start");
    const auto& launch = runner->GetLaunch();
    if (access.IsWrite())
    {
        return false;
    }
    if (access.address - reinterpret_cast<uintptr_t>(launch.arguments) < launch.argumentBytes)
    {
        return true;
    }
    return access.address >= reinterpret_cast<uintptr_t>(&imageBegin) &&
           access.address < reinterpret_cast<uintptr_t>(&dataBegin);
}

/// \returns whether the access may be done
bool
Look(const Access& access)
{
    if (access.address % std::min(access.bytes & -access.bytes, 16U) != 0)
    {
        Note(Fault::ALIGNMENT, access.place, "by its size", access.address);
    }
    if (GetDeviceMemory().Has(access.address))
    {
        return CheckGlobal(access);
    }
    static thread_local const ThreadLocalMemory own = GetThreadLocalMemory();
    if (access.address - own.begin < own.bytes)
    {
        return CheckShared(access, own);
    }
    if (!IsConstant(access))
    {
        Note(Fault::HOST_MEMORY,
             access.place,
             access.IsWrite() ? "written" : "read",
             access.address);
        return false;
    }
    return true;
}

/// Blocks at the same time look one by one: stamps of a byte belong together.
class Turn
{
  public:
    Turn()
    {
        while (m_isTaken && taken.test_and_set(std::memory_order_acquire))
        {
            sched_yield();
        }
    }

    ~Turn()
    {
        if (m_isTaken)
        {
            taken.clear(std::memory_order_release);
        }
    }

    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

  private:
    static std::atomic_flag taken;
    bool m_isTaken{runner->HasCompany()};
};

std::atomic_flag Turn::taken = ATOMIC_FLAG_INIT;

/// A thread that waits for another block lets it run, but not for ever.
void
WaitABit(const Place& place)
{
    if (++running->spins % 64 == 0)
    {
        sched_yield();
    }
    if (running->spins > MOST_SPINS)
    {
        Note(Fault::ENDLESS, place, "reads the same again and again", 0);
        runner->Abandon();
    }
}

} // namespace

void
OnAccess(uintptr_t address, uint32_t bytes, AccessKind kind, const Place& place)
{
    if (running == nullptr || runner->IsLocal(address))
    {
        return;
    }
    const uint64_t stamp = uint64_t{runner->GetLaunch().number} << LAUNCH_BIT |
                           uint64_t{runner->GetBlock()} << BLOCK_BIT |
                           uint64_t{runner->GetEpoch() & 0xfffU} << 12 |
                           uint64_t{running->number} << 2;
    bool isGood = false;
    {
        const Turn turn;
        isGood = Look({address, bytes, kind, place, stamp});
    }
    if (!isGood)
    {
        runner->Abandon();
    }
    if (kind == AccessKind::VOLATILE_READ)
    {
        WaitABit(place);
    }
}

uint32_t
Add(uint32_t* where, uint32_t value, Site site)
{
    OnAccess(reinterpret_cast<uintptr_t>(where),
             sizeof *where,
             AccessKind::ATOMIC,
             {nullptr, site});
    return __atomic_fetch_add(where, value, __ATOMIC_RELAXED);
}

uint32_t
Or(uint32_t* where, uint32_t value, Site site)
{
    OnAccess(reinterpret_cast<uintptr_t>(where),
             sizeof *where,
             AccessKind::ATOMIC,
             {nullptr, site});
    return __atomic_fetch_or(where, value, __ATOMIC_RELAXED);
}

unsigned long long
Exchange(unsigned long long* where, unsigned long long value, Site site)
{
    OnAccess(reinterpret_cast<uintptr_t>(where),
             sizeof *where,
             AccessKind::ATOMIC,
             {nullptr, site});
    return __atomic_exchange_n(where, value, __ATOMIC_RELAXED);
}

} // namespace ns3::gradsync::emulator
