// SPDX-License-Identifier: GPL-2.0-only
/**
 * Times of the kernels on a GPU, as JSON on standard output; ./ns3 calibrate makes a profile of it.
 *
 * Each sample starts with an L2 cache full of something else. Bytes are those that a kernel must
 * move: what it reads and writes, each once, and the gradient twice for exact top-k. They are to be
 * compared with a device-to-device copy of the same run.
 *
 * Options: --probe (exit 1 without a GPU), --largest=LOG2 (28), --samples=N (30), --sizes=A,B,...
 */
#include "bench-kernels.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <set>
#include <vector>

namespace
{

using namespace ns3::gradsync::bench;

constexpr uint32_t WARM_UP = 5;
constexpr size_t FLUSH_BYTES = 256ULL << 20; //!< more than any L2 cache

struct Spread
{
    uint64_t elements;
    double median;
    double p10;
    double p90;
};

Spread
Measure(const Kernel& kernel, const Buffers& buffers, uint32_t samples, const DeviceMemory& flush)
{
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    Check(cudaEventCreate(&begin));
    Check(cudaEventCreate(&end));
    std::vector<double> seconds;
    for (uint32_t i = 0; i < WARM_UP + samples; ++i)
    {
        Check(cudaMemsetAsync(flush.As<char>(), static_cast<int>(i & 0x7fU), FLUSH_BYTES, nullptr));
        Check(cudaEventRecord(begin, nullptr));
        Check(kernel.run(buffers));
        Check(cudaEventRecord(end, nullptr));
        Check(cudaEventSynchronize(end));
        float milliseconds = 0;
        Check(cudaEventElapsedTime(&milliseconds, begin, end));
        if (i >= WARM_UP)
        {
            seconds.push_back(static_cast<double>(milliseconds) * 1e-3);
        }
    }
    Check(cudaEventDestroy(begin));
    Check(cudaEventDestroy(end));
    std::sort(seconds.begin(), seconds.end());
    const size_t last = seconds.size() - 1;
    return {buffers.count, seconds[last / 2], seconds[last / 10], seconds[last - last / 10]};
}

struct Options
{
    uint32_t largest{28};
    uint32_t samples{30};
    std::set<uint64_t> sizes;
};

void
ReadSizes(const char* at, std::set<uint64_t>& sizes)
{
    while (*at != '\0')
    {
        char* next = nullptr;
        sizes.insert(std::strtoull(at, &next, 10));
        if (next == at)
        {
            std::fprintf(stderr, "--sizes: found %s, expected numbers\n", at);
            std::exit(2);
        }
        at = *next == ',' ? next + 1 : next;
    }
}

Options
ReadOptions(int argc, char** argv)
{
    Options options;
    for (int i = 1; i < argc; ++i)
    {
        if (std::strncmp(argv[i], "--sizes=", 8) == 0)
        {
            ReadSizes(argv[i] + 8, options.sizes);
        }
        else if (std::sscanf(argv[i], "--largest=%u", &options.largest) != 1 &&
                 std::sscanf(argv[i], "--samples=%u", &options.samples) != 1)
        {
            std::fprintf(stderr, "unknown option %s\n", argv[i]);
            std::exit(2);
        }
    }
    for (uint32_t power = 10; power <= options.largest; ++power)
    {
        options.sizes.insert(uint64_t{1} << power);
    }
    options.sizes.erase(0);
    options.samples = std::max(options.samples, 1U);
    return options;
}

void
PrintKernel(const Kernel& kernel, const std::vector<Spread>& points, bool isFirst)
{
    std::printf("%s\"%s\":{\"bytesPerElement\":%.9g,\"points\":[",
                isFirst ? "" : ",",
                kernel.name,
                kernel.bytesPerElement);
    for (size_t i = 0; i < points.size(); ++i)
    {
        std::printf("%s{\"elements\":%llu,\"median_s\":%.9g,\"p10_s\":%.9g,\"p90_s\":%.9g}",
                    i == 0 ? "" : ",",
                    static_cast<unsigned long long>(points[i].elements),
                    points[i].median,
                    points[i].p10,
                    points[i].p90);
    }
    std::printf("]}");
}

void
MeasureAll(const Options& options)
{
    cudaDeviceProp properties{};
    int driver = 0;
    Check(cudaGetDeviceProperties(&properties, 0));
    Check(cudaDriverGetVersion(&driver));
    const auto list = MakeKernels();
    std::vector<std::vector<Spread>> points(list.size());
    const DeviceMemory flush(FLUSH_BYTES);
    for (const uint64_t size : options.sizes)
    {
        const Buffers buffers(size);
        for (size_t i = 0; i < list.size(); ++i)
        {
            points[i].push_back(Measure(list[i], buffers, options.samples, flush));
        }
    }
    const auto& copy = points[0].back();
    std::printf("{\"device\":\"%s\",\"provenance\":{\"driver\":%d,\"compiler\":\"nvcc %d.%d\","
                "\"samples\":%u,\"warmUp\":%u,\"caches\":\"cold L2\","
                "\"gradient\":\"normal, standard deviation 0.01, seed 1\"},"
                "\"copyBytesPerSecond\":%.9g,\"kernels\":{",
                properties.name,
                driver,
                __CUDACC_VER_MAJOR__,
                __CUDACC_VER_MINOR__,
                options.samples,
                WARM_UP,
                8.0 * static_cast<double>(copy.elements) / copy.median);
    for (size_t i = 0; i < list.size(); ++i)
    {
        PrintKernel(list[i], points[i], i == 0);
    }
    std::printf("}}\n");
}

} // namespace

int
main(int argc, char** argv)
{
    int devices = 0;
    const bool hasDevice = cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
    if (argc == 2 && std::strcmp(argv[1], "--probe") == 0)
    {
        return hasDevice ? 0 : 1;
    }
    if (!hasDevice)
    {
        std::fprintf(stderr, "no GPU here\n");
        return 1;
    }
    MeasureAll(ReadOptions(argc, argv));
    return 0;
}
