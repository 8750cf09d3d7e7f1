// SPDX-License-Identifier: GPL-2.0-only
#include "device-memory.h"

#include "cuda_runtime_api.h"
#include "emulator.h"
#include "findings.h"
#include "launches.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sys/mman.h>

namespace ns3::gradsync::emulator
{

namespace
{

constexpr size_t RANGE = size_t{4} << 30;
constexpr size_t APART = 4096; //!< bytes between allocations
constexpr size_t UNIT = DeviceMemory::UNIT;

template <typename Type>
Type*
Reserve(size_t count)
{
    void* const memory = mmap(nullptr,
                              count * sizeof(Type),
                              PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                              -1,
                              0);
    if (memory == MAP_FAILED)
    {
        std::perror("device memory");
        std::exit(2);
    }
    return static_cast<Type*>(memory);
}

/// Live allocations: first byte to number of bytes. Only the host changes it, between launches.
std::map<uintptr_t, size_t> allocations;
size_t used = APART; //!< of the range; none is used twice until all are free

const std::pair<const uintptr_t, size_t>*
FindAllocation(uintptr_t address)
{
    const auto next = allocations.upper_bound(address);
    return next == allocations.begin() ? nullptr : &*std::prev(next);
}

/// Says of the units of an allocation where it ends.
void
SetEnd(uintptr_t begin, size_t bytes, uintptr_t end)
{
    const auto& device = GetDeviceMemory();
    auto* const first = device.ends + (begin - device.begin) / UNIT;
    std::fill_n(first, (bytes + UNIT - 1) / UNIT, end);
}

/// Notes what the host does beyond an allocation.
bool
IsUsable(const void* memory, size_t bytes)
{
    const auto address = reinterpret_cast<uintptr_t>(memory);
    if (bytes == 0 || GetDeviceMemory().IsAllocated(address, bytes))
    {
        return true;
    }
    Note(Fault::GLOBAL_BOUNDS, {}, "a copy or memset by the host", address);
    return false;
}

void
SetBytes(void* memory, int value, size_t bytes)
{
    if (bytes > 0)
    {
        std::memset(memory, value, bytes);
        GetDeviceMemory().SetWritten(reinterpret_cast<uintptr_t>(memory), bytes, true);
    }
}

} // namespace

void
DeviceMemory::SetWritten(uintptr_t address, size_t count, bool value) const
{
    std::memset(isWritten + (address - begin), value ? 1 : 0, count);
}

DeviceMemory
ReserveDeviceMemory()
{
    return {reinterpret_cast<uintptr_t>(Reserve<char>(RANGE)),
            RANGE,
            Reserve<uintptr_t>(RANGE / UNIT),
            Reserve<ByteHistory>(RANGE),
            Reserve<bool>(RANGE),
            Reserve<uint32_t>(RANGE / SECTOR),
            Reserve<uint32_t>(RANGE / SECTOR)};
}

int
DescribeAddress(uintptr_t address, char* text, size_t room)
{
    const auto* const found = FindAllocation(address);
    if (!GetDeviceMemory().Has(address))
    {
        return std::snprintf(text, room, "address %#zx", static_cast<size_t>(address));
    }
    if (found == nullptr)
    {
        return std::snprintf(text, room, "before all allocations");
    }
    return std::snprintf(text,
                         room,
                         "byte %zu of an allocation of %zu",
                         static_cast<size_t>(address - found->first),
                         found->second);
}

void
Forget(void* memory, size_t bytes)
{
    GetDeviceMemory().SetWritten(reinterpret_cast<uintptr_t>(memory), bytes, false);
}

} // namespace ns3::gradsync::emulator

using namespace ns3::gradsync::emulator;

cudaError_t
cudaMalloc(void** memory, size_t bytes)
{
    const auto& device = GetDeviceMemory();
    used = allocations.empty() ? APART : used;
    if (bytes > device.bytes - used - 2 * APART)
    {
        return cudaErrorMemoryAllocation;
    }
    const uintptr_t begin = device.begin + used;
    allocations[begin] = bytes;
    SetEnd(begin, bytes, begin + bytes);
    device.SetWritten(begin, bytes, false);
    used += (bytes + UNIT - 1) / UNIT * UNIT + APART;
    *memory = reinterpret_cast<void*>(begin);
    return cudaSuccess;
}

cudaError_t
cudaFree(void* memory)
{
    if (memory == nullptr)
    {
        return cudaSuccess;
    }
    const auto found = allocations.find(reinterpret_cast<uintptr_t>(memory));
    if (found == allocations.end())
    {
        return cudaErrorInvalidValue;
    }
    SetEnd(found->first, found->second, 0);
    allocations.erase(found);
    return cudaSuccess;
}

cudaError_t
cudaMemset(void* memory, int value, size_t bytes)
{
    if (!IsUsable(memory, bytes))
    {
        return cudaErrorInvalidValue;
    }
    SetBytes(memory, value, bytes);
    return cudaSuccess;
}

cudaError_t
cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t)
{
    NoteTransfer("memset", 0, bytes);
    return cudaMemset(memory, value, bytes);
}

cudaError_t
cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind)
{
    if ((kind != cudaMemcpyDeviceToHost && !IsUsable(to, bytes)) ||
        (kind != cudaMemcpyHostToDevice && !IsUsable(from, bytes)))
    {
        return cudaErrorInvalidValue;
    }
    if (bytes == 0)
    {
        return cudaSuccess;
    }
    std::memcpy(to, from, bytes);
    const auto& device = GetDeviceMemory();
    const auto target = reinterpret_cast<uintptr_t>(to);
    if (kind == cudaMemcpyHostToDevice)
    {
        device.SetWritten(target, bytes, true);
    }
    else if (kind == cudaMemcpyDeviceToDevice)
    {
        const auto source = reinterpret_cast<uintptr_t>(from);
        std::memcpy(device.isWritten + (target - device.begin),
                    device.isWritten + (source - device.begin),
                    bytes);
    }
    return cudaSuccess;
}

cudaError_t
cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t)
{
    NoteTransfer("copy", bytes, bytes);
    return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t
cudaGetDevice(int* device)
{
    *device = 0;
    return cudaSuccess;
}

cudaError_t
cudaGetDeviceCount(int* count)
{
    *count = 1;
    return cudaSuccess;
}

cudaError_t
cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int)
{
    switch (attribute) // of an H100 SXM
    {
    case cudaDevAttrMultiProcessorCount:
        *value = 132;
        break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
        *value = 2048;
        break;
    case cudaDevAttrComputeCapabilityMajor:
        *value = 9;
        break;
    }
    return cudaSuccess;
}

const char*
cudaGetErrorString(cudaError_t error)
{
    switch (error)
    {
    case cudaSuccess:
        return "no error";
    case cudaErrorInvalidValue:
        return "invalid argument";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorInvalidConfiguration:
        return "invalid configuration argument";
    }
    return "unknown error";
}
