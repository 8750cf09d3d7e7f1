// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PREFETCH_H
#define GRADSYNC_PREFETCH_H

#include <cstddef>
#include <cstdint>

namespace ns3::gradsync
{

/// Has the cache fetch the first `bytes` of an object that is soon to be touched. A hint: any
/// address will do, nullptr too.
template <typename T>
inline void
Prefetch(const T* object, size_t bytes = sizeof(T))
{
    constexpr size_t LINE_BYTES = 64;
    // A number, as no pointer may be counted on from nullptr.
    const auto first = reinterpret_cast<uintptr_t>(object);
    for (size_t offset = 0; offset < bytes; offset += LINE_BYTES)
    {
        __builtin_prefetch(reinterpret_cast<const void*>(first + offset));
    }
    if (alignof(T) < LINE_BYTES && bytes > alignof(T))
    {
        // It may reach into one line more.
        __builtin_prefetch(reinterpret_cast<const void*>(first + bytes - 1));
    }
    // GCC takes functions that only prefetch for ones without an effect, and leaves calls of them
    // out. This is one, of no instruction.
    asm volatile("");
}

} // namespace ns3::gradsync

#endif // GRADSYNC_PREFETCH_H
