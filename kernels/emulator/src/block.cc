// SPDX-License-Identifier: GPL-2.0-only
#include "block.h"

#include "findings.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <sys/mman.h>

// Saves what a function must keep (System V ABI, x86-64) on the stack in use, and goes on with
// another.
extern "C" void GradsyncSwitchStack(void** save, void* load);
asm(R"(
.text
.globl GradsyncSwitchStack
.type GradsyncSwitchStack, @function
GradsyncSwitchStack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size GradsyncSwitchStack, .-GradsyncSwitchStack
)");

namespace ns3::gradsync::emulator
{

thread_local Thread* running = nullptr;
thread_local BlockRunner* runner = nullptr;

namespace
{

constexpr uint32_t WARP_LANES = 32;
constexpr uint32_t MOST_THREADS = 1024;
constexpr size_t STACK = size_t{64} << 10;
constexpr size_t COLOUR = 128; //!< bytes; stacks begin at different sets of the cache
constexpr size_t COLOURS = 128;

} // namespace

BlockRunner::BlockRunner(uint32_t seed)
    : m_random(seed)
{
    m_stackBytes = MOST_THREADS * STACK;
    void* const memory = mmap(nullptr,
                              m_stackBytes,
                              PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                              -1,
                              0);
    if (memory == MAP_FAILED)
    {
        std::abort();
    }
    m_stacks = reinterpret_cast<uintptr_t>(memory);
    m_threads.resize(MOST_THREADS);
}

BlockRunner::~BlockRunner()
{
    munmap(reinterpret_cast<void*>(m_stacks), m_stackBytes);
}

/// Where every fiber begins; it runs one block after the other.
void
BlockRunner::Enter()
{
    while (true)
    {
        runner->m_launch->body(runner->m_launch->arguments);
        runner->Yield(State::DONE);
    }
}

void
BlockRunner::MakeFiber(Thread& thread)
{
    const uint32_t number = thread.number;
    auto* top = reinterpret_cast<uintptr_t*>(m_stacks + (number + 1) * STACK -
                                             number * 5 % COLOURS * COLOUR);
    *--top = 0; // whom Enter would return to; leaves the stack as a call does
    *--top = reinterpret_cast<uintptr_t>(&BlockRunner::Enter);
    for (int saved = 0; saved < 6; ++saved)
    {
        *--top = 0;
    }
    thread.stackPointer = top;
}

void
BlockRunner::Prepare(uint32_t threads)
{
    for (uint32_t i = 0; i < threads; ++i)
    {
        m_threads[i].number = i;
        m_threads[i].state = State::READY;
        m_threads[i].spins = 0;
        if (i >= m_fresh)
        {
            MakeFiber(m_threads[i]);
        }
    }
    m_fresh = std::max(m_fresh, threads);
    m_epoch = 0;
    m_done = 0;
    m_isAbandoned = false;
}

void
BlockRunner::Yield(State state)
{
    Thread& self = *running;
    self.state = state;
    GradsyncSwitchStack(&self.stackPointer, m_scheduler);
}

void
BlockRunner::Abandon()
{
    m_isAbandoned = true;
    Yield(State::DONE);
    std::abort();
}

void
BlockRunner::Report(Fault fault, const Thread& thread, const char* what) const
{
    running = const_cast<Thread*>(&thread); // whom the finding is about
    Note(fault, {nullptr, thread.site}, what, 0);
    running = nullptr;
}

/// Runs the lanes of a warp that can, in an order of chance. \returns whether there were any
bool
BlockRunner::RunWarp(uint32_t warp)
{
    const uint32_t begin = warp * WARP_LANES;
    const uint32_t lanes = std::min(WARP_LANES, m_launch->threads - begin);
    const auto chance = static_cast<uint32_t>(m_random());
    // Any odd step visits all lanes of a whole warp once; others go in turn.
    const uint32_t step = lanes == WARP_LANES ? chance | 1U : 1U;
    bool hasRun = false;
    for (uint32_t i = 0; i < lanes; ++i)
    {
        Thread& thread = m_threads[begin + (i * step + (chance >> 8)) % lanes];
        if (thread.state != State::READY)
        {
            continue;
        }
        hasRun = true;
        running = &thread;
        GradsyncSwitchStack(&m_scheduler, thread.stackPointer);
        running = nullptr;
        m_done += thread.state == State::DONE ? 1 : 0;
        if (m_isAbandoned)
        {
            return true;
        }
    }
    return hasRun;
}

/// Does an operation that all its lanes have reached.
void
BlockRunner::Resolve(uint32_t warp, uint32_t members)
{
    Thread* const lanes = m_threads.data() + size_t{warp} * WARP_LANES;
    uint32_t given[WARP_LANES] = {};
    uint32_t ballot = 0;
    uint32_t sum = 0;
    uint32_t largest = 0;
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
    {
        if ((members >> lane & 1U) != 0)
        {
            given[lane] = lanes[lane].value;
            ballot |= given[lane] != 0 ? 1U << lane : 0U;
            sum += given[lane];
            largest = std::max(largest, given[lane]);
        }
    }
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
    {
        if ((members >> lane & 1U) == 0)
        {
            continue;
        }
        Thread& thread = lanes[lane];
        const uint32_t from = thread.operation == WarpOperation::SHUFFLE_UP
                                  ? (lane >= thread.argument ? lane - thread.argument : lane)
                                  : thread.argument % WARP_LANES;
        switch (thread.operation)
        {
        case WarpOperation::BALLOT:
            thread.value = ballot;
            break;
        case WarpOperation::ANY:
            thread.value = ballot != 0 ? 1 : 0;
            break;
        case WarpOperation::ADD:
            thread.value = sum;
            break;
        case WarpOperation::MAXIMUM:
            thread.value = largest;
            break;
        case WarpOperation::SHUFFLE_UP:
        case WarpOperation::SHUFFLE:
            if ((members >> from & 1U) == 0)
            {
                Report(Fault::WARP, thread, "reads from a lane that the mask leaves out");
            }
            thread.value = given[from];
            break;
        }
        thread.state = State::READY;
    }
}

/// Lets the lanes go on whose operation is complete. \returns whether there were any
bool
BlockRunner::ResolveWarp(uint32_t warp)
{
    Thread* const lanes = m_threads.data() + size_t{warp} * WARP_LANES;
    const uint32_t count = std::min(WARP_LANES, m_launch->threads - warp * WARP_LANES);
    bool hasResolved = false;
    for (uint32_t first = 0; first < count; ++first)
    {
        const Thread& asked = lanes[first];
        if (asked.state != State::AT_WARP)
        {
            continue;
        }
        bool isComplete = true;
        bool isSame = (asked.mask >> first & 1U) != 0;
        uint32_t gone = 0;
        for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
        {
            if ((asked.mask >> lane & 1U) == 0)
            {
                continue;
            }
            const bool isGone = lane >= count || lanes[lane].state == State::DONE;
            gone |= isGone ? 1U << lane : 0U;
            if (isGone)
            {
                continue;
            }
            const Thread& other = lanes[lane];
            isComplete = isComplete && other.state == State::AT_WARP;
            isSame = isSame && (other.state != State::AT_WARP ||
                                (other.operation == asked.operation && other.mask == asked.mask &&
                                 other.site.line == asked.site.line));
        }
        if (!isComplete)
        {
            continue;
        }
        if (!isSame)
        {
            Report(Fault::WARP, asked, "lanes of one mask are at different operations");
            m_isAbandoned = true;
            return false;
        }
        if (gone != 0)
        {
            Report(Fault::WARP, asked, "the mask names lanes that have ended or never were");
        }
        Resolve(warp, asked.mask & ~gone);
        hasResolved = true;
    }
    return hasResolved;
}

/// Nobody can go on: a barrier that all have reached, or one that some never will.
void
BlockRunner::PassBarrier()
{
    const Thread* first = nullptr;
    for (uint32_t i = 0; i < m_launch->threads; ++i)
    {
        Thread& thread = m_threads[i];
        if (thread.state == State::AT_WARP)
        {
            Report(Fault::WARP, thread, "lanes of its mask never come");
            m_isAbandoned = true;
            return;
        }
        if (thread.state == State::AT_BARRIER)
        {
            first = first == nullptr ? &thread : first;
            if (first->site.line != thread.site.line || first->site.file != thread.site.file)
            {
                Report(Fault::BARRIER, thread, "threads of a block are at different barriers");
                m_isAbandoned = true;
                return;
            }
        }
    }
    if (m_done > 0)
    {
        Report(Fault::BARRIER, *first, "threads of the block have ended before it");
    }
    for (uint32_t i = 0; i < m_launch->threads; ++i)
    {
        Thread& thread = m_threads[i];
        thread.state = thread.state == State::AT_BARRIER ? State::READY : thread.state;
    }
    ++m_epoch;
}

void
BlockRunner::Run(const LaunchInfo& launch, uint32_t block)
{
    m_launch = &launch;
    m_block = block;
    runner = this;
    Prepare(launch.threads);
    const uint32_t warps = (launch.threads + WARP_LANES - 1) / WARP_LANES;
    while (m_done < launch.threads && !m_isAbandoned)
    {
        bool hasRun = false;
        const auto start = static_cast<uint32_t>(m_random());
        for (uint32_t i = 0; i < warps && !m_isAbandoned; ++i)
        {
            const uint32_t warp = (start + i) % warps;
            // Mostly on to its next barrier, sometimes only to its next operation.
            do
            {
                hasRun = RunWarp(warp) || hasRun;
            } while (!m_isAbandoned && ResolveWarp(warp) && m_random() % 8 != 0);
        }
        if (!hasRun && !m_isAbandoned)
        {
            PassBarrier();
        }
    }
    if (m_isAbandoned)
    {
        m_fresh = 0;
    }
    runner = nullptr;
}

uint3
GetThreadIndex()
{
    return {running->number, 0, 0};
}

uint3
GetBlockIndex()
{
    return {runner->GetBlock(), 0, 0};
}

uint3
GetBlockSize()
{
    return {runner->GetLaunch().threads, 1, 1};
}

uint3
GetGridSize()
{
    return {runner->GetLaunch().blocks, 1, 1};
}

void
Barrier(Site site)
{
    running->site = site;
    runner->Yield(State::AT_BARRIER);
}

uint32_t
Warp(WarpOperation operation, uint32_t mask, uint32_t value, uint32_t argument, Site site)
{
    Thread& self = *running;
    self.operation = operation;
    self.mask = mask;
    self.value = value;
    self.argument = argument;
    self.site = site;
    runner->Yield(State::AT_WARP);
    return self.value;
}

} // namespace ns3::gradsync::emulator
