// SPDX-License-Identifier: GPL-2.0-only
#include "bench-kernels.h"

#include "ns3/float-bits.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <random>

namespace ns3::gradsync::bench
{

namespace
{

/// Share of the elements that are selected where the selection is given.
constexpr double SHARE = 0.02;
/// A magnitude that so many of the gradient reach: 2.3263 of its deviations.
constexpr float KEY_MAGNITUDE = 0.023263F;

std::vector<float>
DrawGradient(uint64_t elements)
{
    std::mt19937 generator(1);
    std::normal_distribution<float> normal(0.0F, 0.01F);
    std::vector<float> values(elements);
    std::generate(values.begin(), values.end(), [&] { return normal(generator); });
    return values;
}

/// A bit per element.
std::vector<uint32_t>
DrawMarks(uint64_t elements)
{
    std::mt19937 generator(2);
    std::bernoulli_distribution isMarked(SHARE);
    std::vector<uint32_t> marks((elements + 31) / 32);
    for (uint64_t i = 0; i < elements; ++i)
    {
        marks[i / 32] |= (isMarked(generator) ? 1U : 0U) << (i % 32);
    }
    return marks;
}

/// Those of the first elements, none beyond.
std::vector<uint32_t>
CutMarks(const std::vector<uint32_t>& marks, uint64_t elements)
{
    const auto words = static_cast<std::ptrdiff_t>((elements + 31) / 32);
    std::vector<uint32_t> first(marks.begin(), marks.begin() + words);
    if (elements % 32 != 0)
    {
        first.back() &= (1U << elements % 32) - 1;
    }
    return first;
}

} // namespace

void
Check(cudaError_t error)
{
    if (error != cudaSuccess)
    {
        std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
        std::exit(1);
    }
}

DeviceMemory::DeviceMemory(size_t bytes)
{
    Check(cudaMalloc(&m_data, bytes));
    Check(cudaMemset(m_data, 0, bytes));
}

DeviceMemory::~DeviceMemory()
{
    cudaFree(m_data);
}

Values::Values(uint64_t elements)
    : gradient(DrawGradient(elements)),
      marks(DrawMarks(elements))
{
}

Buffers::Buffers(const Values& values, uint64_t elements)
    : count(elements),
      workspaceBytes(GetWorkspaceBytes(elements)),
      gradient(4 * elements + 16),
      velocity(4 * elements + 16),
      accumulated(4 * elements + 16),
      out(8 * elements + 64),
      codes(4 * elements + 64),
      workspace(workspaceBytes),
      found(256),
      key(256),
      iteration(256),
      marks(elements / 8 + 64)
{
    Check(cudaStreamCreate(&stream));
    const auto send = [](const DeviceMemory& to, const void* from, size_t bytes) {
        Check(cudaMemcpy(to.As<void>(), from, bytes, cudaMemcpyHostToDevice));
    };
    const uint32_t magnitude = MagnitudeKey(KEY_MAGNITUDE);
    const auto bits = CutMarks(values.marks, elements);
    send(gradient, values.gradient.data(), 4 * elements);
    send(key, &magnitude, sizeof magnitude);
    send(marks, bits.data(), 4 * bits.size());
}

Buffers::~Buffers()
{
    cudaStreamDestroy(stream);
}

} // namespace ns3::gradsync::bench
