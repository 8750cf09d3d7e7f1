// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_BENCH_KERNELS_H
#define GRADSYNC_BENCH_KERNELS_H

#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>
#include <functional>
#include <vector>

/// What kernels-bench measures, and the memory that it works on.
namespace ns3::gradsync::bench
{

/// Ends the program with a message when a call failed.
void Check(cudaError_t error);

/// Device memory, zeroed.
class DeviceMemory
{
  public:
    explicit DeviceMemory(size_t bytes);
    ~DeviceMemory();

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

/// What the memory of a GPU is filled with: that of fewer elements is its beginning.
struct Values
{
    explicit Values(uint64_t elements);

    std::vector<float> gradient; //!< normally distributed, standard deviation 0.01, seed 1
    std::vector<uint32_t> marks; //!< a bit per element, 2 % of them at random
};

/// Everything that the kernels work on, for one number of elements.
struct Buffers
{
    Buffers(const Values& values, uint64_t elements);
    ~Buffers();

    Buffers(const Buffers&) = delete;
    Buffers& operator=(const Buffers&) = delete;

    /// Where the values of a message of k elements begin, its indices being at the front.
    float* GetValues(uint64_t k) const
    {
        return out.As<float>() + (k + 3) / 4 * 4;
    }

    uint64_t count;
    size_t workspaceBytes; //!< enough for every kernel
    DeviceMemory gradient;
    DeviceMemory velocity;
    DeviceMemory accumulated;
    DeviceMemory out;
    DeviceMemory codes;
    DeviceMemory workspace;
    DeviceMemory found;
    DeviceMemory key;             //!< of SelectFromKey
    DeviceMemory iteration;       //!< of DGC
    DeviceMemory marks;           //!< of GatherMarked, a bit per element
    cudaStream_t stream{nullptr}; //!< not the default one, which no graph can be captured from
};

struct Kernel
{
    const char* name;
    double bytesPerElement; //!< what it must move: reads and writes, each once
    std::function<cudaError_t(const Buffers&)> run;
};

/// The codecs, the reductions and what to compare them with. The copy comes first.
std::vector<Kernel> MakeKernels();

/// Scratch memory of any of them.
size_t GetWorkspaceBytes(uint64_t elements);

/// Scratch memory of those of AddStochasticKernels.
size_t GetStochasticWorkspaceBytes(uint64_t elements);

/// Scratch memory of those of AddLowRankKernels.
size_t GetLowRankBenchWorkspaceBytes(uint64_t elements);

/// PowerSGD's steps: before each of its sums, and after both.
void AddLowRankKernels(std::vector<Kernel>& list);

/// The codecs that draw random numbers, and the vote on signs.
void AddStochasticKernels(std::vector<Kernel>& list);

/// Scratch memory of SortByMagnitude.
size_t GetSortWorkspaceBytes(uint64_t count);

/**
 * CUB's radix sort of all magnitudes with their indices: what exact top-k costs without a
 * selection. The indices are whatever `codes` holds, which makes no difference to the time.
 */
cudaError_t SortByMagnitude(const Buffers& buffers);

} // namespace ns3::gradsync::bench

#endif // GRADSYNC_BENCH_KERNELS_H
