// SPDX-License-Identifier: GPL-2.0-only
// The codecs of device-codecs.h against those of the CPU. Part of kernels-test, and of
// device-codecs-test, where the kernels are the CPU's functions.
#include "compression-kernels.h"
#include "device-array.h"
#include "device-codecs.h"

#include "ns3/gradient-codec.h"
#include "ns3/low-rank.h"

#include <algorithm>
#include <memory>
#include <span>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

using Bytes = std::vector<std::byte>;

/// A codec's message, and what it becomes, on the CPU and on the device.
class CodecPair
{
  public:
    CodecPair(std::unique_ptr<GradientCodec> cpu, std::unique_ptr<kernels::DeviceCodec> device)
        : m_cpu(std::move(cpu)),
          m_device(std::move(device)),
          m_state(Bytes(m_device->GetStateBytes(), std::byte{0}))
    {
    }

    /// Whether both do the same with one more gradient.
    bool Agrees(const Gradient& values, const DeviceArray<float>& in)
    {
        Bytes message(m_cpu->GetMaximumBytes());
        Bytes scratch(m_cpu->GetWorkspaceBytes());
        Gradient received(values.size());
        message.resize(m_cpu->Compress(values, message, scratch));
        m_cpu->Decompress(message, received, scratch);

        DeviceArray<std::byte> workspace(m_device->GetWorkspaceBytes());
        DeviceArray<std::byte> outMessage(m_device->GetMaximumBytes());
        DeviceArray<uint64_t> bytes(1);
        DeviceArray<float> out(values.size());
        Check(m_device->Compress(in.Get(),
                                 m_state.Get(),
                                 outMessage.Get(),
                                 bytes.Get(),
                                 workspace.Get(),
                                 nullptr));
        const bool isWhole = workspace.IsGuardWhole();
        // Nothing may be left in the workspace that decompressing needs.
        DeviceArray<std::byte> other(m_device->GetWorkspaceBytes());
        Check(m_device->Decompress(outMessage.Get(), bytes.Get(), out.Get(), other.Get(), nullptr));
        const auto said = m_device->IsSizeFixed() ? m_device->GetMaximumBytes() : bytes.Read()[0];
        return isWhole && other.IsGuardWhole() && m_state.IsGuardWhole() &&
               bytes.IsPoisonedFrom(m_device->IsSizeFixed() ? 0 : 1) && said == message.size() &&
               AreSame(message, outMessage) && outMessage.IsPoisonedFrom(message.size()) &&
               AreSame(received, out);
    }

  private:
    std::unique_ptr<GradientCodec> m_cpu;
    std::unique_ptr<kernels::DeviceCodec> m_device;
    DeviceArray<std::byte> m_state;
};

/// Of each kind, with what its code asks for: both lengths of BiSparse, a warm-up, clipping, and a
/// stream of offsets that ends inside a byte.
std::vector<CodecSpec>
MakeSpecs()
{
    std::vector<CodecSpec> specs;
    for (const auto& spec : GetNamedCodecs())
    {
        specs.push_back(spec);
        specs.back().minimumElements = 1000;
        specs.back().threshold = 0.01;
    }
    specs.push_back(FindCodec("dgc")->defaults);
    specs.back().warmUp = 1;
    specs.back().clipNorm = 0.5;
    specs.push_back(FindCodec("bbtopk")->defaults);
    specs.back().blockElements = 512;
    specs.push_back(FindCodec("int8")->defaults);
    specs.back().blockElements = 256;
    for (const uint32_t levels : {1U, 127U})
    {
        specs.push_back(FindCodec("qsgd")->defaults);
        specs.back().levels = levels;
        specs.back().seed = 5;
    }
    specs.push_back(FindCodec("terngrad")->defaults);
    specs.back().clipDeviations = 0.0;
    specs.push_back(FindCodec("powersgd")->defaults);
    specs.back().columns = 36;
    specs.back().rank = 5; // several looks at the matrix
    return specs;
}

/// Three iterations of each codec.
template <typename Make>
bool
AllAgree(const Gradient& values, const Make& make)
{
    const DeviceArray<float> in(values);
    bool isSame = true;
    for (const auto& spec : MakeSpecs())
    {
        CodecPair pair = make(spec);
        for (int iteration = 0; iteration < 3; ++iteration)
        {
            if (!pair.Agrees(values, in))
            {
                std::printf("%s, iteration %d differs\n", GetCodecName(spec).c_str(), iteration);
                isSame = false;
            }
        }
    }
    return isSame;
}

/// Whether blocks of that size are refused.
bool
IsRefused(const char* codec, uint32_t blockElements)
{
    auto spec = FindCodec(codec)->defaults;
    spec.blockElements = blockElements;
    try
    {
        kernels::MakeDeviceCodec(spec, 100);
    }
    catch (const std::invalid_argument&)
    {
        return true;
    }
    return false;
}

