// SPDX-License-Identifier: GPL-2.0-only
// Codecs that draw random numbers: the same numbers on both sides. Part of kernels-test.
#include "device-array.h"
#include "stochastic-kernels.h"
#include "support/nasty-gradients.h"

#include "ns3/quantisers.h"
#include "ns3/stochastic-quantisers.h"

namespace ns3::gradsync
{

namespace
{

/// Seed and message with bits in all four words.
constexpr RandomStream RANDOM{0x123456789abcdef0ULL, 0xfedcba9876543210ULL};

/// One number of bits per code, and one size of buckets.
bool
AgreesQsgd(const Gradient& values, uint32_t block, uint32_t levels)
{
    const auto count = values.size();
    std::vector<uint8_t> codes(CountQsgdBytes(count, levels));
    Gradient norms(CountBlocks(count, block));
    Gradient decoded(count);
    EncodeQsgdBuckets(values, block, levels, RANDOM, codes, norms);
    DecodeQsgdBuckets(codes, norms, block, levels, decoded);
    const DeviceArray<float> in(values);
    const DeviceArray<uint8_t> outCodes(codes.size());
    const DeviceArray<float> outNorms(norms.size());
    const DeviceArray<float> out(count);
    Check(kernels::EncodeQsgdBuckets(in.Get(),
                                     count,
                                     block,
                                     levels,
                                     RANDOM,
                                     outCodes.Get(),
                                     outNorms.Get(),
                                     nullptr));
    Check(kernels::DecodeQsgdBuckets(outCodes.Get(),
                                     outNorms.Get(),
                                     count,
                                     block,
                                     levels,
                                     out.Get(),
                                     nullptr));
    return AreSame(codes, outCodes) && AreSame(norms, outNorms) && AreSame(decoded, out);
}

bool
AgreesTernary(const Gradient& values, double clipDeviations)
{
    const auto count = values.size();
    const std::vector<float> scaler{FindTernaryScaler(values, clipDeviations)};
    std::vector<uint32_t> words(CountBlocks(count, TWO_BITS_PER_WORD));
    Gradient decoded(count);
    EncodeTernaryWords(values, scaler[0], RANDOM, words);
    DecodeTernaryWords(words, scaler[0], decoded);
    const DeviceArray<float> in(values);
    const DeviceArray<float> outScaler(1);
    const DeviceArray<uint32_t> outWords(words.size());
    const DeviceArray<float> out(count);
    const DeviceArray<char> workspace(kernels::GetTernaryWorkspaceBytes(count));
    Check(kernels::FindTernaryScaler(in.Get(),
                                     count,
                                     clipDeviations,
                                     outScaler.Get(),
                                     workspace.Get(),
                                     nullptr));
    Check(kernels::EncodeTernaryWords(in.Get(),
                                      count,
                                      outScaler.Get(),
                                      RANDOM,
                                      outWords.Get(),
                                      nullptr));
    Check(kernels::DecodeTernaryWords(outWords.Get(), outScaler.Get(), count, out.Get(), nullptr));
    return AreSame(scaler, outScaler) && AreSame(words, outWords) && AreSame(decoded, out) &&
           workspace.IsGuardWhole();
}

/// Votes of gradients that agree in some elements: all have the values, times numbers of chance.
bool
AgreesVote(const Gradient& values, uint32_t voters)
{
    const auto count = CountBlocks(values.size(), SIGNS_PER_WORD);
    std::vector<uint32_t> all;
    for (uint32_t voter = 0; voter < voters; ++voter)
    {
        auto own = MakeRandomGradient(values.size(), voter);
        for (size_t i = 0; i < own.size(); ++i)
        {
            own[i] *= values[i];
        }
        std::vector<uint32_t> words(count);
        EncodeSigns(own, {voter, 7}, words);
        all.insert(all.end(), words.begin(), words.end());
    }
    std::vector<std::span<const uint32_t>> votes;
    for (uint32_t voter = 0; voter < voters; ++voter)
    {
        votes.push_back(std::span<const uint32_t>(all).subspan(voter * count, count));
    }
    std::vector<uint32_t> majority(count);
    CountMajority(votes, RANDOM, majority);
    const DeviceArray<uint32_t> in(all);
    const DeviceArray<uint32_t> out(count);
    Check(kernels::CountMajority(in.Get(), voters, count, RANDOM, out.Get(), nullptr));
    return AreSame(majority, out);
}

} // namespace

bool
TestQsgd(const Gradient& values)
{
    const auto invalid = cudaErrorInvalidValue;
    return AgreesQsgd(values, 512, 1) && AgreesQsgd(values, 512, 7) && AgreesQsgd(values, 4, 5) &&
           AgreesQsgd(values, 132, 127) &&
           kernels::EncodeQsgdBuckets(nullptr, 1, 6, 7, RANDOM, nullptr, nullptr, nullptr) ==
               invalid &&
           kernels::DecodeQsgdBuckets(nullptr, nullptr, 1, 4, 128, nullptr, nullptr) == invalid;
}

bool
TestTernGrad(const Gradient& values)
{
    return values.empty() || (AgreesTernary(values, 0.0) && AgreesTernary(values, 2.5));
}

bool
TestSignSgd(const Gradient& values)
{
    std::vector<uint32_t> words(CountBlocks(values.size(), SIGNS_PER_WORD));
    Gradient decoded(values.size());
    EncodeSigns(values, RANDOM, words);
    DecodeSigns(words, 0.25F, decoded);
    const DeviceArray<float> in(values);
    const DeviceArray<uint32_t> outWords(words.size());
    const DeviceArray<float> out(values.size());
    Check(kernels::EncodeSigns(in.Get(), values.size(), RANDOM, outWords.Get(), nullptr));
    Check(kernels::DecodeSigns(outWords.Get(), values.size(), 0.25F, out.Get(), nullptr));
    return AreSame(words, outWords) && AreSame(decoded, out) && AgreesVote(values, 1) &&
           AgreesVote(values, 4) && AgreesVote(values, 9);
}

} // namespace ns3::gradsync
