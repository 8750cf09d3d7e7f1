// SPDX-License-Identifier: GPL-2.0-only
// THC. Part of kernels-test.
#include "device-array.h"
#include "support/nasty-gradients.h"
#include "thc-kernels.h"

#include "ns3/thc.h"

namespace ns3::gradsync
{

namespace
{

/// Norms that two workers share: the larger of each block.
Gradient
ShareNorms(const Gradient& one, const Gradient& other)
{
    Gradient norms(CountThcBlocks(one.size()));
    Gradient others(norms.size());
    FindThcNorms(one, norms);
    FindThcNorms(other, others);
    for (size_t block = 0; block < norms.size(); ++block)
    {
        norms[block] =
            MagnitudeKey(others[block]) > MagnitudeKey(norms[block]) ? others[block] : norms[block];
    }
    return norms;
}

} // namespace

bool
TestThc(const Gradient& values)
{
    constexpr uint32_t GRANULARITY = 30;
    const auto count = values.size();
    const auto coordinates = CountThcCoordinates(count);
    const auto table = MakeThcTable(GRANULARITY);
    const ThcDraw draw{uint64_t{7} << 32 | 1, 3};
    Gradient own(CountThcBlocks(count));
    FindThcNorms(values, own);
    const auto shared = ShareNorms(values, MakeRandomGradient(count, 5));
    std::vector<uint8_t> codes(GetThcCodeBytes(coordinates));
    std::vector<uint8_t> sums(coordinates, 2 * GRANULARITY); // of two workers before
    Gradient decoded(count);
    Gradient sum(count);
    EncodeThc(values, shared, table, draw, codes);
    DecodeThc(codes, shared, table, draw.iteration, decoded);
    const DeviceArray<uint8_t> outSums(sums);
    AddThc(codes, table, sums);
    DecodeThcSums(sums, shared, GRANULARITY, 3, draw.iteration, sum);

    const DeviceArray<float> in(values);
    const DeviceArray<float> inNorms(shared);
    const DeviceArray<float> outNorms(own.size());
    const DeviceArray<uint8_t> outCodes(codes.size());
    const DeviceArray<float> out(count);
    const DeviceArray<float> outSum(count);
    Check(kernels::FindThcNorms(in.Get(), count, outNorms.Get(), nullptr));
    Check(kernels::EncodeThc(in.Get(), count, inNorms.Get(), table, draw, outCodes.Get(), nullptr));
    Check(kernels::DecodeThc(outCodes.Get(),
                             inNorms.Get(),
                             count,
                             table,
                             draw.iteration,
                             out.Get(),
                             nullptr));
    Check(kernels::AddThc(outCodes.Get(), coordinates, table, outSums.Get(), nullptr));
    Check(kernels::DecodeThcSums(outSums.Get(),
                                 inNorms.Get(),
                                 count,
                                 GRANULARITY,
                                 3,
                                 draw.iteration,
                                 outSum.Get(),
                                 nullptr));
    return AreSame(own, outNorms) && AreSame(codes, outCodes) && AreSame(decoded, out) &&
           AreSame(sums, outSums) && AreSame(sum, outSum);
}

} // namespace ns3::gradsync
