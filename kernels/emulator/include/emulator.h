// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EMULATOR_H
#define GRADSYNC_EMULATOR_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/**
 * What runs the kernels on a CPU: a fiber per CUDA thread. Beside results it looks at every access
 * to memory, every barrier and every warp operation, and keeps what it finds wrong.
 *
 * From the environment: GRADSYNC_EMULATOR_SEED (1) gives the order of blocks and threads,
 * GRADSYNC_EMULATOR_WORKERS (1) how many blocks run at the same time, each on a thread of the CPU.
 */
namespace ns3::gradsync::emulator
{

/// What can be wrong.
enum class Fault
{
    GLOBAL_BOUNDS, //!< outside of any allocation, or in freed memory
    SHARED_BOUNDS, //!< outside of the kernel's arrays in shared memory
    HOST_MEMORY,   //!< neither device memory nor the thread's own
    ALIGNMENT,     //!< not at a multiple of what is loaded or stored
    UNINITIALISED, //!< read before anybody wrote there
    RACE,          //!< two threads, one of them writing, and nothing in between
    BARRIER,       //!< not reached by all threads of the block
    WARP,          //!< a warp operation that lanes of its mask do not take part in
    ENDLESS,       //!< waits for what never comes
};

struct Finding
{
    Fault fault;
    std::string kernel;
    std::string where;  //!< file and line, as far as known
    std::string detail; //!< block, thread, address of the first time
    uint64_t times;
};

/// What was found since the last call, one entry for each place; prints nothing.
std::vector<Finding> TakeFindings();

/// One line.
std::string Describe(const Finding& finding);

/// Makes memory count as never written, whatever is in it.
void Forget(void* memory, size_t bytes);

/// A launch of a kernel, a memset or a copy, and what it moved at least.
struct LaunchRecord
{
    std::string kernel; //!< and a template's last argument; "memset" and "copy" for those
    uint64_t blocks;
    uint32_t threads;      //!< of a block
    uint64_t bytesRead;    //!< distinct bytes of global memory
    uint64_t bytesWritten; //!< likewise
    uint64_t sectorsRead;  //!< distinct units of 32 bytes
    uint64_t sectorsWritten;
};

/// All launches since the last call, in order, kept only while `Record(true)` holds.
void Record(bool isWanted);
std::vector<LaunchRecord> TakeLaunches();

/// Of kernels, since the program began.
uint64_t CountLaunches();

} // namespace ns3::gradsync::emulator

#endif // GRADSYNC_EMULATOR_H
