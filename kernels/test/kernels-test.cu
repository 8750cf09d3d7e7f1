// SPDX-License-Identifier: GPL-2.0-only
/**
 * Every kernel against the CPU function of the same name, on all gradients of nasty-gradients.h.
 * Outputs are poisoned before each run and compared bit for bit. Prints what CI counts: "N passed,
 * N failed, N skipped"; without a GPU all cases are skipped. Exit code 1 when one failed.
 */
#include "compression-kernels.h"
#include "support/nasty-gradients.h"

#include "ns3/block-top-k.h"
#include "ns3/dgc-selector.h"
#include "ns3/gradient-reductions.h"
#include "ns3/quantisers.h"
#include "ns3/sparse-selection.h"
#include "ns3/sparsifier-arithmetic.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace
{

using namespace ns3::gradsync;

constexpr int POISON = 0x5a;

void
Check(cudaError_t error)
{
    if (error != cudaSuccess)
    {
        std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
        std::exit(2);
    }
}

/// Device memory that starts poisoned, with a guard behind it.
template <typename Type>
class DeviceArray
{
  public:
    explicit DeviceArray(size_t count)
        : m_count(count)
    {
        Check(cudaMalloc(&m_data, GetBytes() + GUARD));
        Check(cudaMemset(m_data, POISON, GetBytes() + GUARD));
    }

    explicit DeviceArray(const std::vector<Type>& host)
        : DeviceArray(host.size())
    {
        Check(cudaMemcpy(m_data, host.data(), GetBytes(), cudaMemcpyHostToDevice));
    }

    ~DeviceArray()
    {
        cudaFree(m_data);
    }

    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;

    Type* Get()
    {
        return m_data;
    }

    std::vector<Type> Read() const
    {
        std::vector<Type> host(m_count);
        Check(cudaMemcpy(host.data(), m_data, GetBytes(), cudaMemcpyDeviceToHost));
        return host;
    }

    bool IsGuardWhole() const
    {
        unsigned char guard[GUARD];
        Check(cudaMemcpy(guard,
                         reinterpret_cast<const char*>(m_data) + GetBytes(),
                         GUARD,
                         cudaMemcpyDeviceToHost));
        for (const auto byte : guard)
        {
            if (byte != POISON)
            {
                return false;
            }
        }
        return true;
    }

  private:
    static constexpr size_t GUARD = 256;

    size_t GetBytes() const
    {
        return m_count * sizeof(Type);
    }

    Type* m_data{nullptr};
    size_t m_count;
};

/// Bit patterns: NaN equals itself. \param count how many of the device's elements count
template <typename Type>
bool
AreSame(const std::vector<Type>& host, const DeviceArray<Type>& device, size_t count)
{
    const auto read = device.Read();
    return device.IsGuardWhole() &&
           std::memcmp(host.data(), read.data(), count * sizeof(Type)) == 0;
}

template <typename Type>
bool
AreSame(const std::vector<Type>& host, const DeviceArray<Type>& device)
{
    return AreSame(host, device, host.size());
}

using Gradient = std::vector<float>;

bool
TestInt8(const Gradient& values)
{
    bool isSame = true;
    for (const uint32_t block : {256U, 8192U})
    {
        std::vector<int8_t> codes(values.size());
        Gradient scales(CountBlocks(values.size(), block));
        Gradient decoded(values.size());
        EncodeInt8Blocks(values, block, codes, scales);
        DecodeInt8Blocks(codes, scales, block, decoded);
        DeviceArray<float> in(values);
        DeviceArray<int8_t> outCodes(values.size());
        DeviceArray<float> outScales(scales.size());
        DeviceArray<float> out(values.size());
        Check(kernels::EncodeInt8Blocks(in.Get(),
                                        values.size(),
                                        block,
                                        outCodes.Get(),
                                        outScales.Get(),
                                        nullptr));
        Check(kernels::DecodeInt8Blocks(outCodes.Get(),
                                        outScales.Get(),
                                        values.size(),
                                        block,
                                        out.Get(),
                                        nullptr));
        isSame = isSame && AreSame(codes, outCodes) && AreSame(scales, outScales) &&
                 AreSame(decoded, out);
    }
    return isSame;
}

bool
TestSixteenBits(const Gradient& values)
{
    std::vector<uint16_t> half(values.size());
    std::vector<uint16_t> bfloat(values.size());
    Gradient fromHalf(values.size());
    Gradient fromBfloat(values.size());
    EncodeHalf(values, half);
    DecodeHalf(half, fromHalf);
    EncodeBfloat(values, bfloat);
    DecodeBfloat(bfloat, fromBfloat);
    DeviceArray<float> in(values);
    DeviceArray<uint16_t> outHalf(values.size());
    DeviceArray<uint16_t> outBfloat(values.size());
    DeviceArray<float> backHalf(values.size());
    DeviceArray<float> backBfloat(values.size());
    const auto count = values.size();
    Check(kernels::EncodeHalf(in.Get(), count, outHalf.Get(), nullptr));
    Check(kernels::DecodeHalf(outHalf.Get(), count, backHalf.Get(), nullptr));
    Check(kernels::EncodeBfloat(in.Get(), count, outBfloat.Get(), nullptr));
    Check(kernels::DecodeBfloat(outBfloat.Get(), count, backBfloat.Get(), nullptr));
    return AreSame(half, outHalf) && AreSame(fromHalf, backHalf) && AreSame(bfloat, outBfloat) &&
           AreSame(fromBfloat, backBfloat);
}

bool
TestTwoBits(const Gradient& values)
{
    constexpr float THRESHOLD = 0.01F;
    Gradient residual = MakeRandomGradient(values.size(), 11);
    DeviceArray<float> outResidual(residual);
    std::vector<uint32_t> words(CountBlocks(values.size(), 16));
    Gradient decoded(values.size());
    EncodeTwoBits(values, residual, THRESHOLD, words);
    DecodeTwoBits(words, THRESHOLD, decoded);
    DeviceArray<float> in(values);
    DeviceArray<uint32_t> outWords(words.size());
    DeviceArray<float> out(values.size());
    const auto count = values.size();
    Check(kernels::EncodeTwoBits(in.Get(),
                                 outResidual.Get(),
                                 count,
                                 THRESHOLD,
                                 outWords.Get(),
                                 nullptr));
    Check(kernels::DecodeTwoBits(outWords.Get(), count, THRESHOLD, out.Get(), nullptr));
    return AreSame(words, outWords) && AreSame(residual, outResidual) && AreSame(decoded, out);
}

bool
TestFixedPoint(const Gradient& values)
{
    constexpr uint32_t PACKET = 64;
    constexpr uint32_t WORKERS = 7;
    const auto count = values.size();
    std::vector<int32_t> codes(count);
    std::vector<int32_t> scaled(count);
    std::vector<int8_t> exponents(CountBlocks(count, PACKET));
    Gradient decoded(count);
    Gradient unscaled(count);
    EncodeFixedPoints(values, 1e8F, codes);
    DecodeFixedPoints(codes, 1e8F, decoded);
    FindPacketExponents(values, PACKET, exponents);
    EncodeWithExponents(values, PACKET, WORKERS, exponents, scaled);
    DecodeWithExponents(scaled, PACKET, WORKERS, exponents, unscaled);
    DeviceArray<float> in(values);
    DeviceArray<int32_t> outCodes(count);
    DeviceArray<int32_t> outScaled(count);
    DeviceArray<int8_t> outExponents(exponents.size());
    DeviceArray<float> outDecoded(count);
    DeviceArray<float> outUnscaled(count);
    Check(kernels::EncodeFixedPoints(in.Get(), count, 1e8F, outCodes.Get(), nullptr));
    Check(kernels::DecodeFixedPoints(outCodes.Get(), count, 1e8F, outDecoded.Get(), nullptr));
    Check(kernels::FindPacketExponents(in.Get(), count, PACKET, outExponents.Get(), nullptr));
    Check(kernels::EncodeWithExponents(in.Get(),
                                       count,
                                       PACKET,
                                       WORKERS,
                                       outExponents.Get(),
                                       outScaled.Get(),
                                       nullptr));
    Check(kernels::DecodeWithExponents(outScaled.Get(),
                                       count,
                                       PACKET,
                                       WORKERS,
                                       outExponents.Get(),
                                       outUnscaled.Get(),
                                       nullptr));
    return AreSame(codes, outCodes) && AreSame(decoded, outDecoded) &&
           AreSame(exponents, outExponents) && AreSame(scaled, outScaled) &&
           AreSame(unscaled, outUnscaled);
}

bool
TestTopK(const Gradient& values)
{
    bool isSame = true;
    for (const size_t k : {size_t{1}, values.size() / 10, values.size()})
    {
        const size_t room = std::min(k, values.size());
        std::vector<uint32_t> indices(room);
        Gradient selected(room);
        SelectTopK(values, k, indices, selected);
        DeviceArray<float> in(values);
        DeviceArray<uint32_t> outIndices(room);
        DeviceArray<float> out(room);
        DeviceArray<char> workspace(kernels::GetTopKWorkspaceBytes(values.size()));
        Check(kernels::SelectTopK(in.Get(),
                                  values.size(),
                                  k,
                                  outIndices.Get(),
                                  out.Get(),
                                  nullptr,
                                  workspace.Get(),
                                  nullptr));
        isSame = isSame && AreSame(indices, outIndices) && AreSame(selected, out) &&
                 workspace.IsGuardWhole();
    }
    return isSame;
}

bool
TestOkTopK(const Gradient& values)
{
    constexpr uint32_t REGIONS = 7;
    const uint32_t key = MagnitudeKey(0.015F);
    const size_t room = values.size() / 4 + 1;
    std::vector<uint32_t> indices(room);
    Gradient selected(room);
    const auto found = SelectFromKey(values, key, indices, selected);
    std::vector<uint32_t> ends(REGIONS);
    std::vector<uint32_t> counts(REGIONS);
    const auto elements = static_cast<uint32_t>(values.size());
    ProposeRegionEnds(std::span(indices).first(found), elements, ends);
    CountPerRegion(std::span(indices).first(found), ends, counts);
    DeviceArray<float> in(values);
    DeviceArray<uint32_t> outIndices(room);
    DeviceArray<float> out(room);
    DeviceArray<uint32_t> outFound(1);
    DeviceArray<uint32_t> outEnds(REGIONS);
    DeviceArray<uint32_t> outCounts(REGIONS);
    DeviceArray<uint32_t> deviceKey(std::vector<uint32_t>{key});
    DeviceArray<char> workspace(kernels::GetSelectWorkspaceBytes(values.size()));
    Check(kernels::SelectFromKey(in.Get(),
                                 values.size(),
                                 deviceKey.Get(),
                                 static_cast<uint32_t>(room),
                                 outIndices.Get(),
                                 out.Get(),
                                 outFound.Get(),
                                 workspace.Get(),
                                 nullptr));
    Check(kernels::ProposeRegionEnds(outIndices.Get(),
                                     outFound.Get(),
                                     elements,
                                     REGIONS,
                                     outEnds.Get(),
                                     nullptr));
    Check(kernels::CountPerRegion(outIndices.Get(),
                                  outFound.Get(),
                                  outEnds.Get(),
                                  REGIONS,
                                  outCounts.Get(),
                                  nullptr));
    return outFound.Read()[0] == found && AreSame(indices, outIndices, found) &&
           AreSame(selected, out, found) && AreSame(ends, outEnds) && AreSame(counts, outCounts);
}

bool
TestDgc(const Gradient& values)
{
    CodecSpec spec;
    spec.density = 0.02;
    spec.sampleRate = 0.1;
    spec.clipNorm = 0.5;
    DgcSelector selector(spec, values.size());
    const auto room = selector.GetCapacity();
    DeviceArray<float> in(values);
    DeviceArray<float> velocity(Gradient(values.size(), 0.0F));
    DeviceArray<float> accumulated(Gradient(values.size(), 0.0F));
    bool isSame = true;
    for (uint64_t iteration = 0; iteration < 3; ++iteration)
    {
        const kernels::DgcIteration parameters{spec.density,
                                               spec.sampleRate,
                                               static_cast<float>(spec.momentum),
                                               spec.clipNorm,
                                               iteration};
        std::vector<uint32_t> indices(room);
        Gradient selected(room);
        const auto found = selector.Select(values, indices, selected);
        DeviceArray<uint32_t> outIndices(room);
        DeviceArray<float> out(room);
        DeviceArray<uint32_t> outFound(1);
        DeviceArray<char> workspace(kernels::GetDgcWorkspaceBytes(values.size(), parameters));
        Check(kernels::SelectDgc(in.Get(),
                                 values.size(),
                                 parameters,
                                 velocity.Get(),
                                 accumulated.Get(),
                                 outIndices.Get(),
                                 out.Get(),
                                 outFound.Get(),
                                 workspace.Get(),
                                 nullptr));
        const auto u = selector.GetVelocity();
        const auto v = selector.GetAccumulated();
        isSame = isSame && outFound.Read()[0] == found && AreSame(indices, outIndices, found) &&
                 AreSame(selected, out, found) && workspace.IsGuardWhole() &&
                 AreSame(Gradient(u.begin(), u.end()), velocity) &&
                 AreSame(Gradient(v.begin(), v.end()), accumulated);
    }
    return isSame;
}

bool
TestBlockTopK(const Gradient& values)
{
    bool isSame = true;
    for (const uint32_t block : {256U, 512U, 1024U, 2048U})
    {
        const uint32_t k = block / 100 + 1;
        const uint32_t bits = GetIndexBits(block);
        const auto room = CountBlockTopK(values.size(), block, k);
        std::vector<uint16_t> offsets(room);
        Gradient selected(room);
        std::vector<uint32_t> words((room * bits + 31) / 32);
        SelectBlockTopK(values, block, k, offsets, selected);
        PackOffsets(offsets, bits, words);
        DeviceArray<float> in(values);
        DeviceArray<uint16_t> outOffsets(room);
        DeviceArray<uint16_t> back(room);
        DeviceArray<float> out(room);
        DeviceArray<uint32_t> outWords(words.size());
        Check(kernels::SelectBlockTopK(in.Get(),
                                       values.size(),
                                       block,
                                       k,
                                       outOffsets.Get(),
                                       out.Get(),
                                       nullptr));
        Check(kernels::PackOffsets(outOffsets.Get(), room, bits, outWords.Get(), nullptr));
        Check(kernels::UnpackOffsets(outWords.Get(), room, bits, back.Get(), nullptr));
        Gradient dense(values.size(), 0.0F);
        for (uint64_t i = 0; i < room; ++i)
        {
            dense[i / k * block + offsets[i]] = selected[i];
        }
        DeviceArray<float> outDense(values.size());
        Check(kernels::ScatterBlockTopK(outWords.Get(),
                                        out.Get(),
                                        values.size(),
                                        block,
                                        k,
                                        outDense.Get(),
                                        nullptr));
        isSame = isSame && AreSame(offsets, outOffsets) && AreSame(selected, out) &&
                 AreSame(dense, outDense) && AreSame(words, outWords) && AreSame(offsets, back);
    }
    return isSame;
}

bool
TestSums(const Gradient& values)
{
    const auto count = values.size();
    Gradient contributions(CountBlocks(count, DGT_BLOCK_ELEMENTS), 0.5F);
    DeviceArray<float> outContributions(contributions);
    ScoreBlocks(values, 0.9F, contributions);
    std::vector<uint32_t> bitmap(CountBlocks(count, 32 * ZERO_BLOCK_ELEMENTS));
    const auto blocks = FindNonZeroBlocks(values, bitmap);
    DeviceArray<float> in(values);
    DeviceArray<double> norm(1);
    DeviceArray<char> workspace(kernels::GetNormWorkspaceBytes(count));
    DeviceArray<uint32_t> outBitmap(bitmap.size());
    DeviceArray<uint32_t> outBlocks(1);
    Check(kernels::ComputeNorm(in.Get(), count, norm.Get(), workspace.Get(), nullptr));
    Check(kernels::ScoreBlocks(in.Get(), count, 0.9F, outContributions.Get(), nullptr));
    Check(kernels::FindNonZeroBlocks(in.Get(), count, outBitmap.Get(), outBlocks.Get(), nullptr));
    const double expected = ComputeNorm(values);
    const double found = norm.Read()[0];
    // Sums of NaN may have any payload.
    bool isSame = expected == found || (expected != expected && found != found);
    const auto scores = outContributions.Read();
    for (size_t i = 0; i < scores.size(); ++i)
    {
        isSame = isSame && (ToBits(scores[i]) == ToBits(contributions[i]) ||
                            (scores[i] != scores[i] && contributions[i] != contributions[i]));
    }
    return isSame && AreSame(bitmap, outBitmap) && outBlocks.Read()[0] == blocks;
}

bool
TestAdditions(const Gradient& values)
{
    const auto count = values.size();
    Gradient sum = MakeRandomGradient(count, 12);
    DeviceArray<float> outSum(sum);
    // NaN plus NaN has a payload that differs: those elements are left out of the addend.
    Gradient addend = values;
    for (auto& value : addend)
    {
        value = value == value ? value : 1.0F;
    }
    const size_t k = count / 10;
    std::vector<uint32_t> indices(k);
    Gradient selected(k);
    SelectTopK(addend, k, indices, selected);
    AddDense(addend, sum);
    AddSparse({indices, selected}, sum);
    DeviceArray<float> in(addend);
    DeviceArray<uint32_t> inIndices(indices);
    DeviceArray<float> inSelected(selected);
    Check(kernels::AddDense(in.Get(), count, outSum.Get(), nullptr));
    Check(kernels::AddSparse(inIndices.Get(), inSelected.Get(), k, outSum.Get(), nullptr));

    DeviceArray<float> dense(Gradient(count, 0.0F));
    DeviceArray<uint32_t> marks(std::vector<uint32_t>(CountBlocks(count, 32), 0));
    DeviceArray<uint32_t> unionIndices(k);
    DeviceArray<float> unionValues(k);
    DeviceArray<uint32_t> found(1);
    DeviceArray<char> workspace(kernels::GetSelectWorkspaceBytes(count));
    Check(kernels::AddSparseMarked(inIndices.Get(),
                                   inSelected.Get(),
                                   k,
                                   dense.Get(),
                                   marks.Get(),
                                   nullptr));
    Check(kernels::GatherMarked(dense.Get(),
                                marks.Get(),
                                count,
                                static_cast<uint32_t>(k),
                                unionIndices.Get(),
                                unionValues.Get(),
                                found.Get(),
                                workspace.Get(),
                                nullptr));
    const auto gathered = unionValues.Read();
    bool isSame = found.Read()[0] == k && AreSame(indices, unionIndices);
    for (size_t i = 0; i < k; ++i)
    {
        isSame = isSame && gathered[i] == selected[i]; // 0 + -0 is 0
    }
    return isSame && AreSame(sum, outSum);
}

struct Case
{
    const char* name;
    std::function<bool(const Gradient&)> test;
};

const std::vector<Case>&
GetCases()
{
    static const std::vector<Case> cases{{"int8", TestInt8},
                                         {"fp16 and bf16", TestSixteenBits},
                                         {"two-bit", TestTwoBits},
                                         {"fixed point", TestFixedPoint},
                                         {"top-k", TestTopK},
                                         {"Ok-Topk", TestOkTopK},
                                         {"DGC", TestDgc},
                                         {"bbTopk", TestBlockTopK},
                                         {"norm, DGT, OmniReduce", TestSums},
                                         {"additions", TestAdditions}};
    return cases;
}

} // namespace

int
main()
{
    int devices = 0;
    const bool hasDevice = cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
    if (!hasDevice)
    {
        std::printf("no GPU here: nothing was compared\n0 passed, 0 failed, %zu skipped\n",
                    GetCases().size());
        return 0;
    }
    int passed = 0;
    int failed = 0;
    for (const auto& [name, test] : GetCases())
    {
        bool isGood = true;
        auto lengths = GetNastyLengths();
        lengths.push_back((size_t{1} << 24) + 5);
        for (const size_t length : lengths)
        {
            for (const auto& gradient : MakeNastyGradients(length))
            {
                if (!test(gradient.values))
                {
                    std::printf("FAILED %s: %s, %zu elements\n",
                                name,
                                gradient.name.c_str(),
                                length);
                    isGood = false;
                }
            }
        }
        ++(isGood ? passed : failed);
    }
    std::printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