/// Whether PowerSGD's matrices of so many columns are refused.
bool
IsRowRefused(uint32_t columns)
{
    auto spec = FindCodec("powersgd")->defaults;
    spec.columns = columns;
    try
    {
        kernels::MakeDeviceCodec(spec, 10'000);
    }
    catch (const std::invalid_argument&)
    {
        return true;
    }
    return false;
}

/// In units of 256 bytes, as parts of workspaces are aligned.
uint64_t
Align(uint64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/// A message of words below a limit, in an order that looks like none.
Bytes
MakeUnorderedWords(uint64_t bytes, uint64_t limit)
{
    constexpr uint64_t STRIDE = 2'654'435'761;
    std::vector<uint32_t> words((bytes + 3) / 4);
    for (uint64_t i = 0; i < words.size(); ++i)
    {
        words[i] = static_cast<uint32_t>(STRIDE * (i + 1) % (limit + 1));
    }
    const auto all = std::as_bytes(std::span(words)).first(bytes);
    return {all.begin(), all.end()};
}

} // namespace

bool
TestDeviceCodecs(const Gradient& values)
{
    return AllAgree(values, [&](const CodecSpec& spec) {
        return CodecPair(MakeCodec(spec, values.size()),
                         kernels::MakeDeviceCodec(spec, values.size()));
    });
}

bool
TestDecoratedCodecs(const Gradient& values)
{
    constexpr float MOMENTUM = 0.9F;
    return AllAgree(values, [&](const CodecSpec& spec) {
        auto device = kernels::AddErrorFeedback(kernels::MakeDeviceCodec(spec, values.size()));
        return CodecPair(AddMomentum(AddErrorFeedback(MakeCodec(spec, values.size())), MOMENTUM),
                         kernels::AddMomentum(std::move(device), MOMENTUM));
    });
}

bool
TestBrokenMessages(const Gradient& values)
{
    // All bits set: the indices of sparse codecs lead beyond the tensor, and DGC's size beyond its
    // capacity. No bit set: all entries have one index, and the value 0. Words in no order: many of
    // the indices lead beyond the tensor, and their values are next to 0. What is not named is 0,
    // and nothing behind the gradient is touched.
    bool isGood = true;
    for (const auto& spec : MakeSpecs())
    {
        const auto codec = kernels::MakeDeviceCodec(spec, values.size());
        const uint64_t messageBytes = codec->GetMaximumBytes();
        const auto unordered = MakeUnorderedWords(messageBytes, 2 * values.size() + 20'000);
        for (const auto& broken :
             {Bytes(messageBytes, std::byte{0xff}), Bytes(messageBytes, std::byte{0}), unordered})
        {
            const DeviceArray<std::byte> message(broken);
            const DeviceArray<uint64_t> bytes(std::vector<uint64_t>{UINT64_MAX});
            const DeviceArray<std::byte> workspace(codec->GetWorkspaceBytes());
            const DeviceArray<float> out(values.size());
            Check(
                codec->Decompress(message.Get(), bytes.Get(), out.Get(), workspace.Get(), nullptr));
            isGood = isGood && out.IsGuardWhole() && workspace.IsGuardWhole();
            const bool isSparse = spec.kind == CodecKind::TopK || spec.kind == CodecKind::Sq8 ||
                                  !codec->IsSizeFixed();
            if (isSparse && broken != unordered)
            {
                isGood = isGood && AreSame(Gradient(values.size(), 0.0F), out);
            }
        }
    }
    return isGood;
}

bool
TestDeviceCodecSizes(const Gradient& values)
{
    const uint64_t count = values.size();
    bool isGood = true;
    for (const auto& spec : MakeSpecs())
    {
        const auto cpu = MakeCodec(spec, count);
        const auto plain = kernels::MakeDeviceCodec(spec, count);
        const bool isDgc = spec.kind == CodecKind::Dgc ||
                           (spec.kind == CodecKind::BiSparse && count >= spec.minimumElements);
        const bool isLowRank = spec.kind == CodecKind::PowerSgd && !StaysDense(spec, count);
        const auto shape = GetLowRankShape(count, spec.columns, spec.rank);
        const uint64_t state = isDgc       ? 2 * Align(4 * count) + Align(8)
                               : isLowRank ? uint64_t{4} * shape.rank * shape.columns
                               : spec.kind == CodecKind::TwoBit ? 4 * count
                                                                : 0;
        const uint64_t stateBytes = plain->GetStateBytes();
        const uint64_t scratchBytes = plain->GetWorkspaceBytes();
        isGood = isGood && plain->GetElements() == count && plain->IsSizeFixed() == !isDgc &&
                 plain->GetMaximumBytes() == cpu->GetMaximumBytes() && stateBytes == state;
        // Error feedback owes and receives an array, momentum keeps one.
        const auto both =
            kernels::AddMomentum(kernels::AddErrorFeedback(kernels::MakeDeviceCodec(spec, count)),
                                 0.9F);
        isGood = isGood && both->GetMaximumBytes() == cpu->GetMaximumBytes() &&
                 both->IsSizeFixed() == plain->IsSizeFixed() &&
                 both->GetStateBytes() == 2 * Align(4 * count) + stateBytes &&
                 both->GetWorkspaceBytes() == Align(4 * count) + scratchBytes;
        if (isDgc)
        {
            // Where the size is on the device only, it cannot be done without.
            const auto invalid = cudaErrorInvalidValue;
            isGood =
                isGood &&
                plain->Compress(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) == invalid &&
                plain->Decompress(nullptr, nullptr, nullptr, nullptr, nullptr) == invalid;
        }
    }
    return isGood && IsRefused("int8", 16384) && IsRefused("sq8", 2) && IsRefused("int8", 0) &&
           IsRefused("bbtopk", 4096) && IsRefused("qsgd", 6) && IsRowRefused(6) &&
           !IsRowRefused(36) && !IsRefused("bbtopk", 2048) && !IsRefused("fp16", 3);
}

} // namespace ns3::gradsync
