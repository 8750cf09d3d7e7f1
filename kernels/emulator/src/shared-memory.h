// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EMULATOR_SHARED_MEMORY_H
#define GRADSYNC_EMULATOR_SHARED_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Shared memory: the kernels' arrays are thread-local ones of this program, of which its symbol
/// table knows place and size.
namespace ns3::gradsync::emulator
{

struct SharedArray
{
    std::string kernel;
    std::string name;
    size_t begin; //!< byte of the thread-local memory
    size_t bytes;
};

/// Where the thread-local memory of the calling thread of the CPU lies.
struct ThreadLocalMemory
{
    uintptr_t begin;
    size_t bytes;
};

ThreadLocalMemory GetThreadLocalMemory();

/// Which arrays are a kernel's; in the order of all.
std::vector<bool> FindSharedArrays(const std::string& kernel);

/// Whether bytes of thread-local memory lie in one array of those.
bool IsShared(const std::vector<bool>& arrays, size_t begin, size_t bytes);

} // namespace ns3::gradsync::emulator

#endif // GRADSYNC_EMULATOR_SHARED_MEMORY_H
