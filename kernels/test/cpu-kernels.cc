// SPDX-License-Identifier: GPL-2.0-only
// The kernels that device-codecs.h calls, and the memory that it works on, without a GPU: each does
// what the CPU function of its name does, at once. Scratch memory is filled with rubbish, so that
// nothing else can lie in it.
#include "compression-kernels.h"
#include "message-kernels.h"

#include "ns3/block-top-k.h"
#include "ns3/dgc-selector.h"
#include "ns3/gradient-reductions.h"
#include "ns3/quantisers.h"
#include "ns3/sparse-selection.h"
#include "ns3/sparsifier-arithmetic.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

cudaError_t
cudaGetDeviceCount(int* count)
{
    *count = 1;
    return cudaSuccess;
}

cudaError_t
cudaMalloc(void** memory, size_t bytes)
{
    *memory = std::malloc(bytes);
    return *memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t
cudaFree(void* memory)
{
    std::free(memory);
    return cudaSuccess;
}

cudaError_t
cudaMemset(void* memory, int value, size_t bytes)
{
    std::memset(memory, value, bytes);
    return cudaSuccess;
}

cudaError_t
cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind)
{
    std::copy_n(static_cast<const char*>(from), bytes, static_cast<char*>(to));
    return cudaSuccess;
}

const char*
cudaGetErrorString(cudaError_t)
{
    return "an error of no device";
}

