// SPDX-License-Identifier: GPL-2.0-only
// What each codec's kernels move, as JSON: all launches of one Compress and one Decompress of
// normally distributed gradients of two lengths, with distinct bytes. kernels/estimate.py makes
// estimates of it.
#include "device-array.h"
#include "device-codecs.h"
#include "emulator.h"
#include "support/nasty-gradients.h"

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

} // namespace

int
main()
{
    emulator::Record(true);
    const char* separator = "";
    std::printf("{");
    for (const auto& info : GetCodecs())
    {
        // fp32 is the gradient as it is; bisparse has the kernels of dgc.
        if (info.name == "fp32" || info.name == "bisparse")
        {
            continue;
        }
        std::string text[2][2];
        for (size_t i = 0; i < 2; ++i)
        {
            Count(info.defaults, LENGTHS[i], text[0][i], text[1][i]);
        }
        for (size_t direction = 0; direction < 2; ++direction)
        {
            std::printf("%s\n \"%s-%s\": {",
                        separator,
                        info.name.c_str(),
                        direction == 0 ? "encode" : "decode");
            std::printf("\n  \"%zu\": [%s],", LENGTHS[0], text[direction][0].c_str());
            std::printf("\n  \"%zu\": [%s]}", LENGTHS[1], text[direction][1].c_str());
            separator = ",";
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
