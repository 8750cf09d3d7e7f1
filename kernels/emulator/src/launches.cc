// SPDX-License-Identifier: GPL-2.0-only
#include "launches.h"

#include "block.h"
#include "cuda_runtime.h"
#include "device-memory.h"
#include "emulator.h"
#include "shared-memory.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <numeric>
#include <random>
#include <thread>
#include <utility>

namespace ns3::gradsync::emulator
{

Traffic traffic;

namespace
{

constexpr uint32_t MOST_LAUNCHES = (1U << 20) - 1; //!< that stamps of accesses tell apart
constexpr uint64_t MOST_BLOCKS = (1U << 20) - 1;   //!< likewise
constexpr uint32_t MOST_THREADS = 1024;

bool isRecording = false;
std::vector<LaunchRecord> records;
uint64_t launches = 0;
cudaError_t lastError = cudaSuccess;

uint32_t
ReadEnvironment(const char* name, uint32_t other)
{
    const char* const text = std::getenv(name);
    return text != nullptr ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10)) : other;
}

uint32_t
GetSeed()
{
    static const uint32_t seed = ReadEnvironment("GRADSYNC_EMULATOR_SEED", 1);
    return seed;
}

/// How many blocks run at the same time.
uint32_t
CountWorkers()
{
    static const uint32_t workers = std::max(1U, ReadEnvironment("GRADSYNC_EMULATOR_WORKERS", 1));
    return workers;
}

/// Blocks in an order of chance, each to whom has nothing to do.
void
RunBlocks(const LaunchInfo& launch)
{
    std::vector<uint32_t> order(launch.blocks);
    std::iota(order.begin(), order.end(), 0U);
    std::minstd_rand random(GetSeed() * 7919 + launch.number);
    std::shuffle(order.begin(), order.end(), random);
    std::atomic<uint32_t> next{0};
    const auto work = [&](BlockRunner& runs) {
        for (uint32_t i = next++; i < launch.blocks; i = next++)
        {
            runs.Run(launch, order[i]);
        }
    };
    static BlockRunner own(GetSeed());
    const uint32_t helpers = launch.workers - 1;
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < helpers; ++i)
    {
        threads.emplace_back([&, seed = launch.number * 31 + i] {
            BlockRunner other(seed);
            work(other);
        });
    }
    work(own);
    for (auto& thread : threads)
    {
        thread.join();
    }
}

} // namespace

void
Run(std::string_view kernel,
    std::string_view variant,
    uint64_t blocks,
    uint32_t threads,
    void (*body)(const void*),
    const void* arguments,
    size_t bytes)
{
    if (blocks == 0 || blocks > MOST_BLOCKS || threads == 0 || threads > MOST_THREADS)
    {
        lastError = cudaErrorInvalidConfiguration;
        return;
    }
    // Stamps of a launch that had the same number long ago would count.
    static uint32_t number = 0;
    if (++number > MOST_LAUNCHES)
    {
        std::abort();
    }
    ++launches;
    traffic = {};
    const LaunchInfo launch{std::string(kernel),
                            number,
                            static_cast<uint32_t>(blocks),
                            threads,
                            std::min(CountWorkers(), static_cast<uint32_t>(blocks)),
                            FindSharedArrays(std::string(kernel)),
                            body,
                            arguments,
                            bytes};
    RunBlocks(launch);
    if (isRecording)
    {
        records.push_back({launch.kernel + (variant.empty() ? "" : " ") + std::string(variant),
                           blocks,
                           threads,
                           traffic.bytesRead,
                           traffic.bytesWritten,
                           traffic.sectorsRead,
                           traffic.sectorsWritten});
    }
}

void
NoteTransfer(const char* what, size_t bytesRead, size_t bytesWritten)
{
    if (isRecording)
    {
        const auto sectors = [](size_t bytes) { return (bytes + SECTOR - 1) / SECTOR; };
        records.push_back(
            {what, 0, 0, bytesRead, bytesWritten, sectors(bytesRead), sectors(bytesWritten)});
    }
}

void
Record(bool isWanted)
{
    isRecording = isWanted;
}

std::vector<LaunchRecord>
TakeLaunches()
{
    return std::exchange(records, {});
}

uint64_t
CountLaunches()
{
    return launches;
}

} // namespace ns3::gradsync::emulator

cudaError_t
cudaGetLastError()
{
    return std::exchange(ns3::gradsync::emulator::lastError, cudaSuccess);
}
