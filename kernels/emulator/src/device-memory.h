// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EMULATOR_DEVICE_MEMORY_H
#define GRADSYNC_EMULATOR_DEVICE_MEMORY_H

#include "byte-history.h"

#include <cstddef>
#include <cstdint>

/// Global memory: one range of addresses, in which allocations lie apart, with shadows beside it.
namespace ns3::gradsync::emulator
{

inline constexpr uint32_t SECTOR = 32; //!< bytes that a GPU's memory moves at least

struct DeviceMemory
{
    uintptr_t begin;
    size_t bytes; //!< of the whole range

    /// Whether an address is in the range, allocated or not.
    bool Has(uintptr_t address) const
    {
        return address - begin < bytes;
    }

    /// Whether bytes lie in one live allocation.
    bool IsAllocated(uintptr_t address, size_t count) const
    {
        return Has(address) && address + count <= ends[(address - begin) / UNIT];
    }

    /// What is known of a byte of the range.
    ByteHistory& GetHistory(uintptr_t address) const
    {
        return history[address - begin];
    }

    bool IsWritten(uintptr_t address) const
    {
        return isWritten[address - begin];
    }

    void SetWritten(uintptr_t address, size_t count, bool value) const;

    /// Counts a sector once for each launch. \returns whether it is the first time
    bool TouchSector(uintptr_t address, bool isWrite, uint32_t launch) const
    {
        uint32_t& last = (isWrite ? sectorWritten : sectorRead)[(address - begin) / SECTOR];
        const bool isFirst = last != launch;
        last = launch;
        return isFirst;
    }

    static constexpr size_t UNIT = 256; //!< at whose multiples allocations begin, as CUDA promises

    uintptr_t* ends; //!< of the allocation that a unit belongs to, 0 if to none
    ByteHistory* history;
    bool* isWritten;
    uint32_t* sectorRead; //!< number of the last launch
    uint32_t* sectorWritten;
};

DeviceMemory ReserveDeviceMemory();

/// The one of this program.
inline const DeviceMemory&
GetDeviceMemory()
{
    static const DeviceMemory memory = ReserveDeviceMemory();
    return memory;
}

/// "byte 12 of 4000 that begin at 0x..." or where else an address is.
/// \returns the number of characters written to `text`
int DescribeAddress(uintptr_t address, char* text, size_t room);

} // namespace ns3::gradsync::emulator

#endif // GRADSYNC_EMULATOR_DEVICE_MEMORY_H
