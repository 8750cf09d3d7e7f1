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
#include "compression-kernels.h"

#include "ns3/codec-spec.h"
#include "ns3/sparsifier-arithmetic.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#ifdef GRADSYNC_KERNELS_CUB
#include <cub/device/device_radix_sort.cuh>
#endif

namespace
{

using namespace ns3::gradsync;

constexpr uint32_t WARM_UP = 5;
constexpr size_t FLUSH_BYTES = 256ULL << 20; //!< more than any L2 cache

void
Check(cudaError_t error)
{
    if (error != cudaSuccess)
    {
        std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
        std::exit(1);
    }
}

/// Device memory, zeroed.
class DeviceMemory
{
  public:
    explicit DeviceMemory(size_t bytes)
    {
        Check(cudaMalloc(&m_data, bytes));
        Check(cudaMemset(m_data, 0, bytes));
    }

    ~DeviceMemory()
    {
        cudaFree(m_data);
    }

    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    template <typename Type>
    Type* As() const
    {
        return static_cast<Type*>(m_data);
    }

  private:
    void* m_data{nullptr};
};

/// Everything that the kernels work on, for one number of elements.
struct Buffers
{
    explicit Buffers(uint64_t elements)
        : count(elements),
          gradient(4 * elements + 16),
          velocity(4 * elements + 16),
          accumulated(4 * elements + 16),
          out(8 * elements + 64),
          codes(4 * elements + 64),
          workspace(GetWorkspaceBytes(elements)),
          found(256)
    {
        std::mt19937 generator(1);
        std::normal_distribution<float> normal(0.0F, 0.01F);
        std::vector<float> values(elements);
        std::generate(values.begin(), values.end(), [&] { return normal(generator); });
        Check(
            cudaMemcpy(gradient.As<float>(), values.data(), 4 * elements, cudaMemcpyHostToDevice));
    }

    static kernels::DgcIteration GetDgc(uint64_t iteration)
    {
        return {0.001, 0.005, 0.9F, 0.0, iteration};
    }

    static size_t GetWorkspaceBytes(uint64_t elements)
    {
        return std::max({kernels::GetTopKWorkspaceBytes(elements),
                         kernels::GetDgcWorkspaceBytes(elements, GetDgc(0)),
                         kernels::GetNormWorkspaceBytes(elements),
                         size_t{8} * elements + (16U << 20)});
    }

    /// Where the values of a message of k elements begin, its indices being at the front.
    float* GetValues(uint64_t k) const
    {
        return out.As<float>() + (k + 3) / 4 * 4;
    }