namespace ns3::gradsync::kernels
{

namespace
{

/// Runs what writes to host memory; the kernels' errors are those of a launch, of which there is
/// none.
template <typename Work>
cudaError_t
Do(const Work& work)
{
    work();
    return cudaSuccess;
}

void
Spoil(void* workspace, size_t bytes)
{
    std::memset(workspace, 0xa5, bytes);
}

void
Scatter(const uint32_t* indices, const float* values, uint64_t count, std::span<float> gradient)
{
    std::fill(gradient.begin(), gradient.end(), 0.0F);
    for (uint64_t i = 0; i < count; ++i)
    {
        if (indices[i] < gradient.size())
        {
            gradient[indices[i]] = values[i];
        }
    }
}

} // namespace

cudaError_t
EncodeInt8Blocks(const float* values,
                 uint64_t count,
                 uint32_t block,
                 int8_t* codes,
                 float* scales,
                 cudaStream_t)
{
    return Do([&] {
        const auto blocks = CountBlocks(count, block);
        gradsync::EncodeInt8Blocks({values, count}, block, {codes, count}, {scales, blocks});
    });
}

cudaError_t
DecodeInt8Blocks(const int8_t* codes,
                 const float* scales,
                 uint64_t count,
                 uint32_t block,
                 float* values,
                 cudaStream_t)
{
    return Do([&] {
        const auto blocks = CountBlocks(count, block);
        gradsync::DecodeInt8Blocks({codes, count}, {scales, blocks}, block, {values, count});
    });
}

cudaError_t
EncodeHalf(const float* values, uint64_t count, uint16_t* codes, cudaStream_t)
{
    return Do([&] { gradsync::EncodeHalf({values, count}, {codes, count}); });
}

cudaError_t
DecodeHalf(const uint16_t* codes, uint64_t count, float* values, cudaStream_t)
{
    return Do([&] { gradsync::DecodeHalf({codes, count}, {values, count}); });
}

cudaError_t
EncodeBfloat(const float* values, uint64_t count, uint16_t* codes, cudaStream_t)
{
    return Do([&] { gradsync::EncodeBfloat({values, count}, {codes, count}); });
}

cudaError_t
DecodeBfloat(const uint16_t* codes, uint64_t count, float* values, cudaStream_t)
{
    return Do([&] { gradsync::DecodeBfloat({codes, count}, {values, count}); });
}

cudaError_t
EncodeTwoBits(const float* gradients,
              float* residual,
              uint64_t count,
              float threshold,
              uint32_t* words,
              cudaStream_t)
{
    return Do([&] {
        const std::span<uint32_t> all(words, CountBlocks(count, 16));
        gradsync::EncodeTwoBits({gradients, count}, {residual, count}, threshold, all);
    });
}

cudaError_t
DecodeTwoBits(const uint32_t* words, uint64_t count, float threshold, float* values, cudaStream_t)
{
    return Do([&] {
        const std::span<const uint32_t> all(words, CountBlocks(count, 16));
        gradsync::DecodeTwoBits(all, threshold, {values, count});
    });
}

cudaError_t
EncodeFixedPoints(const float* values, uint64_t count, float factor, int32_t* codes, cudaStream_t)
{
    return Do([&] { gradsync::EncodeFixedPoints({values, count}, factor, {codes, count}); });
}

cudaError_t
DecodeFixedPoints(const int32_t* codes, uint64_t count, float factor, float* values, cudaStream_t)
{
    return Do([&] { gradsync::DecodeFixedPoints({codes, count}, factor, {values, count}); });
}

size_t
GetTopKWorkspaceBytes(uint64_t count)
{
    return 8 * count + 24;
}

cudaError_t
SelectTopK(const float* values,
           uint64_t count,
           uint64_t k,
           uint32_t* indices,
           float* selected,
           void* workspace,
           cudaStream_t)
{
    return Do([&] {
        Spoil(workspace, GetTopKWorkspaceBytes(count));
        gradsync::SelectTopK({values, count}, k, {indices, k}, {selected, k});
    });
}

size_t
GetDgcWorkspaceBytes(uint64_t count, const DgcIteration& parameters)
{
    return count + static_cast<size_t>(parameters.density * static_cast<double>(count)) + 40;
}

cudaError_t
SelectDgc(const float* gradient,
          uint64_t count,
          const DgcIteration& parameters,
          float* velocity,
          float* accumulated,
          uint64_t* iteration,
          uint32_t* indices,
          float* selected,
          uint32_t* found,
          void* workspace,
          cudaStream_t)
{
    Spoil(workspace, GetDgcWorkspaceBytes(count, parameters));
    const float clip = GetClipFactor(parameters.clipNorm, gradsync::ComputeNorm({gradient, count}));
    const auto sample = MakeDgcSample(count, parameters.sampleRate, (*iteration)++);
    std::vector<float> sampled;
    for (uint64_t i = 0; i < count; ++i)
    {
        const DgcState before{velocity[i], accumulated[i]};
        const auto after = StepDgc(gradient[i], clip, before, parameters.momentum);
        velocity[i] = after.velocity;
        accumulated[i] = after.accumulated;
        if (i >= sample.start && (i - sample.start) % sample.stride == 0)
        {
            sampled.push_back(after.accumulated);
        }
    }
    const auto wanted = CountSelected(parameters.density, sampled.size());
    const uint32_t threshold = std::max(FindTopKCut(sampled, wanted).key, 1U);
    const uint64_t capacity = CountSelected(parameters.density, count);
    uint32_t sent = 0;
    for (uint64_t i = 0; i < count && sent < capacity; ++i)
    {
        if (MagnitudeKey(accumulated[i]) >= threshold)
        {
            indices[sent] = static_cast<uint32_t>(i);
            selected[sent++] = accumulated[i];
            velocity[i] = accumulated[i] = 0.0F;
        }
    }
    *found = sent;
    return cudaSuccess;
}

cudaError_t
SelectBlockTopK(const float* values,
                uint64_t count,
                uint32_t block,
                uint32_t k,
                uint16_t* offsets,
                float* selected,
                cudaStream_t)
{
    return Do([&] {
        const auto room = CountBlockTopK(count, block, k);
        gradsync::SelectBlockTopK({values, count}, block, k, {offsets, room}, {selected, room});
    });
}

cudaError_t
PackOffsetBytes(const uint16_t* offsets, uint64_t count, uint32_t bits, void* bytes, cudaStream_t)
{
    return Do([&] {
        std::vector<uint32_t> words(CountBlocks(count * bits, 32));
        gradsync::PackOffsets({offsets, count}, bits, words);
        cudaMemcpy(bytes, words.data(), CountBlocks(count * bits, 8), cudaMemcpyDefault);
    });
}

cudaError_t
ScatterBlockTopK(const uint32_t* words,
                 const float* selected,
                 uint64_t count,
                 uint32_t block,
                 uint32_t k,
                 float* values,
                 cudaStream_t)
{
    return Do([&] {
        const auto entries = CountBlockTopK(count, block, k);
        const uint32_t bits = GetIndexBits(block);
        std::vector<uint32_t> whole(CountBlocks(entries * bits, 32));
        cudaMemcpy(whole.data(), words, CountBlocks(entries * bits, 8), cudaMemcpyDefault);
        std::vector<uint16_t> offsets(entries);
        gradsync::UnpackOffsets(whole, bits, offsets);
        std::fill_n(values, count, 0.0F);
        for (uint64_t i = 0; i < entries; ++i)
        {
            if (const uint64_t index = i / k * block + offsets[i]; index < count)
            {
                values[index] = selected[i];
            }
        }
    });
}

cudaError_t
AddDense(const float* addend, uint64_t count, float* sum, cudaStream_t)
{
    return Do([&] { gradsync::AddDense({addend, count}, {sum, count}); });
}

cudaError_t
StepMomentum(const float* gradient, uint64_t count, float momentum, float* velocity, cudaStream_t)
{
    return Do([&] { gradsync::StepMomentum({gradient, count}, momentum, {velocity, count}); });
}

cudaError_t
KeepResidual(const float* received, uint64_t count, float* residual, cudaStream_t)
{
    return Do([&] { gradsync::KeepResidual({received, count}, {residual, count}); });
}

cudaError_t
CopyFloats(const float* from, uint64_t count, float* to, cudaStream_t)
{
    return Do([&] { std::copy_n(from, count, to); });
}

cudaError_t
ScatterSparse(const uint32_t* indices,
              const float* values,
              uint64_t count,
              uint64_t elements,
              float* gradient,
              cudaStream_t)
{
    return Do([&] { Scatter(indices, values, count, {gradient, elements}); });
}

cudaError_t
CloseSparseMessage(const float* values,
                   const uint32_t* found,
                   uint64_t,
                   uint32_t* message,
                   uint64_t* bytes,
                   cudaStream_t)
{
    return Do([&] {
        cudaMemcpy(message + *found, values, 4 * size_t{*found}, cudaMemcpyDefault);
        *bytes = 8 * uint64_t{*found};
    });
}

cudaError_t
CloseHalfMessage(const float* values,
                 const uint32_t* found,
                 uint64_t capacity,
                 uint32_t* message,
                 uint64_t* bytes,
                 cudaStream_t)
{
    return Do([&] {
        const uint64_t count = found == nullptr ? capacity : *found;
        auto* const halves = reinterpret_cast<uint16_t*>(message + count);
        gradsync::EncodeHalf({values, count}, {halves, count});
        if (bytes != nullptr)
        {
            *bytes = 6 * count;
        }
    });
}

cudaError_t
ScatterHalfMessage(const uint32_t* message,
                   const uint64_t* bytes,
                   uint64_t capacity,
                   uint64_t elements,
                   float* gradient,
                   cudaStream_t)
{
    return Do([&] {
        const uint64_t count = bytes == nullptr ? capacity : std::min(*bytes / 6, capacity);
        std::vector<float> values(count);
        const auto* const halves = reinterpret_cast<const uint16_t*>(message + count);
        gradsync::DecodeHalf({halves, count}, values);
        Scatter(message, values.data(), count, {gradient, elements});
    });
}

cudaError_t
ScatterSparseMessage(const uint32_t* message,
                     const uint64_t* bytes,
                     uint64_t capacity,
                     uint64_t elements,
                     float* gradient,
                     cudaStream_t)
{
    return Do([&] {
        const uint64_t count = std::min(*bytes / 8, capacity);
        const auto* const values = reinterpret_cast<const float*>(message + count);
        Scatter(message, values, count, {gradient, elements});
    });
}

} // namespace ns3::gradsync::kernels
