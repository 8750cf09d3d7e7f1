// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/codec-spec.h"

#include "ns3/block-top-k.h"
#include "ns3/low-rank.h"
#include "ns3/quantiser-arithmetic.h"
#include "ns3/quantisers.h"
#include "ns3/sparsifier-arithmetic.h"
#include "ns3/stochastic-quantisers.h"
#include "ns3/thc.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

namespace ns3::gradsync
{

namespace
{

constexpr uint64_t FLOAT_BYTES = 4;
constexpr uint64_t INDEX_BYTES = 4;
constexpr uint32_t HALF_BITS = 16;

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
DescribeValueBits()
{
    return {"valueBits",
            &CodecSpec::valueBits,
            HALF_BITS,
            32.0,
            "bits of each value that is sent: 32, or 16 for IEEE binary16",
            true};
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
    info.sharesScale = kind == CodecKind::Int8 || kind == CodecKind::Thc;
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
                   "local clipping to this norm; 0: none"},
                  DescribeValueBits()}),
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
        Describe(PowerSgd,
                 "powersgd",
                 "two factors of low rank, summed up one after the other",
                 "Vogels et al., NeurIPS'19",
                 {{"rank", &CodecSpec::rank, 1.0, LOW_RANK_MOST, "columns of the factors"},
                  {"columns",
                   &CodecSpec::columns,
                   0.0,
                   1U << 30,
                   "of the matrix that a tensor is to it, row by row; 0: nearly as many as rows"}}),
        Describe(Qsgd,
                 "qsgd",
                 "sign and level of each element, rounded at random, and a norm per bucket",
                 "Alistarh et al., NeurIPS'17",
                 {DescribeScaleBlock(),
                  {"levels",
                   &CodecSpec::levels,
                   1.0,
                   MAX_QSGD_LEVELS,
                   "beside 0: 1 in 2 bits an element, up to 7 in 4, more in 8"}}),
        Describe(
            SignSgd,
            "signsgd",
            "a sign per element; servers send the sign of most",
            "Bernstein et al., ICML'18, ICLR'19",
            {{"magnitude", &CodecSpec::magnitude, SMALLEST, LARGEST, "of what a sign decodes to"}}),
        Describe(Sq8,
                 "sq8",
                 "top-k with int8 values",
                 "DDS-based training framework, \"SQ8\"",
                 {DescribeDensity(), DescribeScaleBlock()}),
        Describe(TernGrad,
                 "terngrad",
                 "+-scaler or 0, rounded at random",
                 "Wen et al., NeurIPS'17",
                 {{"clipDeviations",
                   &CodecSpec::clipDeviations,
                   0.0,
                   LARGEST,
                   "clips at so many standard deviations; 0: no clipping"},
                  {"sharesScaler",
                   &CodecSpec::sharesScaler,
                   0.0,
                   1.0,
                   "1: all workers have one scaler, so that sums are whole numbers, which are not "
                   "encoded again; 0: each has its own"}}),
        Describe(Thc,
                 "thc",
                 "Hadamard transform and 4 bits by a table, whose sums are of 8 bits",
                 "Li et al., NSDI'24",
                 {{"granularity",
                   &CodecSpec::granularity,
                   THC_LEVELS - 1,
                   THC_LARGEST_SUM,
                   "largest value of the table: sums of w workers are at most w times it, and must "
                   "not exceed 255"}}),
        Describe(TopK,
                 "top-k",
                 "exact top-k, 4 bytes of index and 4 or 2 of value",
                 "DDS-based training framework, \"FP32 sparse\"",
                 {DescribeDensity(), DescribeValueBits()}),
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
        defaults.blockElements = codec.kind == BbTopK ? 1024
                                 : codec.kind == Qsgd ? 512
                                                      : defaults.blockElements;
        defaults.density = codec.kind == Dgc                         ? 0.001
                           : codec.kind == TopK || codec.kind == Sq8 ? 0.1
                                                                     : defaults.density;
    }
    return codecs;
}

