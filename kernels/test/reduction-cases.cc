// SPDX-License-Identifier: GPL-2.0-only
// Sums, scores and unions. Part of kernels-test.
#include "compression-kernels.h"
#include "device-array.h"
#include "support/nasty-gradients.h"

#include "ns3/float-bits.h"
#include "ns3/gradient-reductions.h"
#include "ns3/quantisers.h"
#include "ns3/sparse-selection.h"
#include "ns3/sparsifier-arithmetic.h"

#include <algorithm>

namespace ns3::gradsync
{

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

/// Whether a message and one that shares half of its indices come together as on the CPU.
static bool
TestUnion(uint64_t count, const SparseGradient& first)
{
    std::vector<uint32_t> indices;
    for (uint32_t index = 1; index < count; index += 7)
    {
        indices.push_back(index);
    }
    for (size_t i = 0; i < first.indices.size(); i += 2)
    {
        indices.push_back(first.indices[i]);
    }
    std::sort(indices.begin(), indices.end());
    indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
    const Gradient values = MakeRandomGradient(indices.size(), 13);
    std::vector<uint32_t> expected(first.indices.size() + indices.size());
    Gradient sums(expected.size());
    const auto size = MergeSparse({first, {indices, values}}, expected, sums);

    DeviceArray<float> dense(Gradient(count, 0.0F));
    DeviceArray<uint32_t> marks(std::vector<uint32_t>(CountBlocks(count, 32), 0));
    for (const auto& message : {first, SparseGradient{indices, values}})
    {
        DeviceArray<uint32_t> inIndices(
            std::vector<uint32_t>(message.indices.begin(), message.indices.end()));
        DeviceArray<float> inValues(Gradient(message.values.begin(), message.values.end()));
        Check(kernels::AddSparseMarked(inIndices.Get(),
                                       inValues.Get(),
                                       message.indices.size(),
                                       dense.Get(),
                                       marks.Get(),
                                       nullptr));
    }
    DeviceArray<uint32_t> outIndices(expected.size());
    DeviceArray<float> outSums(expected.size());
    DeviceArray<uint32_t> found(1);
    DeviceArray<char> workspace(kernels::GetSelectWorkspaceBytes(count));
    Check(kernels::GatherMarked(dense.Get(),
                                marks.Get(),
                                count,
                                static_cast<uint32_t>(expected.size()),
                                outIndices.Get(),
                                outSums.Get(),
                                found.Get(),
                                workspace.Get(),
                                nullptr));
    const auto gathered = outSums.Read();
    bool isSame = found.Read()[0] == size && AreSame(expected, outIndices, size);
    for (size_t i = 0; i < size; ++i)
    {
        isSame = isSame && gathered[i] == sums[i]; // 0 + -0 is 0
    }
    return isSame;
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

    return AreSame(sum, outSum) && TestUnion(count, {indices, selected});
}

} // namespace ns3::gradsync
