// SPDX-License-Identifier: GPL-2.0-only
// What each codec's kernels move, as JSON: all launches of one Compress and one Decompress of
// normally distributed gradients of two lengths, with distinct bytes. kernels/estimate.py makes
// estimates of it.
#include "compression-kernels.h"
#include "device-array.h"
#include "device-codecs.h"
#include "emulator.h"
#include "low-rank-kernels.h"
#include "support/nasty-gradients.h"
#include "thc-kernels.h"

#include "ns3/quantisers.h"
#include "ns3/thc.h"

#include <array>
#include <cstdio>
#include <string>

using namespace ns3::gradsync;

namespace
{

// From 264 * 4096 on the ranges of top-k are as many as an H100 holds; below, they grow with the
// length.
constexpr size_t LENGTHS[] = {5U << 18, 5U << 19};

std::string
ToText(const std::vector<emulator::LaunchRecord>& launches)
{
    std::string text;
    for (const auto& launch : launches)
    {
        char line[256];
        std::snprintf(line,
                      sizeof line,
                      R"(%s
   {"kernel": "%s", "blocks": %llu, "threads": %u, "read": %llu, "written": %llu})",
                      text.empty() ? "" : ",",
                      launch.kernel.c_str(),
                      static_cast<unsigned long long>(launch.blocks),
                      launch.threads,
                      static_cast<unsigned long long>(launch.bytesRead),
                      static_cast<unsigned long long>(launch.bytesWritten));
        text += line;
    }
    return text;
}

/// Launches of a codec's two directions.
void
Count(const CodecSpec& spec, size_t length, std::string& encode, std::string& decode)
{
    const auto codec = kernels::MakeDeviceCodec(spec, length);
    const DeviceArray<float> gradient(MakeRandomGradient(length));
    const DeviceArray<std::byte> state(std::vector<std::byte>(codec->GetStateBytes()));
    const DeviceArray<std::byte> message(codec->GetMaximumBytes());
    const DeviceArray<std::byte> workspace(codec->GetWorkspaceBytes());
    const DeviceArray<float> received(length);
    const DeviceArray<uint64_t> bytes(1);
    uint64_t* const size = codec->IsSizeFixed() ? nullptr : bytes.Get();
    emulator::TakeLaunches();
    Check(
        codec
            ->Compress(gradient.Get(), state.Get(), message.Get(), size, workspace.Get(), nullptr));
    encode = ToText(emulator::TakeLaunches());
    Check(codec->Decompress(message.Get(), size, received.Get(), workspace.Get(), nullptr));
    decode = ToText(emulator::TakeLaunches());
}

/// A kernel's launches for both lengths.
void
Print(const std::string& kernel, const std::string (&texts)[2], const char* separator)
{
    std::printf("%s\n \"%s\": {", separator, kernel.c_str());
    std::printf("\n  \"%zu\": [%s],", LENGTHS[0], texts[0].c_str());
    std::printf("\n  \"%zu\": [%s]}", LENGTHS[1], texts[1].c_str());
}

/// Launches of what adds a message of THC to others.
std::string
CountAddition(size_t length)
{
    const auto coordinates = CountThcCoordinates(length);
    const DeviceArray<uint8_t> codes(std::vector<uint8_t>(GetThcCodeBytes(coordinates)));
    const DeviceArray<uint8_t> sums(std::vector<uint8_t>(coordinates, 0));
    const auto table = MakeThcTable(GetCodecInfo(CodecKind::Thc).defaults.granularity);
    emulator::TakeLaunches();
    Check(kernels::AddThc(codes.Get(), coordinates, table, sums.Get(), nullptr));
    return ToText(emulator::TakeLaunches());
}