/// \param addends messages in the sum
uint64_t
GetThcBytes(uint64_t elements, uint32_t addends)
{
    const uint64_t coordinates = CountThcCoordinates(elements);
    return FLOAT_BYTES * CountThcBlocks(elements) +
           (addends > 1 ? coordinates : GetThcCodeBytes(coordinates));
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

/// Numbers in both factors.
uint64_t
CountFactors(const CodecSpec& spec, uint64_t elements)
{
    const auto shape = GetLowRankShape(elements, spec.columns, spec.rank);
    return CountRowFactors(shape) + CountColumnFactors(shape);
}

/// The scaler, then whole words of `bits` an element; nothing for no elements.
uint64_t
GetTernaryBytes(uint64_t elements, uint64_t bits)
{
    return elements == 0 ? 0 : FLOAT_BYTES + 4 * CountBlocks(elements * bits, 32);
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

std::string
GetCodecName(const CodecSpec& spec)
{
    return GetCodecInfo(spec.kind).name + (spec.valueBits == HALF_BITS ? "-fp16" : "");
}

std::vector<CodecSpec>
GetNamedCodecs()
{
    std::vector<CodecSpec> specs;
    for (const auto& info : GetCodecs())
    {
        specs.push_back(info.defaults);
        const bool hasValueBits =
            std::ranges::any_of(info.parameters, [](const CodecParameter& parameter) {
                return parameter.field == CodecParameter::Field(&CodecSpec::valueBits);
            });
        if (hasValueBits)
        {
            specs.push_back(info.defaults);
            specs.back().valueBits = HALF_BITS;
        }
    }
    return specs;
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

bool
StaysDense(const CodecSpec& spec, uint64_t elements)
{
    return (spec.kind == CodecKind::BiSparse && elements < spec.minimumElements) ||
           (spec.kind == CodecKind::PowerSgd && CountFactors(spec, elements) >= elements);
}

uint64_t
GetMessageBytes(const CodecSpec& spec, uint64_t elements)
{
    if (StaysDense(spec, elements))
    {
        return FLOAT_BYTES * elements;
    }
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
        return (INDEX_BYTES + spec.valueBits / 8) * selected;
    case CodecKind::BiSparse:
        return (INDEX_BYTES + FLOAT_BYTES) * selected;
    case CodecKind::Sq8:
        return (INDEX_BYTES + 1) * selected +
               FLOAT_BYTES * CountBlocks(selected, spec.blockElements);
    case CodecKind::BbTopK:
        return GetBbTopKBytes(spec, elements);
    case CodecKind::Thc:
        return GetThcBytes(elements, 1);
    case CodecKind::Qsgd:
        return CountQsgdBytes(elements, spec.levels) +
               FLOAT_BYTES * CountBlocks(elements, spec.blockElements);
    case CodecKind::TernGrad:
        return GetTernaryBytes(elements, 2);
    case CodecKind::SignSgd:
        return 4 * CountBlocks(elements, SIGNS_PER_WORD);
    case CodecKind::PowerSgd:
        return FLOAT_BYTES * CountFactors(spec, elements);
    case CodecKind::Fp32:
    case CodecKind::FixedPoint:
        break;
    }
    return FLOAT_BYTES * elements;
}

uint64_t
GetSummandBytes(const CodecSpec& spec, uint64_t elements)
{
    return spec.kind == CodecKind::Int8  ? elements
           : spec.kind == CodecKind::Thc ? CountThcCoordinates(elements)
                                         : GetMessageBytes(spec, elements);
}

uint32_t
GetMostSummands(const CodecSpec& spec)
{
    return spec.kind == CodecKind::Int8  ? BYTE_SUM_MAXIMUM // beyond, each has only 0 left
           : spec.kind == CodecKind::Thc ? CountThcWorkers(spec.granularity)
                                         : std::numeric_limits<uint32_t>::max();
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

bool
SendsSums(const CodecSpec& spec)
{
    return GetCodecInfo(spec.kind).isSparse || spec.kind == CodecKind::Thc ||
           spec.kind == CodecKind::PowerSgd ||
           (spec.kind == CodecKind::TernGrad && spec.sharesScaler != 0);
}

uint64_t
GetMergedMessageBytes(const CodecSpec& spec, uint64_t elements, uint32_t contributions)
{
    if (spec.kind == CodecKind::Thc)
    {
        return GetThcBytes(elements, contributions);
    }
    if (spec.kind == CodecKind::TernGrad && SendsSums(spec))
    {
        // -q to q are 2 q + 1 numbers: as many bits as 2 q has.
        const uint64_t most = 2 * uint64_t{std::max(contributions, 1U)};
        return std::min(FLOAT_BYTES * elements,
                        GetTernaryBytes(elements, static_cast<uint64_t>(std::bit_width(most))));
    }
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
