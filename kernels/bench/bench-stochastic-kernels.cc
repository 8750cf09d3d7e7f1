// SPDX-License-Identifier: GPL-2.0-only
#include "bench-kernels.h"
#include "stochastic-kernels.h"

#include "ns3/codec-spec.h"

#include <algorithm>

namespace ns3::gradsync::bench
{

namespace
{

constexpr uint32_t QSGD_BUCKET = 512;
constexpr uint32_t QSGD_LEVELS = 7;
constexpr uint32_t VOTERS = 8;
constexpr double CLIP_DEVIATIONS = 2.5;

/// Each run draws other numbers.
RandomStream
TakeStream()
{
    static uint64_t message = 0;
    return {1, message++};
}

cudaError_t
EncodeTernGrad(const Buffers& b)
{
    auto* const scaler = b.found.As<float>();
    Check(kernels::FindTernaryScaler(b.gradient.As<float>(),
                                     b.count,
                                     CLIP_DEVIATIONS,
                                     scaler,
                                     b.workspace.As<void>(),
                                     b.stream));
    return kernels::EncodeTernaryWords(b.gradient.As<float>(),
                                       b.count,
                                       scaler,
                                       TakeStream(),
                                       b.codes.As<uint32_t>(),
                                       b.stream);
}

/// Of eight messages that hold whatever the buffer does: no branch depends on it but for ties.
cudaError_t
CountVotes(const Buffers& b)
{
    return kernels::CountMajority(b.gradient.As<uint32_t>(),
                                  VOTERS,
                                  b.count / 32,
                                  TakeStream(),
                                  b.codes.As<uint32_t>(),
                                  b.stream);
}

} // namespace

size_t
GetStochasticWorkspaceBytes(uint64_t elements)
{
    return kernels::GetTernaryWorkspaceBytes(elements);
}

void
AddStochasticKernels(std::vector<Kernel>& list)
{
    const auto in = [](const Buffers& b) { return b.gradient.As<float>(); };
    const auto out = [](const Buffers& b) { return b.out.As<float>(); };
    const auto codes = [](const Buffers& b) { return b.codes.As<uint8_t>(); };
    const auto words = [](const Buffers& b) { return b.codes.As<uint32_t>(); };
    const auto norms = [](const Buffers& b) { return b.velocity.As<float>(); };
    list.push_back({"qsgd-encode", 4.5078, [=](const Buffers& b) {
                        return kernels::EncodeQsgdBuckets(in(b),
                                                          b.count,
                                                          QSGD_BUCKET,
                                                          QSGD_LEVELS,
                                                          TakeStream(),
                                                          codes(b),
                                                          norms(b),
                                                          b.stream);
                    }});
    list.push_back({"qsgd-decode", 4.5078, [=](const Buffers& b) {
                        return kernels::DecodeQsgdBuckets(codes(b),
                                                          norms(b),
                                                          b.count,
                                                          QSGD_BUCKET,
                                                          QSGD_LEVELS,
                                                          out(b),
                                                          b.stream);
                    }});
    list.push_back({"terngrad-encode", 8.25, EncodeTernGrad});
    list.push_back(
        {"terngrad-decode", 4.25, [=](const Buffers& b) {
             auto* const scaler = b.found.As<float>();
             return kernels::DecodeTernaryWords(words(b), scaler, b.count, out(b), b.stream);
         }});
    list.push_back(
        {"signsgd-encode", 4.125, [=](const Buffers& b) {
             return kernels::EncodeSigns(in(b), b.count, TakeStream(), words(b), b.stream);
         }});
    list.push_back({"signsgd-decode", 4.125, [=](const Buffers& b) {
                        return kernels::DecodeSigns(words(b), b.count, 1.0F, out(b), b.stream);
                    }});
    list.push_back({"majority", 1.125, CountVotes}); // a bit of eight voters in, one out
}

} // namespace ns3::gradsync::bench
