// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/codec-spec.h"

#include "ns3/block-top-k.h"
#include "ns3/quantisers.h"
#include "ns3/sparsifier-arithmetic.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace ns3::gradsync
{

namespace
{

constexpr uint64_t FLOAT_BYTES = 4;
constexpr uint64_t INDEX_BYTES = 4;

constexpr double SMALLEST = 1e-30; //!< of what gradients are multiplied or compared with
constexpr double LARGEST = 1e30;
constexpr double SMALLEST_SHARE = 1e-9;
constexpr double MAX_INTEGER = std::numeric_limits<uint32_t>::max();

CodecParameter
DescribeDensity()
{
    return {"density",
            &CodecSpec::density,
            SMALLEST_SHARE,
            1.0,
            "share of the elements that are sent, or a file with measured unions of selections, "
            "from the folder of the scenario"};
}

CodecParameter
DescribeSampleRate()
{
    return {"sampleRate",
            &CodecSpec::sampleRate,
            SMALLEST_SHARE,
            1.0,
            "share of the elements from which the threshold is taken"};
}

CodecParameter
DescribeMomentum()
{
    return {"momentum", &CodecSpec::momentum, 0.0, 1.0, "of the momentum correction"};
}

CodecParameter
DescribeScaleBlock()
{
    return {"blockElements",
            &CodecSpec::blockElements,
            1.0,
            1U << 30,
            "elements that share a scale"};
}

CodecInfo
Describe(CodecKind kind,
         const std::string& name,
         const std::string& summary,
         const std::string& source,
         std::vector<CodecParameter> parameters)
{
    CodecInfo info{kind, name, summary, source, false, false, false, std::move(parameters), {}};
    info.defaults.kind = kind;
    info.isSparse = std::ranges::any_of(info.parameters, [](const CodecParameter& parameter) {
        return parameter.field == CodecParameter::Field(&CodecSpec::density);
    });
    info.sharesScale = kind == CodecKind::Int8;
    info.isSummable = kind == CodecKind::Fp32 || kind == CodecKind::FixedPoint || info.sharesScale;
    return info;
}

std::vector<CodecInfo>
MakeCodecs()
{
    using enum CodecKind;
    std::vector<CodecInfo> codecs{
        Describe(BbTopK,
                 "bbtopk",
                 "top-k of each block, indices of log2(block) bits",
                 "Chen et al., ICDCS'23",
                 {DescribeDensity(),
                  {"blockElements",
                   &CodecSpec::blockElements,
                   1.0,
                   1U << 16, // its offsets have 16 bits
                   "elements of a block, a power of two",
                   true}}),
        Describe(Bf16, "bf16", "bfloat16, ties to even", "", {}),
        Describe(BiSparse,
                 "bisparse",
                 "DGC of long tensors, short ones dense",
                 "GeoMX, Li et al. 2020, section 4",
                 {DescribeDensity(),
                  DescribeSampleRate(),
                  DescribeMomentum(),
                  {"minimumElements",
                   &CodecSpec::minimumElements,
                   0.0,
                   MAX_INTEGER,
                   "shorter tensors stay dense"}}),
        Describe(Dgc,
                 "dgc",
                 "deep gradient compression: momentum correction and a sampled threshold",
                 "Lin et al., ICLR'18",
                 {DescribeDensity(),
                  {"warmUp",
                   &CodecSpec::warmUp,
                   0.0,
                   MAX_INTEGER,
                   "iterations at each of the densities 0.25, 0.063, 0.015 and 0.004 before its "
                   "own; 0: none"},
                  DescribeSampleRate(),
                  DescribeMomentum(),
                  {"clipNorm",
                   &CodecSpec::clipNorm,
                   0.0,
                   LARGEST,
                   "local clipping to this norm; 0: none"}}),
        Describe(FixedPoint,
                 "fixed-point",
                 "int32, multiplied by a factor and saturating; switches can add it",
                 "PASSING, Yu et al. 2025",
                 {{"factor", &CodecSpec::factor, SMALLEST, LARGEST, "factor before rounding"}}),
        Describe(Fp16, "fp16", "IEEE binary16, ties to even", "", {}),
        Describe(Fp32, "fp32", "the gradient as it is", "", {}),
        Describe(Int8,
                 "int8",
                 "8 bits and one scale per block",
                 "DDS-based training framework, \"INT8\"",
                 {DescribeScaleBlock()}),
        Describe(Sq8,
                 "sq8",
                 "top-k with int8 values",
                 "DDS-based training framework, \"SQ8\"",
                 {DescribeDensity(), DescribeScaleBlock()}),
        Describe(TopK,
                 "top-k",
                 "exact top-k, 4 bytes of index and 4 of value",
                 "DDS-based training framework, \"FP32 sparse\"",
                 {DescribeDensity()}),
        Describe(TwoBit,
                 "two-bit",
                 "+-threshold or 0, the rest kept",
                 "Strom, Interspeech'15",
                 {{"threshold",
                   &CodecSpec::threshold,
                   SMALLEST,
                   LARGEST,
                   "what is sent once it has gathered"}}),
    };
    for (auto& codec : codecs)
    {
        auto& defaults = codec.defaults;
        defaults.blockElements = codec.kind == BbTopK ? 1024 : defaults.blockElements;
        defaults.density = codec.kind == Dgc                         ? 0.001
                           : codec.kind == TopK || codec.kind == Sq8 ? 0.1
                                                                     : defaults.density;
    }
    return codecs;
}

uint64_t
GetBbTopKBytes(const CodecSpec& spec, uint64_t elements)
{
    const uint64_t selected =
        CountBlockTopK(elements,
                       spec.blockElements,
                       static_cast<uint32_t>(CountSelected(spec, spec.blockElements)));
    return FLOAT_BYTES * selected + CountBlocks(selected * GetIndexBits(spec.blockElements), 8);
}

} // namespace

const std::vector<CodecInfo>&
GetCodecs()
{
    static const std::vector<CodecInfo> codecs = MakeCodecs();
    return codecs;
}

const CodecInfo*
FindCodec(std::string_view name)
{
    const auto& codecs = GetCodecs();
    const auto found = std::find_if(codecs.begin(), codecs.end(), [=](const CodecInfo& codec) {
        return codec.name == name;
    });
    return found == codecs.end() ? nullptr : &*found;
}

const CodecInfo&
GetCodecInfo(CodecKind kind)
{
    return *std::find_if(GetCodecs().begin(), GetCodecs().end(), [=](const CodecInfo& codec) {
        return codec.kind == kind;
    });
}

double
GetDensity(const CodecSpec& spec, uint64_t iteration)
{
    const uint64_t step = spec.warmUp == 0 ? std::size(DGC_WARM_UP) : iteration / spec.warmUp;
    return step < std::size(DGC_WARM_UP) ? std::max(DGC_WARM_UP[step], spec.density) : spec.density;
}

uint64_t
CountSelected(double density, uint64_t elements)
{
    const auto wanted =
        static_cast<uint64_t>(std::llround(density * static_cast<double>(elements)));
    return std::min(std::max<uint64_t>(wanted, 1), elements);
}

uint64_t
CountSelected(const CodecSpec& spec, uint64_t elements)
{
    return CountSelected(spec.density, elements);
}

uint64_t
GetMessageBytes(const CodecSpec& spec, uint64_t elements)
{
    const uint64_t selected = CountSelected(spec, elements);
    switch (spec.kind)
    {
    case CodecKind::Int8:
        return elements + FLOAT_BYTES * CountBlocks(elements, spec.blockElements);
    case CodecKind::Fp16:
    case CodecKind::Bf16:
        return 2 * elements;
    case CodecKind::TwoBit:
        return FLOAT_BYTES * CountBlocks(elements, 16);
    case CodecKind::TopK:
    case CodecKind::Dgc:
        return (INDEX_BYTES + FLOAT_BYTES) * selected;
    case CodecKind::BiSparse:
        return elements < spec.minimumElements ? FLOAT_BYTES * elements
                                               : (INDEX_BYTES + FLOAT_BYTES) * selected;
    case CodecKind::Sq8:
        return (INDEX_BYTES + 1) * selected +
               FLOAT_BYTES * CountBlocks(selected, spec.blockElements);
    case CodecKind::BbTopK:
        return GetBbTopKBytes(spec, elements);
    case CodecKind::Fp32:
    case CodecKind::FixedPoint:
        break;
    }
    return FLOAT_BYTES * elements;
}

uint64_t
GetSummandBytes(const CodecSpec& spec, uint64_t elements)
{
    return spec.kind == CodecKind::Int8 ? elements : GetMessageBytes(spec, elements);
}

double
GetUnionDensity(const CodecSpec& spec, uint32_t selections)
{
    const auto& unions = spec.unions;
    if (unions.empty())
    {
        return 1.0 - std::pow(1.0 - spec.density, selections);
    }
    const auto count = static_cast<uint32_t>(unions.size());
    if (selections <= count)
    {
        return unions[std::max(selections, 1U) - 1];
    }
    const uint32_t half = std::max(count / 2, 1U);
    const double exponent = half == count ? 1.0
                                          : std::log(unions[count - 1] / unions[half - 1]) /
                                                std::log(static_cast<double>(count) / half);
    const double growth = std::pow(static_cast<double>(selections) / count, exponent);
    return std::min(1.0, unions[count - 1] * growth);
}

uint64_t
GetMergedMessageBytes(const CodecSpec& spec, uint64_t elements, uint32_t contributions)
{
    if (!GetCodecInfo(spec.kind).isSparse)
    {
        return GetMessageBytes(spec, elements);
    }
    const uint64_t dense = FLOAT_BYTES * elements;
    if (spec.kind == CodecKind::BiSparse)
    {
        return std::min(dense, GetMessageBytes(spec, elements) * std::max(contributions, 1U));
    }
    CodecSpec merged = spec;
    if (contributions > 1)
    {
        merged.density = GetUnionDensity(spec, contributions);
    }
    return std::min(dense, GetMessageBytes(merged, elements));
}

} // namespace ns3::gradsync