    uint64_t count;
    DeviceMemory gradient;
    DeviceMemory velocity;
    DeviceMemory accumulated;
    DeviceMemory out;
    DeviceMemory codes;
    DeviceMemory workspace;
    DeviceMemory found;
};

struct Kernel
{
    const char* name;
    double bytesPerElement;
    std::function<cudaError_t(const Buffers&)> run;
};

uint64_t
CountShare(CodecKind kind, uint64_t elements)
{
    return CountSelected(GetCodecInfo(kind).defaults, elements);
}

cudaError_t
RunTopK(const Buffers& b)
{
    const uint64_t k = CountShare(CodecKind::TopK, b.count);
    return kernels::SelectTopK(b.gradient.As<float>(),
                               b.count,
                               k,
                               b.out.As<uint32_t>(),
                               b.GetValues(k),
                               nullptr,
                               b.workspace.As<void>(),
                               nullptr);
}

/// Zeros, then a message: the indices are those that the last selection left, so of k elements.
cudaError_t
RunScatter(const Buffers& b, CodecKind kind)
{
    const uint64_t k = CountShare(kind, b.count);
    Check(cudaMemsetAsync(b.codes.As<float>(), 0, 4 * b.count, nullptr));
    return kernels::AddSparse(b.out.As<uint32_t>(),
                              b.GetValues(k),
                              k,
                              b.codes.As<float>(),
                              nullptr);
}

cudaError_t
EncodeSq8(const Buffers& b)
{
    const uint64_t k = CountShare(CodecKind::Sq8, b.count);
    Check(RunTopK(b));
    return kernels::EncodeInt8Blocks(b.GetValues(k),
                                     k,
                                     8192,
                                     b.codes.As<int8_t>(),
                                     b.velocity.As<float>(),
                                     nullptr);
}

cudaError_t
DecodeSq8(const Buffers& b)
{
    const uint64_t k = CountShare(CodecKind::Sq8, b.count);
    Check(kernels::DecodeInt8Blocks(b.codes.As<int8_t>(),
                                    b.velocity.As<float>(),
                                    k,
                                    8192,
                                    b.GetValues(k),
                                    nullptr));
    return RunScatter(b, CodecKind::Sq8);
}

cudaError_t
RunDgc(const Buffers& b)
{
    static uint64_t iteration = 0;
    return kernels::SelectDgc(b.gradient.As<float>(),
                              b.count,
                              Buffers::GetDgc(iteration++),
                              b.velocity.As<float>(),
                              b.accumulated.As<float>(),
                              b.out.As<uint32_t>(),
                              b.GetValues(CountShare(CodecKind::Dgc, b.count)),
                              b.found.As<uint32_t>(),
                              b.workspace.As<void>(),
                              nullptr);
}

constexpr uint32_t BB_BLOCK = 1024;
constexpr uint32_t BB_K = 10;

cudaError_t
EncodeBbTopK(const Buffers& b)
{
    const uint64_t selected = (b.count + BB_BLOCK - 1) / BB_BLOCK * BB_K;
    auto* const offsets = b.codes.As<uint16_t>();
    Check(kernels::SelectBlockTopK(b.gradient.As<float>(),
                                   b.count,
                                   BB_BLOCK,
                                   BB_K,
                                   offsets,
                                   b.out.As<float>(),
                                   nullptr));
    return kernels::PackOffsets(offsets,
                                selected,
                                GetIndexBits(BB_BLOCK),
                                b.workspace.As<uint32_t>(),
                                nullptr);
}

cudaError_t
DecodeBbTopK(const Buffers& b)
{
    return kernels::ScatterBlockTopK(b.workspace.As<uint32_t>(),
                                     b.out.As<float>(),
                                     b.count,
                                     BB_BLOCK,
                                     BB_K,
                                     b.codes.As<float>(),
                                     nullptr);
}

#ifdef GRADSYNC_KERNELS_CUB
/// What exact top-k would cost by sorting all magnitudes with their indices.
cudaError_t
RunRadixSort(const Buffers& b)
{
    size_t bytes = Buffers::GetWorkspaceBytes(b.count);
    auto* const sorted = b.out.As<uint32_t>();
    return cub::DeviceRadixSort::SortPairsDescending(b.workspace.As<void>(),
                                                     bytes,
                                                     b.gradient.As<uint32_t>(),
                                                     sorted,
                                                     b.codes.As<uint32_t>(),
                                                     sorted + b.count,
                                                     static_cast<int64_t>(b.count));
}
#endif

/// Dense codecs, under the names of profiles. bytesPerElement as codec-bench has them.
void
AddDenseKernels(std::vector<Kernel>& list)
{
    constexpr float THRESHOLD = 0.5F;
    constexpr float FACTOR = 1e8F;
    const auto in = [](const Buffers& b) { return b.gradient.As<float>(); };
    const auto out = [](const Buffers& b) { return b.out.As<float>(); };
    const auto half = [](const Buffers& b) { return b.codes.As<uint16_t>(); };
    list.push_back(
        {"int8-encode", 5.0005, [=](const Buffers& b) {
             auto* const codes = b.codes.As<int8_t>();
             auto* const scales = b.velocity.As<float>();
             return kernels::EncodeInt8Blocks(in(b), b.count, 8192, codes, scales, nullptr);
         }});
    list.push_back(
        {"int8-decode", 5.0005, [=](const Buffers& b) {
             auto* const codes = b.codes.As<int8_t>();
             auto* const scales = b.velocity.As<float>();
             return kernels::DecodeInt8Blocks(codes, scales, b.count, 8192, out(b), nullptr);
         }});
    list.push_back({"fp16-encode", 6.0, [=](const Buffers& b) {
                        return kernels::EncodeHalf(in(b), b.count, half(b), nullptr);
                    }});
    list.push_back({"fp16-decode", 6.0, [=](const Buffers& b) {
                        return kernels::DecodeHalf(half(b), b.count, out(b), nullptr);
                    }});
    list.push_back({"bf16-encode", 6.0, [=](const Buffers& b) {
                        return kernels::EncodeBfloat(in(b), b.count, half(b), nullptr);
                    }});
    list.push_back({"bf16-decode", 6.0, [=](const Buffers& b) {
                        return kernels::DecodeBfloat(half(b), b.count, out(b), nullptr);
                    }});
    list.push_back({"two-bit-encode", 12.25, [=](const Buffers& b) {
                        return kernels::EncodeTwoBits(in(b),
                                                      b.velocity.As<float>(),
                                                      b.count,
                                                      THRESHOLD,
                                                      b.codes.As<uint32_t>(),
                                                      nullptr);
                    }});
    list.push_back({"two-bit-decode", 4.25, [=](const Buffers& b) {
                        auto* const words = b.codes.As<uint32_t>();
                        return kernels::DecodeTwoBits(words, b.count, THRESHOLD, out(b), nullptr);
                    }});
    list.push_back({"fixed-point-encode", 8.0, [=](const Buffers& b) {
                        auto* const codes = b.codes.As<int32_t>();
                        return kernels::EncodeFixedPoints(in(b), b.count, FACTOR, codes, nullptr);
                    }});
    list.push_back({"fixed-point-decode", 8.0, [=](const Buffers& b) {
                        auto* const codes = b.codes.As<int32_t>();
                        return kernels::DecodeFixedPoints(codes, b.count, FACTOR, out(b), nullptr);
                    }});
}

/// Each decode right after its encode, whose message it takes.
void
AddSparseKernels(std::vector<Kernel>& list)
{
    list.push_back({"top-k-encode", 8.8, RunTopK});
    list.push_back(
        {"top-k-decode", 4.8, [](const Buffers& b) { return RunScatter(b, CodecKind::TopK); }});
    list.push_back({"sq8-encode", 8.5, EncodeSq8});
    list.push_back({"sq8-decode", 4.5, DecodeSq8});
    list.push_back({"dgc-encode", 20.008, RunDgc});
    list.push_back(
        {"dgc-decode", 4.008, [](const Buffers& b) { return RunScatter(b, CodecKind::Dgc); }});
    list.push_back({"bbtopk-encode", 4.0513, EncodeBbTopK});
    list.push_back({"bbtopk-decode", 4.0513, DecodeBbTopK});
}

/// What is no codec, and what to compare with. The copy comes first.
std::vector<Kernel>
MakeKernels()
{
    std::vector<Kernel> list;
    list.push_back({"copy", 8.0, [](const Buffers& b) {
                        return cudaMemcpyAsync(b.out.As<float>(),
                                               b.gradient.As<float>(),
                                               4 * b.count,
                                               cudaMemcpyDeviceToDevice,
                                               nullptr);
                    }});
    AddDenseKernels(list);
    AddSparseKernels(list);
    list.push_back({"add-dense", 12.0, [](const Buffers& b) {
                        return kernels::AddDense(b.gradient.As<float>(),
                                                 b.count,
                                                 b.codes.As<float>(),
                                                 nullptr);
                    }});
    list.push_back({"norm", 4.0, [](const Buffers& b) {
                        return kernels::ComputeNorm(b.gradient.As<float>(),
                                                    b.count,
                                                    b.found.As<double>(),
                                                    b.workspace.As<void>(),
                                                    nullptr);
                    }});
    list.push_back({"score-blocks", 4.002, [](const Buffers& b) {
                        return kernels::ScoreBlocks(b.gradient.As<float>(),
                                                    b.count,
                                                    0.9F,
                                                    b.workspace.As<float>(),
                                                    nullptr);
                    }});
    list.push_back({"non-zero-blocks", 4.0005, [](const Buffers& b) {
                        return kernels::FindNonZeroBlocks(b.gradient.As<float>(),
                                                          b.count,
                                                          b.workspace.As<uint32_t>(),
                                                          b.found.As<uint32_t>(),
                                                          nullptr);
                    }});
#ifdef GRADSYNC_KERNELS_CUB
    list.push_back({"radix-sort-pairs", 8.8, RunRadixSort});
#endif
    return list;
}

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
