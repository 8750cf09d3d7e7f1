// SPDX-License-Identifier: GPL-2.0-only
/**
 * Times of the kernels on a GPU, as JSON on standard output; ./ns3 calibrate makes a profile of it.
 *
 * Each sample starts with an L2 cache full of something else, which was read. Medians of kernels in
 * a captured graph come beside those of launches (graph_s): what launches cost. Bytes are those
 * that a kernel must move: what it reads and writes, each once, and the gradient twice for exact
 * top-k. They are to be compared with a device-to-device copy of the same run.
 *
 * Options: --probe (exit 1 without a GPU), --largest=LOG2 (28), --samples=N (30), --sizes=A,B,...,
 * --only=NAME (those whose names begin so, and the copy)
 */
#include "bench-kernels.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <set>
#include <string>
#include <vector>

namespace
{

using namespace ns3::gradsync::bench;

constexpr uint32_t WARM_UP = 5;
constexpr size_t FLUSH_BYTES = 256ULL << 20; //!< more than any L2 cache
constexpr uint32_t FLUSH_BLOCKS = 2048;
constexpr uint32_t FLUSH_THREADS = 256;

struct Spread
{
    uint64_t elements;
    double median;
    double p10;
    double p90;
};

/// Reads what the L2 cache then holds: had it been written, kernels would wait for it to be written
/// back. \param never a place to write to, which nothing does
__global__ void
ReadAllKernel(const uint4* __restrict__ memory, uint64_t count, uint32_t* __restrict__ never)
{
    uint32_t bits = 0;
    for (uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; i < count;
         i += uint64_t{gridDim.x} * blockDim.x)
    {
        const uint4 four = memory[i];
        bits |= four.x | four.y | four.z | four.w;
    }
    if (bits != 0) // the memory is zeroed
    {
        *never = bits;
    }
}

/// Kernels as they are launched, or in a graph.
class Work
{
  public:
    Work(const Kernel& kernel, const Buffers& buffers, bool isGraph)
        : m_kernel(kernel),
          m_buffers(buffers)
    {
        if (isGraph)
        {
            cudaGraph_t graph = nullptr;
            Check(cudaStreamBeginCapture(buffers.stream, cudaStreamCaptureModeThreadLocal));
            Check(kernel.run(buffers));
            Check(cudaStreamEndCapture(buffers.stream, &graph));
            Check(cudaGraphInstantiateWithFlags(&m_graph, graph, 0));
            Check(cudaGraphDestroy(graph));
        }
    }

    ~Work()
    {
        if (m_graph != nullptr)
        {
            cudaGraphExecDestroy(m_graph);
        }
    }

    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

    cudaError_t Run() const
    {
        return m_graph != nullptr ? cudaGraphLaunch(m_graph, m_buffers.stream)
                                  : m_kernel.run(m_buffers);
    }

  private:
    const Kernel& m_kernel;
    const Buffers& m_buffers;
    cudaGraphExec_t m_graph{nullptr};
};

Spread
Measure(const Work& work, const Buffers& buffers, uint32_t samples, const DeviceMemory& flush)
{
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    Check(cudaEventCreate(&begin));
    Check(cudaEventCreate(&end));
    std::vector<double> seconds;
    for (uint32_t i = 0; i < WARM_UP + samples; ++i)
    {
        ReadAllKernel<<<FLUSH_BLOCKS, FLUSH_THREADS, 0, buffers.stream>>>(
            flush.As<uint4>(),
            FLUSH_BYTES / sizeof(uint4),
            buffers.found.As<uint32_t>());
        Check(cudaGetLastError());
        Check(cudaEventRecord(begin, buffers.stream));
        Check(work.Run());
        Check(cudaEventRecord(end, buffers.stream));
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
    std::string only; //!< how names of kernels begin
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
        else if (std::strncmp(argv[i], "--only=", 7) == 0)
        {
            options.only = argv[i] + 7;
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

/// Times of a kernel at one size: launched one by one, and as a graph.
struct Point
{
    Spread launched;
    Spread graph;
};

void
PrintKernel(const Kernel& kernel, const std::vector<Point>& points, bool isFirst)
{
    std::printf("%s\"%s\":{\"bytesPerElement\":%.9g,\"points\":[",
                isFirst ? "" : ",",
                kernel.name,
                kernel.bytesPerElement);
    for (size_t i = 0; i < points.size(); ++i)
    {
        const Spread& launched = points[i].launched;
        std::printf("%s{\"elements\":%llu,\"median_s\":%.9g,\"p10_s\":%.9g,\"p90_s\":%.9g,"
                    "\"graph_s\":%.9g}",
                    i == 0 ? "" : ",",
                    static_cast<unsigned long long>(launched.elements),
                    launched.median,
                    launched.p10,
                    launched.p90,
                    points[i].graph.median);
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
    auto list = MakeKernels();
    list.erase(std::remove_if(list.begin() + 1, // the copy
                              list.end(),
                              [&](const Kernel& kernel) {
                                  return std::string(kernel.name).find(options.only) != 0;
                              }),
               list.end());
    std::vector<std::vector<Point>> points(list.size());
    const DeviceMemory flush(FLUSH_BYTES);
    const Values values(*options.sizes.rbegin());
    for (const uint64_t size : options.sizes)
    {
        const Buffers buffers(values, size);
        for (size_t i = 0; i < list.size(); ++i)
        {
            const Work launched(list[i], buffers, false);
            const Spread apart = Measure(launched, buffers, options.samples, flush);
            const Work graph(list[i], buffers, true); // after a first run, which loads the kernels
            points[i].push_back({apart, Measure(graph, buffers, options.samples, flush)});
        }
    }
    const Spread& copy = points[0].back().launched;
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
