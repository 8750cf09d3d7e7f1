// SPDX-License-Identifier: GPL-2.0-only
#include "bench-kernels.h"

#include "compression-kernels.h"
#include "message-kernels.h"
#include "thc-kernels.h"

#include "ns3/codec-spec.h"
#include "ns3/sparsifier-arithmetic.h"
#include "ns3/thc.h"

#include <algorithm>
#include <cuda_runtime.h>

namespace ns3::gradsync::bench
{

namespace
{

/// At the codec's defaults.
constexpr kernels::DgcIteration DGC{0.001, 0.005, 0.9F, 0.0};

uint64_t
CountShare(CodecKind kind, uint64_t elements)
{
    return CountSelected(GetCodecInfo(kind).defaults, elements);
}

cudaError_t
RunTopK(const Buffers& b)
{
    const uint64_t k = CountShare(CodecKind::TopK, b.count);
    return kernels::SelectTopK(b.gradient.As<float>(),
                               b.count,
                               k,
                               b.out.As<uint32_t>(),
                               b.GetValues(k),
                               b.workspace.As<void>(),
                               b.stream);
}

/// Zeros, then a message: the indices are those that the last selection left, so of k elements.
cudaError_t
RunScatter(const Buffers& b, CodecKind kind)
{
    const uint64_t k = CountShare(kind, b.count);
    return kernels::ScatterSparse(b.out.As<uint32_t>(),
                                  b.GetValues(k),
                                  k,
                                  b.count,
                                  b.codes.As<float>(),
                                  b.stream);
}

cudaError_t
EncodeSq8(const Buffers& b)
{
    const uint64_t k = CountShare(CodecKind::Sq8, b.count);
    Check(RunTopK(b));
    return kernels::EncodeInt8Blocks(b.GetValues(k),
                                     k,
                                     8192,
                                     b.codes.As<int8_t>(),
                                     b.velocity.As<float>(),
                                     b.stream);
}

cudaError_t
DecodeSq8(const Buffers& b)
{
    const uint64_t k = CountShare(CodecKind::Sq8, b.count);
    Check(kernels::DecodeInt8Blocks(b.codes.As<int8_t>(),
                                    b.velocity.As<float>(),
                                    k,
                                    8192,
                                    b.GetValues(k),
                                    b.stream));
    return RunScatter(b, CodecKind::Sq8);
}

cudaError_t
RunDgc(const Buffers& b)
{
    return kernels::SelectDgc(b.gradient.As<float>(),
                              b.count,
                              DGC,
                              b.velocity.As<float>(),
                              b.accumulated.As<float>(),
                              b.iteration.As<uint64_t>(),
                              b.out.As<uint32_t>(),
                              b.GetValues(CountShare(CodecKind::Dgc, b.count)),
                              b.found.As<uint32_t>(),
                              b.workspace.As<void>(),
                              b.stream);
}

/// The values of the selection before, rounded to 16 bits, into a message without indices.
cudaError_t
CloseHalf(const Buffers& b, CodecKind kind)
{
    const uint64_t k = CountShare(kind, b.count);
    return kernels::CloseHalfMessage(b.GetValues(k),
                                     nullptr,
                                     k,
                                     b.codes.As<uint32_t>(),
                                     nullptr,
                                     b.stream);
}

/// As RunScatter, whatever the values are that follow the indices.
cudaError_t
RunScatterHalf(const Buffers& b, CodecKind kind)
{
    return kernels::ScatterHalfMessage(b.out.As<uint32_t>(),
                                       nullptr,
                                       CountShare(kind, b.count),
                                       b.count,
                                       b.codes.As<float>(),
                                       b.stream);
}

cudaError_t
EncodeTopKHalf(const Buffers& b)
{
    Check(RunTopK(b));
    return CloseHalf(b, CodecKind::TopK);
}

cudaError_t
EncodeDgcHalf(const Buffers& b)
{
    Check(RunDgc(b));
    return CloseHalf(b, CodecKind::Dgc);
}

constexpr uint32_t BB_BLOCK = 1024;
constexpr uint32_t BB_K = 10;

cudaError_t
EncodeBbTopK(const Buffers& b)
{
    const uint64_t selected = (b.count + BB_BLOCK - 1) / BB_BLOCK * BB_K;
    auto* const offsets = b.codes.As<uint16_t>();
    Check(kernels::SelectBlockTopK(b.gradient.As<float>(),
                                   b.count,
                                   BB_BLOCK,
                                   BB_K,
                                   offsets,
                                   b.out.As<float>(),
                                   b.stream));
    return kernels::PackOffsets(offsets,
                                selected,
                                GetIndexBits(BB_BLOCK),
                                b.workspace.As<uint32_t>(),
                                b.stream);
}

cudaError_t
DecodeBbTopK(const Buffers& b)
{
    return kernels::ScatterBlockTopK(b.workspace.As<uint32_t>(),
                                     b.out.As<float>(),
                                     b.count,
                                     BB_BLOCK,
                                     BB_K,
                                     b.codes.As<float>(),
                                     b.stream);
}

/// Dense codecs, under the names of profiles. bytesPerElement as codec-bench has them.
void
AddDenseKernels(std::vector<Kernel>& list)
{
    constexpr float THRESHOLD = 0.5F;
    constexpr float FACTOR = 1e8F;
    const auto in = [](const Buffers& b) { return b.gradient.As<float>(); };
    const auto out = [](const Buffers& b) { return b.out.As<float>(); };
    const auto half = [](const Buffers& b) { return b.codes.As<uint16_t>(); };
    list.push_back(
        {"int8-encode", 5.0005, [=](const Buffers& b) {
             auto* const codes = b.codes.As<int8_t>();
             auto* const scales = b.velocity.As<float>();
             return kernels::EncodeInt8Blocks(in(b), b.count, 8192, codes, scales, b.stream);
         }});
    list.push_back(
        {"int8-decode", 5.0005, [=](const Buffers& b) {
             auto* const codes = b.codes.As<int8_t>();
             auto* const scales = b.velocity.As<float>();
             return kernels::DecodeInt8Blocks(codes, scales, b.count, 8192, out(b), b.stream);
         }});
    list.push_back({"fp16-encode", 6.0, [=](const Buffers& b) {
                        return kernels::EncodeHalf(in(b), b.count, half(b), b.stream);
                    }});
    list.push_back({"fp16-decode", 6.0, [=](const Buffers& b) {
                        return kernels::DecodeHalf(half(b), b.count, out(b), b.stream);
                    }});
    list.push_back({"bf16-encode", 6.0, [=](const Buffers& b) {
                        return kernels::EncodeBfloat(in(b), b.count, half(b), b.stream);
                    }});
    list.push_back({"bf16-decode", 6.0, [=](const Buffers& b) {
                        return kernels::DecodeBfloat(half(b), b.count, out(b), b.stream);
                    }});
    list.push_back({"two-bit-encode", 12.25, [=](const Buffers& b) {
                        return kernels::EncodeTwoBits(in(b),
                                                      b.velocity.As<float>(),
                                                      b.count,
                                                      THRESHOLD,
                                                      b.codes.As<uint32_t>(),
                                                      b.stream);
                    }});
    list.push_back({"two-bit-decode", 4.25, [=](const Buffers& b) {
                        auto* const words = b.codes.As<uint32_t>();
                        return kernels::DecodeTwoBits(words, b.count, THRESHOLD, out(b), b.stream);
                    }});
    list.push_back({"fixed-point-encode", 8.0, [=](const Buffers& b) {
                        auto* const codes = b.codes.As<int32_t>();
                        return kernels::EncodeFixedPoints(in(b), b.count, FACTOR, codes, b.stream);
                    }});
    list.push_back({"fixed-point-decode", 8.0, [=](const Buffers& b) {
                        auto* const codes = b.codes.As<int32_t>();
                        return kernels::DecodeFixedPoints(codes, b.count, FACTOR, out(b), b.stream);
                    }});
}

constexpr uint32_t PACKET_ELEMENTS = 64;
constexpr uint32_t WORKERS = 8;

/// SwitchML's, of packets of 64 elements: each has the exponents that the first one finds.
void
AddExponentKernels(std::vector<Kernel>& list)
{
    const auto exponents = [](const Buffers& b) { return b.workspace.As<int8_t>(); };
    list.push_back({"packet-exponents", 4.0157, [=](const Buffers& b) {
                        return kernels::FindPacketExponents(b.gradient.As<float>(),
                                                            b.count,
                                                            PACKET_ELEMENTS,
                                                            exponents(b),
                                                            b.stream);
                    }});
    list.push_back({"exponents-encode", 8.0157, [=](const Buffers& b) {
                        return kernels::EncodeWithExponents(b.gradient.As<float>(),
                                                            b.count,
                                                            PACKET_ELEMENTS,
                                                            WORKERS,
                                                            exponents(b),
                                                            b.codes.As<int32_t>(),
                                                            b.stream);
                    }});
    list.push_back({"exponents-decode", 8.0157, [=](const Buffers& b) {
                        return kernels::DecodeWithExponents(b.codes.As<int32_t>(),
                                                            b.count,
                                                            PACKET_ELEMENTS,
                                                            WORKERS,
                                                            exponents(b),
                                                            b.out.As<float>(),
                                                            b.stream);
                    }});
}

/// int8 where switches add up, under the names of profiles: packets of 64 integers of 4 bytes.
void
AddSwitchKernels(std::vector<Kernel>& list)
{
    constexpr uint32_t PACKET = 256;
    const auto exponents = [](const Buffers& b) { return b.workspace.As<int8_t>(); };
    list.push_back({"int8-switch-encode", 9.0078, [=](const Buffers& b) {
                        const auto found = kernels::FindPacketExponents(b.gradient.As<float>(),
                                                                        b.count,
                                                                        PACKET,
                                                                        exponents(b),
                                                                        b.stream);
                        return found != cudaSuccess
                                   ? found
                                   : kernels::EncodeBytesWithExponents(b.gradient.As<float>(),
                                                                       b.count,
                                                                       PACKET,
                                                                       WORKERS,
                                                                       exponents(b),
                                                                       b.codes.As<int8_t>(),
                                                                       b.stream);
                    }});
    list.push_back({"int8-switch-decode", 5.0039, [=](const Buffers& b) {
                        return kernels::DecodeBytesWithExponents(b.codes.As<int8_t>(),
                                                                 b.count,
                                                                 PACKET,
                                                                 WORKERS,
                                                                 exponents(b),
                                                                 b.out.As<float>(),
                                                                 b.stream);
                    }});
}

/// Ok-Topk's local phase, with room for twice as many as there should be.
cudaError_t
RunSelectFromKey(const Buffers& b)
{
    const auto capacity = static_cast<uint32_t>(b.count / 25 + 1);
    return kernels::SelectFromKey(b.gradient.As<float>(),
                                  b.count,
                                  b.key.As<uint32_t>(),
                                  capacity,
                                  b.out.As<uint32_t>(),
                                  b.GetValues(capacity),
                                  b.found.As<uint32_t>(),
                                  b.workspace.As<void>(),
                                  b.stream);
}

/// The union of two messages of BiSparse at 1 %: the elements that are marked, 2 % of all.
cudaError_t
RunGatherMarked(const Buffers& b)
{
    const auto capacity = static_cast<uint32_t>(b.count / 25 + 1);
    return kernels::GatherMarked(b.gradient.As<float>(),
                                 b.marks.As<uint32_t>(),
                                 b.count,
                                 capacity,
                                 b.out.As<uint32_t>(),
                                 b.GetValues(capacity),
                                 b.found.As<uint32_t>(),
                                 b.workspace.As<void>(),
                                 b.stream);
}

/// Accumulates the message of the top-k before.
cudaError_t
RunAddSparse(const Buffers& b)
{
    const uint64_t k = CountShare(CodecKind::TopK, b.count);
    return kernels::AddSparse(b.out.As<uint32_t>(),
                              b.GetValues(k),
                              k,
                              b.codes.As<float>(),
                              b.stream);
}

/// Each decode right after its encode, whose message it takes.
void
AddSparseKernels(std::vector<Kernel>& list)
{
    list.push_back({"top-k-encode", 8.8, RunTopK});
    list.push_back(
        {"top-k-decode", 4.8, [](const Buffers& b) { return RunScatter(b, CodecKind::TopK); }});
    list.push_back({"add-sparse", 1.6, RunAddSparse});
    list.push_back({"top-k-fp16-encode", 8.6, EncodeTopKHalf});
    list.push_back({"top-k-fp16-decode", 4.6, [](const Buffers& b) {
                        return RunScatterHalf(b, CodecKind::TopK);
                    }});
    list.push_back({"sq8-encode", 8.5, EncodeSq8});
    list.push_back({"sq8-decode", 4.5, DecodeSq8});
    list.push_back({"dgc-encode", 20.008, RunDgc});
    list.push_back(
        {"dgc-decode", 4.008, [](const Buffers& b) { return RunScatter(b, CodecKind::Dgc); }});
    list.push_back({"dgc-fp16-encode", 20.006, EncodeDgcHalf});
    list.push_back({"dgc-fp16-decode", 4.006, [](const Buffers& b) {
                        return RunScatterHalf(b, CodecKind::Dgc);
                    }});
    list.push_back({"bbtopk-encode", 4.0513, EncodeBbTopK});
    list.push_back({"bbtopk-decode", 4.0513, DecodeBbTopK});
    list.push_back({"select-from-key", 4.16, RunSelectFromKey});
    list.push_back(
        {"gather-marked", 0.8819, RunGatherMarked}); // marks, and sectors with marked elements
}

/// A worker with a gradient of its own norms, and one message added to a sum.
void
AddThcKernels(std::vector<Kernel>& list)
{
    const auto table = MakeThcTable(GetCodecInfo(CodecKind::Thc).defaults.granularity);
    const auto norms = [](const Buffers& b) { return b.velocity.As<float>(); };
    const auto codes = [](const Buffers& b) { return b.codes.As<uint8_t>(); };
    list.push_back(
        {"thc-encode", 8.5019, [=](const Buffers& b) {
             const auto* const in = b.gradient.As<float>();
             Check(kernels::FindThcNorms(in, b.count, norms(b), b.stream));
             return kernels::EncodeThc(in, b.count, norms(b), table, {0, 0}, codes(b), b.stream);
         }});
    list.push_back({"thc-decode", 4.5009, [=](const Buffers& b) {
                        return kernels::DecodeThc(codes(b),
                                                  norms(b),
                                                  b.count,
                                                  table,
                                                  0,
                                                  b.out.As<float>(),
                                                  b.stream);
                    }});
    list.push_back({"thc-add", 2.5, [=](const Buffers& b) {
                        auto* const sums = b.accumulated.As<uint8_t>();
                        const auto coordinates = CountThcCoordinates(b.count);
                        return kernels::AddThc(codes(b), coordinates, table, sums, b.stream);
                    }});
}

/// What is no codec.
void
AddReductions(std::vector<Kernel>& list)
{
    list.push_back({"add-dense", 12.0, [](const Buffers& b) {
                        return kernels::AddDense(b.gradient.As<float>(),
                                                 b.count,
                                                 b.codes.As<float>(),
                                                 b.stream);
                    }});
    list.push_back({"step-momentum", 12.0, [](const Buffers& b) {
                        return kernels::StepMomentum(b.gradient.As<float>(),
                                                     b.count,
                                                     0.9F,
                                                     b.velocity.As<float>(),
                                                     b.stream);
                    }});
    list.push_back({"keep-residual", 12.0, [](const Buffers& b) {
                        return kernels::KeepResidual(b.gradient.As<float>(),
                                                     b.count,
                                                     b.codes.As<float>(),
                                                     b.stream);
                    }});
    list.push_back({"norm", 4.0, [](const Buffers& b) {
                        return kernels::ComputeNorm(b.gradient.As<float>(),
                                                    b.count,
                                                    b.found.As<double>(),
                                                    b.workspace.As<void>(),
                                                    b.stream);
                    }});
    list.push_back({"score-blocks", 4.002, [](const Buffers& b) {
                        return kernels::ScoreBlocks(b.gradient.As<float>(),
                                                    b.count,
                                                    0.9F,
                                                    b.workspace.As<float>(),
                                                    b.stream);
                    }});
    list.push_back({"non-zero-blocks", 4.0005, [](const Buffers& b) {
                        return kernels::FindNonZeroBlocks(b.gradient.As<float>(),
                                                          b.count,
                                                          b.workspace.As<uint32_t>(),
                                                          b.found.As<uint32_t>(),
                                                          b.stream);
                    }});
}

} // namespace

size_t
GetWorkspaceBytes(uint64_t elements)
{
    return std::max({kernels::GetTopKWorkspaceBytes(elements),
                     kernels::GetDgcWorkspaceBytes(elements, DGC),
                     kernels::GetNormWorkspaceBytes(elements),
                     kernels::GetSelectWorkspaceBytes(elements),
                     GetStochasticWorkspaceBytes(elements),
                     GetLowRankBenchWorkspaceBytes(elements),
                     GetSortWorkspaceBytes(elements)});
}

std::vector<Kernel>
MakeKernels()
{
    std::vector<Kernel> list;
    list.push_back({"copy", 8.0, [](const Buffers& b) {
                        return cudaMemcpyAsync(b.out.As<float>(),
                                               b.gradient.As<float>(),
                                               4 * b.count,
                                               cudaMemcpyDeviceToDevice,
                                               b.stream);
                    }});
    AddDenseKernels(list);
    AddThcKernels(list);
    AddLowRankKernels(list);
    AddExponentKernels(list);
    AddStochasticKernels(list);
    AddSwitchKernels(list);
    AddSparseKernels(list);
    AddReductions(list);
    list.push_back({"radix-sort-pairs", 8.8, SortByMagnitude});
    return list;
}

} // namespace ns3::gradsync::bench
