// SPDX-License-Identifier: GPL-2.0-only
// The emulator itself: of each fault a kernel that has it, which must be found, and one that is as
// it should be, of which nothing may be said. Prints what CI counts.
#include "device-array.h"
#include "emulator.h"

#include <cstdio>
#include <cuda_runtime.h>
#include <functional>

using namespace ns3::gradsync;
using emulator::Fault;

namespace
{

constexpr uint32_t THREADS = 128;
constexpr uint32_t ALL_LANES = 0xffffffffU;

/// Each thread reads what its neighbour has written to shared memory.
template <bool HAS_BARRIER>
__global__ void
NeighbourKernel(uint32_t* out)
{
    __shared__ uint32_t words[THREADS];
    words[threadIdx.x] = threadIdx.x;
    if (HAS_BARRIER)
    {
        __syncthreads();
    }
    out[blockIdx.x * THREADS + threadIdx.x] = words[(threadIdx.x + 1) % THREADS];
}

/// All threads of all blocks count.
template <bool IS_ATOMIC>
__global__ void
CountKernel(uint32_t* count)
{
    if (IS_ATOMIC)
    {
        atomicAdd(count, 1U);
    }
    else
    {
        *count += 1;
    }
}

/// Blocks write each its word, or the same one, which no barrier orders.
__global__ void
WriteKernel(uint32_t* out, uint32_t stride)
{
    if (threadIdx.x == 0)
    {
        out[blockIdx.x * stride] = blockIdx.x;
    }
}

__global__ void
ReadKernel(const uint32_t* in, uint32_t first, uint32_t* out)
{
    out[threadIdx.x] = in[first + threadIdx.x];
}

__global__ void
ReadVectorKernel(const float* in, uint32_t first, float* out)
{
    const float4 four = *reinterpret_cast<const float4*>(in + first);
    out[threadIdx.x] = four.x + four.y + four.z + four.w;
}

/// Only some threads have written what all read.
__global__ void
SharedKernel(uint32_t writers, uint32_t* out)
{
    __shared__ uint32_t words[THREADS];
    if (threadIdx.x < writers)
    {
        words[threadIdx.x] = 1;
    }
    __syncthreads();
    out[blockIdx.x * THREADS + threadIdx.x] = words[threadIdx.x];
}

__global__ void
SharedIndexKernel(uint32_t offset, uint32_t* out)
{
    __shared__ uint32_t words[THREADS];
    uint32_t* const decayed = words; // of which the compiler forgets the length
    decayed[threadIdx.x + offset] = 1;
    __syncthreads();
    out[threadIdx.x] = decayed[threadIdx.x];
}

__global__ void
BarrierKernel(uint32_t first, uint32_t last)
{
    if (threadIdx.x >= first && threadIdx.x < last)
    {
        __syncthreads();
    }
    else
    {
        __syncthreads();
    }
}

__global__ void
LeaveKernel(uint32_t staying)
{
    if (threadIdx.x >= staying)
    {
        return;
    }
    __syncthreads();
}

/// The lanes below `staying` sum up over a mask.
__global__ void
MaskKernel(uint32_t staying, uint32_t mask, uint32_t* out)
{
    if (threadIdx.x % 32 < staying)
    {
        out[threadIdx.x] = __reduce_add_sync(mask, 1U);
    }
}

__global__ void
ShuffleKernel(uint32_t mask, uint32_t from, uint32_t* out)
{
    if ((mask >> (threadIdx.x % 32) & 1U) != 0)
    {
        out[threadIdx.x] = __shfl_sync(mask, threadIdx.x, from);
    }
}

/// Block 0 waits for a flag that another block sets, or nobody.
__global__ void
WaitKernel(unsigned long long* flag, uint32_t setter)
{
    if (threadIdx.x == 0 && blockIdx.x == setter)
    {
        atomicExch(flag, 1ULL);
    }
    if (threadIdx.x == 0 && blockIdx.x == 0)
    {
        while (*reinterpret_cast<volatile unsigned long long*>(flag) == 0)
        {
        }
    }
}

__global__ void
CopyKernel(const uint32_t* in, uint32_t* out)
{
    out[threadIdx.x] = in[threadIdx.x];
}

struct Check
{
    const char* name;
    std::function<void()> run;
    bool isClean;
    Fault expected; //!< among what is found, unless it is clean
};

/// \returns whether what should be found is found
bool
Holds(const Check& check)
{
    emulator::TakeFindings();
    check.run();
    const auto findings = emulator::TakeFindings();
    const bool isGood = check.isClean
                            ? findings.empty()
                            : std::any_of(findings.begin(), findings.end(), [&](const auto& found) {
                                  return found.fault == check.expected;
                              });
    if (!isGood)
    {
        std::printf("FAILED %s: %zu findings\n", check.name, findings.size());
        for (const auto& finding : findings)
        {
            std::printf("  %s\n", emulator::Describe(finding).c_str());
        }
    }
    return isGood;
}

/// What kernels work on, for one check.
struct Arrays
{
    DeviceArray<uint32_t> words{std::vector<uint32_t>(1024, 7)};
    DeviceArray<uint32_t> unwritten{1024};
    DeviceArray<float> floats{std::vector<float>(1024, 1.0F)};
    DeviceArray<float> sums{1024};
    DeviceArray<uint32_t> others{1024};
    DeviceArray<unsigned long long> flag{std::vector<unsigned long long>(1, 0)};
};

/// A check that launches a kernel on arrays of its own.
template <typename Body>
std::function<void()>
On(const Body& body)
{
    return [body] {
        const Arrays arrays;
        body(arrays);
    };
}

std::vector<Check>
MakeChecks()
{
    using emulator::Launch;
    const auto clean = Fault::RACE; // not looked at
    std::vector<Check> checks{
        {"a barrier between write and read",
         On([](const Arrays& a) { Launch<NeighbourKernel<true>>(4, THREADS, a.words.Get()); }),
         true,
         clean},
        {"no barrier between write and read",
         On([](const Arrays& a) { Launch<NeighbourKernel<false>>(1, THREADS, a.words.Get()); }),
         false,
         Fault::RACE},
        {"atomic counting",
         On([](const Arrays& a) { Launch<CountKernel<true>>(4, THREADS, a.words.Get()); }),
         true,
         clean},
        {"counting that is not atomic, in a block",
         On([](const Arrays& a) { Launch<CountKernel<false>>(1, THREADS, a.words.Get()); }),
         false,
         Fault::RACE},
        {"counting that is not atomic, of blocks",
         On([](const Arrays& a) { Launch<CountKernel<false>>(4, 1, a.words.Get()); }),
         false,
         Fault::RACE},
        {"blocks that write apart",
         On([](const Arrays& a) { Launch<WriteKernel>(4, THREADS, a.words.Get(), 1); }),
         true,
         clean},
        {"blocks that write to one place",
         On([](const Arrays& a) { Launch<WriteKernel>(4, THREADS, a.words.Get(), 0); }),
         false,
         Fault::RACE},
        {"two launches that write to one place",
         On([](const Arrays& a) {
             Launch<WriteKernel>(1, THREADS, a.words.Get(), 0);
             Launch<WriteKernel>(1, THREADS, a.words.Get(), 0);
         }),
         true,
         clean},
        {"the last elements",
         On([](const Arrays& a) {
             Launch<ReadKernel>(1, THREADS, a.words.Get(), 1024 - THREADS, a.unwritten.Get());
         }),
         true,
         clean},
        {"beyond the last element and its guard",
         On([](const Arrays& a) {
             Launch<ReadKernel>(1, THREADS, a.words.Get(), 1024 + 64, a.unwritten.Get());
         }),
         false,
         Fault::GLOBAL_BOUNDS},
        {"what nobody wrote",
         On([](const Arrays& a) {
             Launch<ReadKernel>(1, THREADS, a.unwritten.Get(), 0, a.words.Get());
         }),
         false,
         Fault::UNINITIALISED},
        {"a vector at a multiple of 16 bytes",
         On([](const Arrays& a) {
             Launch<ReadVectorKernel>(1, 1, a.floats.Get(), 8, a.sums.Get());
         }),
         true,
         clean},
        {"a vector at a multiple of 4 bytes",
         On([](const Arrays& a) {
             Launch<ReadVectorKernel>(1, 1, a.floats.Get(), 9, a.sums.Get());
         }),
         false,
         Fault::ALIGNMENT},
        {"shared memory that is written",
         On([](const Arrays& a) { Launch<SharedKernel>(2, THREADS, THREADS, a.others.Get()); }),
         true,
         clean},
        {"shared memory that a block before has written",
         On([](const Arrays& a) {
             Launch<SharedKernel>(1, THREADS, THREADS, a.others.Get());
             Launch<SharedKernel>(1, THREADS, THREADS - 1, a.others.Get());
         }),
         false,
         Fault::UNINITIALISED},
        {"beyond shared memory",
         On([](const Arrays& a) { Launch<SharedIndexKernel>(1, THREADS, 1, a.words.Get()); }),
         false,
         Fault::SHARED_BOUNDS},
        {"a barrier that all reach",
         On([](const Arrays&) { Launch<BarrierKernel>(2, THREADS, 0, THREADS); }),
         true,
         clean},
        {"a barrier that some warps reach",
         On([](const Arrays&) { Launch<BarrierKernel>(1, THREADS, 0, 32); }),
         false,
         Fault::BARRIER},
        {"a barrier that some lanes reach",
         On([](const Arrays&) { Launch<BarrierKernel>(1, THREADS, 0, 5); }),
         false,
         Fault::BARRIER},
        {"a barrier after some have left",
         On([](const Arrays&) { Launch<LeaveKernel>(1, THREADS, 64); }),
         false,
         Fault::BARRIER},
        {"a mask of those that take part",
         On([](const Arrays& a) { Launch<MaskKernel>(1, THREADS, 8, 0xffU, a.words.Get()); }),
         true,
         clean},
        {"a mask that leaves some out",
         On([](const Arrays& a) { Launch<MaskKernel>(1, THREADS, 8, 0x7fU, a.words.Get()); }),
         false,
         Fault::WARP},
        {"a mask that names lanes which have left",
         On([](const Arrays& a) { Launch<MaskKernel>(1, THREADS, 8, ALL_LANES, a.words.Get()); }),
         false,
         Fault::WARP},
        {"a shuffle from a lane that takes part",
         On([](const Arrays& a) { Launch<ShuffleKernel>(1, 32, 0xffU, 7, a.words.Get()); }),
         true,
         clean},
        {"a shuffle from a lane that does not",
         On([](const Arrays& a) { Launch<ShuffleKernel>(1, 32, 0xffU, 8, a.words.Get()); }),
         false,
         Fault::WARP},
        {"a flag that the same block sets",
         On([](const Arrays& a) { Launch<WaitKernel>(2, 1, a.flag.Get(), 0); }),
         true,
         clean},
        {"a flag that nobody sets",
         On([](const Arrays& a) { Launch<WaitKernel>(2, 1, a.flag.Get(), 2); }),
         false,
         Fault::ENDLESS},
        {"memory of the host",
         On([](const Arrays& a) {
             const std::vector<uint32_t> onHost(THREADS, 1);
             Launch<CopyKernel>(1, THREADS, onHost.data(), a.words.Get());
         }),
         false,
         Fault::HOST_MEMORY},
        {"memory that was freed",
         [] {
             uint32_t* freed = nullptr;
             {
                 const DeviceArray<uint32_t> gone(std::vector<uint32_t>(1024, 7));
                 freed = gone.Get();
             }
             const DeviceArray<uint32_t> other(16); // where the freed memory began
             Launch<ReadKernel>(1, 1, freed, 1000, other.Get());
         },
         false,
         Fault::GLOBAL_BOUNDS},
        {"a memset beyond the end",
         On([](const Arrays& a) { cudaMemsetAsync(a.words.Get(), 0, 1U << 20, nullptr); }),
         false,
         Fault::GLOBAL_BOUNDS},
    };
    return checks;
}

/// Whether the emulator counts what a kernel moves: 128 words read and written are 512 bytes each,
/// 16 sectors; every block of WriteKernel touches a sector of its own.
bool
CountsTraffic()
{
    const Arrays arrays;
    emulator::TakeLaunches();
    emulator::Record(true);
    emulator::Launch<ReadKernel>(1, THREADS, arrays.words.Get(), 0, arrays.unwritten.Get());
    emulator::Launch<ReadKernel>(2, THREADS, arrays.words.Get(), 0, arrays.others.Get());
    emulator::Launch<WriteKernel>(4, THREADS, arrays.words.Get(), 16);
    cudaMemsetAsync(arrays.words.Get(), 0, 100, nullptr);
    emulator::Record(false);
    emulator::TakeFindings(); // two blocks write the same
    const auto launches = emulator::TakeLaunches();
    const auto is = [](const emulator::LaunchRecord& launch, uint64_t read, uint64_t written) {
        return launch.bytesRead == read && launch.bytesWritten == written;
    };
    const bool isGood = launches.size() == 4 && is(launches[0], 512, 512) &&
                        launches[0].sectorsRead == 16 && launches[0].sectorsWritten == 16 &&
                        is(launches[1], 512, 512) && is(launches[2], 0, 16) &&
                        launches[2].sectorsWritten == 4 && is(launches[3], 0, 100) &&
                        launches[0].kernel == "ReadKernel" && launches[3].kernel == "memset" &&
                        launches[2].blocks == 4 && launches[2].threads == THREADS;
    std::printf("%s", isGood ? "" : "FAILED counting of traffic\n");
    return isGood;
}

} // namespace

int
main()
{
    const auto checks = MakeChecks();
    size_t passed = CountsTraffic() ? 1 : 0;
    for (const auto& check : checks)
    {
        passed += Holds(check) ? 1 : 0;
    }
    const size_t failed = checks.size() + 1 - passed;
    std::printf("%zu passed, %zu failed, 0 skipped\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
