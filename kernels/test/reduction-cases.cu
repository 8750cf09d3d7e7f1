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

} // namespace ns3::gradsync
