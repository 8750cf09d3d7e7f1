// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EMULATOR_BLOCK_H
#define GRADSYNC_EMULATOR_BLOCK_H

#include "cuda_runtime.h"
#include "emulator.h"

#include <random>
#include <string>
#include <vector>

namespace ns3::gradsync::emulator
{

enum class State : uint8_t
{
    READY,
    AT_BARRIER,
    AT_WARP,
    DONE,
};

/// One CUDA thread: a fiber, and what it waits for.
struct Thread
{
    void* stackPointer{nullptr};
    uint32_t number{0};
    State state{State::READY};
    WarpOperation operation{WarpOperation::BALLOT};
    uint32_t mask{0};
    uint32_t value{0}; //!< given to the operation, then got from it
    uint32_t argument{0};
    uint32_t spins{0}; //!< volatile reads so far
    Site site{nullptr, 0};
};

/// What all blocks of a launch share.
struct LaunchInfo
{
    std::string kernel;
    uint32_t number; //!< of the launch, for the stamps of accesses
    uint32_t blocks;
    uint32_t threads;
    uint32_t workers;         //!< blocks that run at the same time
    std::vector<bool> arrays; //!< of shared memory that are the kernel's, see shared-memory.h
    void (*body)(const void*);
    const void* arguments;
    size_t argumentBytes;
};

/// Runs blocks, one after the other, on one thread of the CPU.
class BlockRunner
{
  public:
    explicit BlockRunner(uint32_t seed);
    ~BlockRunner();
    BlockRunner(const BlockRunner&) = delete;
    BlockRunner& operator=(const BlockRunner&) = delete;

    void Run(const LaunchInfo& launch, uint32_t block);

    const LaunchInfo& GetLaunch() const
    {
        return *m_launch;
    }

    /// Whether other blocks run at the same time.
    bool HasCompany() const
    {
        return m_launch->workers > 1;
    }

    uint32_t GetBlock() const
    {
        return m_block;
    }

    /// Barriers that the block has passed.
    uint32_t GetEpoch() const
    {
        return m_epoch;
    }

    /// Whether an address is on the stack of a thread of the block.
    bool IsLocal(uintptr_t address) const
    {
        return address - m_stacks < m_stackBytes;
    }

    /// Puts the running thread to sleep until it is READY again.
    void Yield(State state);

    /// Gives the whole block up, from one of its threads: what comes next would touch what is not
    /// its own.
    [[noreturn]] void Abandon();

  private:
    static void Enter();

    void Prepare(uint32_t threads);
    void MakeFiber(Thread& thread);
    bool RunWarp(uint32_t warp);
    bool ResolveWarp(uint32_t warp);
    void Resolve(uint32_t warp, uint32_t members);
    void PassBarrier();
    void Report(Fault fault, const Thread& thread, const char* what) const;

    std::vector<Thread> m_threads;
    std::minstd_rand m_random;
    uintptr_t m_stacks{0};
    size_t m_stackBytes{0};
    uint32_t m_fresh{0}; //!< fibers that exist and wait for a block
    void* m_scheduler{nullptr};
    const LaunchInfo* m_launch{nullptr};
    uint32_t m_block{0};
    uint32_t m_epoch{0};
    uint32_t m_done{0};
    bool m_isAbandoned{false};
};

/// Of this thread of the CPU; null outside of kernels.
extern thread_local Thread* running;
extern thread_local BlockRunner* runner;

} // namespace ns3::gradsync::emulator

#endif // GRADSYNC_EMULATOR_BLOCK_H
