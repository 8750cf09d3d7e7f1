// SPDX-License-Identifier: GPL-2.0-only
// Codecs that select elements. Part of kernels-test.
#include "compression-kernels.h"
#include "device-array.h"
#include "message-kernels.h"

#include "ns3/block-top-k.h"
#include "ns3/dgc-selector.h"
#include "ns3/sparse-selection.h"
#include "ns3/sparsifier-arithmetic.h"

#include <algorithm>
#include <span>

namespace ns3::gradsync
{

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
                                  workspace.Get(),
                                  nullptr));
        isSame = isSame && AreSame(indices, outIndices) && AreSame(selected, out) &&
                 workspace.IsGuardWhole();
    }
    return isSame;
}

bool
TestSparseMessages(const Gradient& values)
{
    // Where a tile begins 33 parts of the entries are searched at once: multiples and powers of 33,
    // and numbers beside them. Entries are all at the front, or as far apart as they can be.
    bool isSame = true;
    for (const size_t wanted : {0, 1, 32, 33, 34, 66, 99, 891, 1088, 1089, 1090, 4096, 35937})
    {
        const size_t count = std::min(wanted, values.size());
        for (const size_t stride : {size_t{1}, values.size() / std::max(count, size_t{1})})
        {
            std::vector<uint32_t> indices(count);
            const Gradient sent(values.begin(), values.begin() + static_cast<ptrdiff_t>(count));
            Gradient expected(values.size(), 0.0F);
            for (size_t i = 0; i < count; ++i)
            {
                indices[i] = static_cast<uint32_t>(stride * i);
                expected[stride * i] = sent[i];
            }
            const DeviceArray<uint32_t> inIndices(indices);
            const DeviceArray<float> in(sent);
            DeviceArray<float> out(values.size());
            Check(kernels::ScatterSparse(inIndices.Get(),
                                         in.Get(),
                                         count,
                                         values.size(),
                                         out.Get(),
                                         nullptr));
            isSame = isSame && AreSame(expected, out);
        }
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
    const DeviceArray<uint64_t> number(std::vector<uint64_t>{0});
    bool isSame = true;
    for (uint64_t iteration = 0; iteration < 3; ++iteration)
    {
        const kernels::DgcIteration parameters{spec.density,
                                               spec.sampleRate,
                                               static_cast<float>(spec.momentum),
                                               spec.clipNorm};
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
                                 number.Get(),
                                 outIndices.Get(),
                                 out.Get(),
                                 outFound.Get(),
                                 workspace.Get(),
                                 nullptr));
        const auto u = selector.GetVelocity();
        const auto v = selector.GetAccumulated();
        isSame = isSame && outFound.Read()[0] == found && AreSame(indices, outIndices, found) &&
                 AreSame(selected, out, found) && workspace.IsGuardWhole() &&
                 number.Read()[0] == (values.empty() ? 0 : iteration + 1) &&
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

} // namespace ns3::gradsync
