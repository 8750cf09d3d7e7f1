// SPDX-License-Identifier: GPL-2.0-only
#include "bench-kernels.h"
#include "low-rank-kernels.h"

#include "ns3/codec-spec.h"

namespace ns3::gradsync::bench
{

namespace
{

LowRankShape
GetShape(uint64_t elements)
{
    const auto& defaults = GetCodecInfo(CodecKind::PowerSgd).defaults;
    return GetLowRankShape(elements, defaults.columns, defaults.rank);
}

float*
GetP(const Buffers& b)
{
    return b.velocity.As<float>();
}

float*
GetQ(const Buffers& b)
{
    return b.accumulated.As<float>();
}

/// Q is drawn once, and is that of the run before from then on.
cudaError_t
EncodeP(const Buffers& b)
{
    const auto shape = GetShape(b.count);
    Check(kernels::RestartColumns(GetQ(b), shape, b.stream));
    return kernels::ProjectRows(b.gradient.As<float>(), b.count, shape, GetQ(b), GetP(b), b.stream);
}

cudaError_t
EncodeQ(const Buffers& b)
{
    const auto shape = GetShape(b.count);
    Check(kernels::Orthogonalise(GetP(b), shape, b.stream));
    return kernels::ProjectColumns(b.gradient.As<float>(),
                                   b.count,
                                   shape,
                                   GetP(b),
                                   GetQ(b),
                                   b.workspace.As<void>(),
                                   b.stream);
}

cudaError_t
Decode(const Buffers& b)
{
    const auto shape = GetShape(b.count);
    return kernels::ExpandFactors(GetP(b), GetQ(b), shape, b.count, b.out.As<float>(), b.stream);
}

} // namespace

size_t
GetLowRankBenchWorkspaceBytes(uint64_t elements)
{
    return kernels::GetLowRankWorkspaceBytes(GetShape(elements));
}

void
AddLowRankKernels(std::vector<Kernel>& list)
{
    list.push_back({"powersgd-encode-p", 4.0, EncodeP});
    list.push_back({"powersgd-encode-q", 4.0, EncodeQ});
    list.push_back({"powersgd-decode", 4.0, Decode});
}

} // namespace ns3::gradsync::bench