/// Launches of PowerSGD's steps, in the second iteration: before each sum, and after both.
std::array<std::string, 3>
CountLowRank(size_t length)
{
    const auto& defaults = GetCodecInfo(CodecKind::PowerSgd).defaults;
    const auto shape = GetLowRankShape(length, defaults.columns, defaults.rank);
    const DeviceArray<float> gradient(MakeRandomGradient(length));
    const DeviceArray<float> p(CountRowFactors(shape));
    const DeviceArray<float> q(MakeRandomGradient(CountColumnFactors(shape), 5));
    const DeviceArray<float> received(length);
    const DeviceArray<std::byte> workspace(kernels::GetLowRankWorkspaceBytes(shape));
    std::array<std::string, 3> text;
    emulator::TakeLaunches();
    Check(kernels::RestartColumns(q.Get(), shape, nullptr));
    Check(kernels::ProjectRows(gradient.Get(), length, shape, q.Get(), p.Get(), nullptr));
    text[0] = ToText(emulator::TakeLaunches());
    Check(kernels::Orthogonalise(p.Get(), shape, nullptr));
    Check(kernels::ProjectColumns(gradient.Get(),
                                  length,
                                  shape,
                                  p.Get(),
                                  q.Get(),
                                  workspace.Get(),
                                  nullptr));
    text[1] = ToText(emulator::TakeLaunches());
    Check(kernels::ExpandFactors(p.Get(), q.Get(), shape, length, received.Get(), nullptr));
    text[2] = ToText(emulator::TakeLaunches());
    return text;
}

/// Prints them by name.
void
PrintLowRank(const std::string& codec, const char* separator)
{
    const auto few = CountLowRank(LENGTHS[0]);
    const auto many = CountLowRank(LENGTHS[1]);
    const char* const parts[] = {"-encode-p", "-encode-q", "-decode"};
    for (size_t i = 0; i < few.size(); ++i)
    {
        const std::string text[2] = {few[i], many[i]};
        Print(codec + parts[i], text, separator);
    }
}

/// Launches of int8 where switches add up, packets of 64 integers of 4 bytes.
void
CountSwitchInt8(size_t length, std::string& encode, std::string& decode)
{
    constexpr uint32_t PACKET = 256;
    constexpr uint32_t WORKERS = 8;
    const DeviceArray<float> gradient(MakeRandomGradient(length));
    const DeviceArray<int8_t> exponents(CountBlocks(length, PACKET));
    const DeviceArray<int8_t> codes(length);
    const DeviceArray<float> received(length);
    emulator::TakeLaunches();
    Check(kernels::FindPacketExponents(gradient.Get(), length, PACKET, exponents.Get(), nullptr));
    Check(kernels::EncodeBytesWithExponents(gradient.Get(),
                                            length,
                                            PACKET,
                                            WORKERS,
                                            exponents.Get(),
                                            codes.Get(),
                                            nullptr));
    encode = ToText(emulator::TakeLaunches());
    Check(kernels::DecodeBytesWithExponents(codes.Get(),
                                            length,
                                            PACKET,
                                            WORKERS,
                                            exponents.Get(),
                                            received.Get(),
                                            nullptr));
    decode = ToText(emulator::TakeLaunches());
}

} // namespace

int
main()
{
    emulator::Record(true);
    const char* separator = "";
    std::printf("{");
    for (const auto& spec : GetNamedCodecs())
    {
        // fp32 is the gradient as it is; bisparse has the kernels of dgc.
        if (spec.kind == CodecKind::Fp32 || spec.kind == CodecKind::BiSparse)
        {
            continue;
        }
        const auto name = GetCodecName(spec);
        if (spec.kind == CodecKind::PowerSgd)
        {
            PrintLowRank(name, separator);
            continue;
        }
        std::string text[2][2];
        for (size_t i = 0; i < 2; ++i)
        {
            Count(spec, LENGTHS[i], text[0][i], text[1][i]);
        }
        Print(name + "-encode", text[0], separator);
        separator = ",";
        Print(name + "-decode", text[1], separator);
        if (spec.kind == CodecKind::Thc)
        {
            const std::string added[2] = {CountAddition(LENGTHS[0]), CountAddition(LENGTHS[1])};
            Print(name + "-add", added, separator);
        }
        if (spec.kind == CodecKind::Int8)
        {
            for (size_t i = 0; i < 2; ++i)
            {
                CountSwitchInt8(LENGTHS[i], text[0][i], text[1][i]);
            }
            Print(name + "-switch-encode", text[0], separator);
            Print(name + "-switch-decode", text[1], separator);
        }
    }
    std::printf("\n}\n");
    const auto findings = emulator::TakeFindings();
    for (const auto& finding : findings)
    {
        std::fprintf(stderr, "FOUND: %s\n", emulator::Describe(finding).c_str());
    }
    return findings.empty() ? 0 : 1;
}
