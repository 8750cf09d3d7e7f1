// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CODEC_SPEC_H
#define GRADSYNC_CODEC_SPEC_H

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ns3::gradsync
{

/// The codecs there are.
enum class CodecKind : uint8_t
{
    Fp32, //!< none
    Int8,
    Fp16,
    Bf16,
    TwoBit,
    FixedPoint,
    TopK,
    Sq8,
    Dgc,
    BiSparse,
    BbTopK,
    Thc,
    Qsgd,
    TernGrad,
    SignSgd,
    PowerSgd
};

/// A codec with its parameters. Each codec looks only at those that CodecInfo lists for it.
struct CodecSpec
{
    CodecKind kind{CodecKind::Fp32};
    double density{0.01};         //!< share of the elements that a sparse codec sends, in (0, 1]
    uint32_t blockElements{8192}; //!< that share a scale or norm; of bbTopk: that select together
    double threshold{0.5};        //!< of the 2-bit codec, in units of the gradient
    double factor{1e8};           //!< of fixed point
    uint32_t warmUp{0};       //!< iterations of each step of DGC's warm-up (GetDensity); 0: none
    double sampleRate{0.005}; //!< share of the elements that DGC's threshold is taken from
    double momentum{0.9};     //!< of DGC
    double clipNorm{0.0};     //!< DGC's local clipping; 0: none
    uint32_t valueBits{32};   //!< of each value that top-k and DGC send: 32, or 16 for binary16
    uint64_t minimumElements{200'000}; //!< BiSparse leaves shorter tensors dense
    uint32_t granularity{30};          //!< of THC: the largest value of its table
    uint32_t levels{7};                //!< of QSGD, beside 0
    double clipDeviations{2.5};        //!< TernGrad's clipping; 0: none
    uint32_t sharesScaler{0};          //!< 1: all workers take the largest scaler of TernGrad's
    double magnitude{1.0};             //!< of what signSGD's signs decode to
    uint32_t rank{4};                  //!< of PowerSGD: columns of its factors
    uint32_t columns{0};               //!< of its matrix; 0: nearly as many as rows
    /// Of the codecs that draw random numbers; no two workers or tensors may have the same.
    uint64_t seed{0};
    /// Share of the elements in the union of 1, 2, ... selections, as measured; empty: as if they
    /// were independent.
    std::vector<double> unions{};
};

/// What scenarios can set of a codec: a field of its CodecSpec, whose default is that of the codec.
struct CodecParameter
{
    using Field = std::variant<double CodecSpec::*, uint32_t CodecSpec::*, uint64_t CodecSpec::*>;

    std::string name; //!< as scenario files give it
    Field field;
    double minimum; //!< inclusive
    double maximum;
    std::string help; //!< one line: meaning, unit, meaning of 0
    bool isPowerOfTwo{false};
};

/// What is known of a codec.
struct CodecInfo
{
    CodecKind kind;
    std::string name; //!< as scenario files give it
    std::string summary;
    std::string source; //!< paper and section
    bool isSparse;      //!< sends indices
    bool isSummable;    //!< messages can be added without decoding them (GetSummandBytes)
    bool sharesScale;   //!< for that, those who add must share a scale that depends on the data
    std::vector<CodecParameter> parameters; //!< what it looks at
    CodecSpec defaults;
};

/// All codecs, sorted by name.
const std::vector<CodecInfo>& GetCodecs();

/// The codec of that name, or nullptr.
const CodecInfo* FindCodec(std::string_view name);

const CodecInfo& GetCodecInfo(CodecKind kind);

/// The codec's name and, of sparse values in 16 bits, "-fp16": profiles name its kernels by it.
std::string GetCodecName(const CodecSpec& spec);

/// All that have a name of their own: each codec with its defaults, and those with values in 16
/// bits.
std::vector<CodecSpec> GetNamedCodecs();

/// Densities of the steps of DGC's warm-up, each of an epoch (Lin et al., ICLR'18, section 3.3).
inline constexpr double DGC_WARM_UP[] = {0.25, 0.063, 0.015, 0.004, 0.001};

/**
 * Density of an iteration, from 0: with a warm-up first those of DGC_WARM_UP, for `warmUp`
 * iterations each and never below the codec's own, which holds after it.
 */
double GetDensity(const CodecSpec& spec, uint64_t iteration);

/**
 * Elements that a sparse codec selects of `elements`: the nearest whole number to density *
 * elements, at least 1 unless there are none.
 */
uint64_t CountSelected(double density, uint64_t elements);

/// After the warm-up.
uint64_t CountSelected(const CodecSpec& spec, uint64_t elements);

/// Whether the codec leaves a tensor of that size as it is: BiSparse what has few elements,
/// PowerSGD what has no fewer than its factors.
bool StaysDense(const CodecSpec& spec, uint64_t elements);

/**
 * Bytes of the message that holds `elements` float32 values, after a warm-up. Exact for all codecs;
 * DGC and BiSparse may send fewer where fewer elements reach the threshold.
 */
uint64_t GetMessageBytes(const CodecSpec& spec, uint64_t elements);

/**
 * Bytes of what is aggregated without decoding it, for a codec that is summable. A scale that is
 * shared is no part of it.
 */
uint64_t GetSummandBytes(const CodecSpec& spec, uint64_t elements);

/// Workers whose messages can be added without decoding them: that their sum fits, or says more
/// than 0.
uint32_t GetMostSummands(const CodecSpec& spec);

/**
 * Share of the elements in the union of so many selections: 1 - (1 - density)^selections if they
 * are independent of each other (reference, bbTopk), or as `unions` says. Beyond
 * the last of these it grows on with a power of the number, the one from half of them to all.
 */
double GetUnionDensity(const CodecSpec& spec, uint32_t selections);

/**
 * Whether a gradient is encoded once, at its worker, and sums go on as what was added: unions of
 * sparse codecs, sums of THC's codes and PowerSGD's factors, and with a shared scaler TernGrad's
 * whole numbers.
 */
bool SendsSums(const CodecSpec& spec);

/**
 * Bytes of the message that holds the sum of several workers' gradients. Of sparse codecs that is
 * the union of what they selected (GetUnionDensity); BiSparse pads it to contributions * k
 * (GeoMX, section 4), and never more than the dense gradient. Of THC it is the sum of its codes, of
 * 8 bits each. TernGrad's sums of q gradients have ceil(log2(2 q + 1)) bits an element where they
 * share a scaler (Wen et al., NeurIPS'17, section 3.2). Codecs that encode sums anew, signSGD's
 * vote among them, send them as any gradient.
 */
uint64_t GetMergedMessageBytes(const CodecSpec& spec, uint64_t elements, uint32_t contributions);

} // namespace ns3::gradsync

#endif // GRADSYNC_CODEC_SPEC_H
