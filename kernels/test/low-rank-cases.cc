// SPDX-License-Identifier: GPL-2.0-only
// PowerSGD. Part of kernels-test.
#include "device-array.h"
#include "low-rank-kernels.h"
#include "support/nasty-gradients.h"

#include "ns3/low-rank.h"

namespace ns3::gradsync
{

namespace
{

/// Each step with what the CPU's step before it made.
bool
AgreesLowRank(const Gradient& values, const LowRankShape& shape)
{
    const auto count = values.size();
    // Of the columns of Q every third is 0 and has to be drawn.
    Gradient start = MakeRandomGradient(CountColumnFactors(shape), 5);
    for (uint32_t j = 0; j < shape.rank; j += 3)
    {
        std::fill_n(start.begin() + static_cast<int64_t>(j) * shape.columns, shape.columns, 0.0F);
    }
    const DeviceArray<float> outStart(start);
    RestartColumns(start, shape);
    Gradient p(CountRowFactors(shape));
    ProjectRows(values, shape, start, p);
    Gradient orthogonal = p;
    Orthogonalise(orthogonal, shape);
    Gradient q(start.size());
    ProjectColumns(values, shape, orthogonal, q);
    Gradient decoded(count);
    ExpandFactors(orthogonal, q, shape, decoded);

    const DeviceArray<float> in(values);
    const DeviceArray<float> inStart(start);
    const DeviceArray<float> inOrthogonal(orthogonal);
    const DeviceArray<float> inQ(q);
    const DeviceArray<float> outP(p.size());
    const DeviceArray<float> outOrthogonal(p);
    const DeviceArray<float> outQ(q.size());
    const DeviceArray<float> out(count);
    const DeviceArray<std::byte> workspace(kernels::GetLowRankWorkspaceBytes(shape));
    Check(kernels::RestartColumns(outStart.Get(), shape, nullptr));
    Check(kernels::ProjectRows(in.Get(), count, shape, inStart.Get(), outP.Get(), nullptr));
    Check(kernels::Orthogonalise(outOrthogonal.Get(), shape, nullptr));
    Check(kernels::ProjectColumns(in.Get(),
                                  count,
                                  shape,
                                  inOrthogonal.Get(),
                                  outQ.Get(),
                                  workspace.Get(),
                                  nullptr));
    Check(kernels::ExpandFactors(inOrthogonal.Get(), inQ.Get(), shape, count, out.Get(), nullptr));
    return workspace.IsGuardWhole() && AreSame(start, outStart) && AreSame(p, outP) &&
           AreSame(orthogonal, outOrthogonal) && AreSame(q, outQ) && AreSame(decoded, out);
}

} // namespace

bool
TestLowRank(const Gradient& values)
{
    if (values.empty())
    {
        return true; // there is no such matrix; the codec leaves it dense
    }
    // Near-square; several looks at the matrix; one column of vectors; more columns than a tile.
    return AgreesLowRank(values, GetLowRankShape(values.size(), 0, 4)) &&
           AgreesLowRank(values, GetLowRankShape(values.size(), 12, 5)) &&
           AgreesLowRank(values, GetLowRankShape(values.size(), 4, 1)) &&
           AgreesLowRank(values, GetLowRankShape(values.size(), 516, 2));
}

} // namespace ns3::gradsync
