// SPDX-License-Identifier: GPL-2.0-only
// What GCC's -fsanitize=thread,alignment,bounds makes kernels call, with the sanitizers' names:
// their own libraries are not linked. An access of 16 bytes is a vector's.
#include "access-checks.h"

#include <cstdint>

namespace
{

using namespace ns3::gradsync::emulator;

/// How the sanitizers lay out what they know of a place.
struct SourceLocation
{
    const char* file;
    uint32_t line;
    uint32_t column;
};

void
OnCode(void* address, uint32_t bytes, AccessKind kind, const void* instruction)
{
    OnAccess(reinterpret_cast<uintptr_t>(address), bytes, kind, {instruction, {nullptr, 0}});
}

} // namespace

#define GRADSYNC_HOOK(NAME, BYTES, KIND)                                                           \
    void NAME(void* address)                                                                       \
    {                                                                                              \
        OnCode(address, BYTES, AccessKind::KIND, __builtin_return_address(0));                     \
    }
#define GRADSYNC_HOOKS(BYTES)                                                                      \
    GRADSYNC_HOOK(__tsan_read##BYTES, BYTES, READ)                                                 \
    GRADSYNC_HOOK(__tsan_write##BYTES, BYTES, WRITE)                                               \
    GRADSYNC_HOOK(__tsan_unaligned_read##BYTES, BYTES, READ)                                       \
    GRADSYNC_HOOK(__tsan_unaligned_write##BYTES, BYTES, WRITE)                                     \
    GRADSYNC_HOOK(__tsan_volatile_read##BYTES, BYTES, VOLATILE_READ)                               \
    GRADSYNC_HOOK(__tsan_volatile_write##BYTES, BYTES, VOLATILE_WRITE)

extern "C"
{
    GRADSYNC_HOOKS(1)
    GRADSYNC_HOOKS(2)
    GRADSYNC_HOOKS(4)
    GRADSYNC_HOOKS(8)
    GRADSYNC_HOOKS(16)

    void __tsan_read_range(void* address, unsigned long bytes)
    {
        OnCode(address,
               static_cast<uint32_t>(bytes),
               AccessKind::READ,
               __builtin_return_address(0));
    }

    void __tsan_write_range(void* address, unsigned long bytes)
    {
        OnCode(address,
               static_cast<uint32_t>(bytes),
               AccessKind::WRITE,
               __builtin_return_address(0));
    }

    void __tsan_init()
    {
    }

    void __tsan_func_entry(void*)
    {
    }

    void __tsan_func_exit()
    {
    }

    void __tsan_vptr_update(void**, void*)
    {
    }

    void __tsan_vptr_read(void**)
    {
    }

    void __ubsan_handle_type_mismatch_v1(const SourceLocation* where, uintptr_t address)
    {
        Note(Fault::ALIGNMENT, {nullptr, {where->file, where->line}}, "by its type", address);
    }

    void __ubsan_handle_out_of_bounds(const SourceLocation* where, uintptr_t)
    {
        Note(Fault::SHARED_BOUNDS, {nullptr, {where->file, where->line}}, "index of an array", 0);
    }
}
