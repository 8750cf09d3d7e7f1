// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/gradient-codec.h"

#include "ns3/sized-codec.h"

namespace ns3::gradsync
{

GradientCodec::GradientCodec(uint64_t elements)
    : m_elements(elements)
{
}

uint64_t
GradientCodec::GetWorkspaceBytes() const
{
    return 0;
}

std::unique_ptr<GradientCodec>
MakeCodec(const CodecSpec& spec, uint64_t elements)
{
    CodecSpec used = spec;
    used.kind = StaysDense(spec, elements)         ? CodecKind::Fp32
                : spec.kind == CodecKind::BiSparse ? CodecKind::Dgc
                                                   : spec.kind;
    return GetCodecInfo(used.kind).isSparse ? MakeSparseCodec(used, elements)
                                            : MakeDenseCodec(used, elements);
}

} // namespace ns3::gradsync
