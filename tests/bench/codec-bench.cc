// SPDX-License-Identifier: GPL-2.0-only
/**
 * Times of the codecs on this machine's CPU, as JSON on standard output; ./ns3 calibrate makes a
 * profile of it. Each sample starts with cold caches. Bytes are those that a codec must move: what
 * it reads and writes, each once, and the gradient twice for exact top-k and TernGrad's scaler.
 */
#include "bench/bench-program.h"
#include "bench/codec-measurement.h"

#include "ns3/codec-profile.h"
#include "ns3/gradient-codec.h"
#include "ns3/low-rank.h"
#include "ns3/parallel-ranges.h"
#include "ns3/quantisers.h"
#include "ns3/thc.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

namespace
{

using namespace ns3::gradsync;
using Json = nlohmann::ordered_json;

constexpr uint32_t WARM_UP = 3;

struct Options
{
    uint32_t largest{24}; //!< log2 of the largest number of elements
    uint32_t samples{30};
};

struct Spread
{
    double median;
    double p10;
    double p90;
};

Spread
Measure(const Options& options, CacheFlusher& flusher, const std::function<void()>& work)
{
    using Clock = std::chrono::steady_clock;
    std::vector<double> seconds;
    seconds.reserve(options.samples);
    for (uint32_t i = 0; i < WARM_UP + options.samples; ++i)
    {
        flusher.Flush();
        const auto begin = Clock::now();
        work();
        const std::chrono::duration<double> taken = Clock::now() - begin;
        if (i >= WARM_UP)
        {
            seconds.push_back(taken.count());
        }
    }
    std::sort(seconds.begin(), seconds.end());
    const size_t last = seconds.size() - 1;
    return {seconds[last / 2], seconds[last / 10], seconds[last - last / 10]};
}

/// Bytes per element that a part of a codec moves.
double
GetBytesPerElement(const CodecSpec& spec, bool isEncode)
{
    constexpr uint64_t ELEMENTS = 1U << 20;
    const double message = static_cast<double>(GetMessageBytes(spec, ELEMENTS)) / ELEMENTS;
    double gradient = 4.0;
    if (isEncode)
    {
        const bool readsTwice = spec.kind == CodecKind::TopK || spec.kind == CodecKind::Sq8 ||
                                spec.kind == CodecKind::TernGrad || spec.kind == CodecKind::Thc;
        gradient = spec.kind == CodecKind::Dgc      ? 20.0 // g, u, v in; u, v out
                   : spec.kind == CodecKind::TwoBit ? 12.0 // g, r in; r out
                   : readsTwice                     ? 8.0
                                                    : 4.0;
    }
    return gradient + message;
}

Json
ToPoint(uint64_t elements, const Spread& spread)
{
    return {{"elements", elements},
            {"median_s", spread.median},
            {"p10_s", spread.p10},
            {"p90_s", spread.p90}};
}

void
MeasureCodec(const CodecSpec& spec, const Options& options, CacheFlusher& flusher, Json& kernels)
{
    Json encode = Json::array();
    Json decode = Json::array();
    for (uint32_t power = 10; power <= options.largest; power += 2)
    {
        const auto gradient = MakeBenchGradient(uint64_t{1} << power);
        const auto codec = MakeCodec(spec, gradient.size());
        std::vector<std::byte> message(codec->GetMaximumBytes());
        std::vector<std::byte> workspace(codec->GetWorkspaceBytes());
        std::vector<float> received(gradient.size());
        uint64_t bytes = 0;
        encode.push_back(ToPoint(gradient.size(), Measure(options, flusher, [&] {
                                     bytes = codec->Compress(gradient, message, workspace);
                                 })));
        decode.push_back(
            ToPoint(gradient.size(), Measure(options, flusher, [&] {
                        codec->Decompress(std::span(message).first(bytes), received, workspace);
                    })));
    }
    kernels[GetKernelName(spec, "encode")] = {{"bytesPerElement", GetBytesPerElement(spec, true)},
                                              {"points", std::move(encode)}};
    kernels[GetKernelName(spec, "decode")] = {{"bytesPerElement", GetBytesPerElement(spec, false)},
                                              {"points", std::move(decode)}};
}

/// A message of THC that is added to others.
void
MeasureAddition(const Options& options, CacheFlusher& flusher, Json& kernels)
{
    Json points = Json::array();
    const auto table = MakeThcTable(GetCodecInfo(CodecKind::Thc).defaults.granularity);
    for (uint32_t power = 10; power <= options.largest; power += 2)
    {
        const uint64_t elements = uint64_t{1} << power;
        const std::vector<uint8_t> codes(GetThcCodeBytes(CountThcCoordinates(elements)), 0x5a);
        std::vector<uint8_t> sums(CountThcCoordinates(elements), 0);
        points.push_back(
            ToPoint(elements, Measure(options, flusher, [&] { AddThc(codes, table, sums); })));
    }
    kernels[GetKernelName(GetCodecInfo(CodecKind::Thc).defaults, "add")] = {
        {"bytesPerElement", 2.5},
        {"points", std::move(points)}};
}

/// PowerSGD's steps of a second iteration: before each of its sums, and after both.
void
MeasureLowRank(const Options& options, CacheFlusher& flusher, Json& kernels)
{
    const auto& defaults = GetCodecInfo(CodecKind::PowerSgd).defaults;
    const char* const parts[] = {"encode-p", "encode-q", "decode"};
    Json points[std::size(parts)] = {Json::array(), Json::array(), Json::array()};
    for (uint32_t power = 10; power <= options.largest; power += 2)
    {
        const auto gradient = MakeBenchGradient(uint64_t{1} << power);
        const auto shape = GetLowRankShape(gradient.size(), defaults.columns, defaults.rank);
        std::vector<float> p(CountRowFactors(shape));
        std::vector<float> q(CountColumnFactors(shape), 0.0F);
        std::vector<float> received(gradient.size());
        const std::function<void()> steps[std::size(parts)] = {
            [&] {
                RestartColumns(q, shape);
                ProjectRows(gradient, shape, q, p);
            },
            [&] {
                Orthogonalise(p, shape);
                ProjectColumns(gradient, shape, p, q);
            },
            [&] { ExpandFactors(p, q, shape, received); }};
        for (size_t i = 0; i < std::size(parts); ++i)
        {
            points[i].push_back(ToPoint(gradient.size(), Measure(options, flusher, steps[i])));
        }
    }
    for (size_t i = 0; i < std::size(parts); ++i)
    {
        kernels[GetKernelName(defaults, parts[i])] = {{"bytesPerElement", 4.0},
                                                      {"points", std::move(points[i])}};
    }
}

/// int8 where switches add up, packets of 64 integers of 4 bytes.
void
MeasureSwitchInt8(const Options& options, CacheFlusher& flusher, Json& kernels)
{
    constexpr uint32_t PACKET = 256;
    constexpr uint32_t WORKERS = 8;
    Json encode = Json::array();
    Json decode = Json::array();
    for (uint32_t power = 10; power <= options.largest; power += 2)
    {
        const auto gradient = MakeBenchGradient(uint64_t{1} << power);
        std::vector<int8_t> exponents(CountBlocks(gradient.size(), PACKET));
        std::vector<int8_t> codes(gradient.size());
        std::vector<float> received(gradient.size());
        encode.push_back(
            ToPoint(gradient.size(), Measure(options, flusher, [&] {
                        FindPacketExponents(gradient, PACKET, exponents);
                        EncodeBytesWithExponents(gradient, PACKET, WORKERS, exponents, codes);
                    })));
        decode.push_back(
            ToPoint(gradient.size(), Measure(options, flusher, [&] {
                        DecodeBytesWithExponents(codes, PACKET, WORKERS, exponents, received);
                    })));
    }
    kernels[GetKernelName(GetCodecInfo(CodecKind::Int8).defaults, "switch-encode")] = {
        {"bytesPerElement", 9.0078},
        {"points", std::move(encode)}};
    kernels[GetKernelName(GetCodecInfo(CodecKind::Int8).defaults, "switch-decode")] = {
        {"bytesPerElement", 5.0039},
        {"points", std::move(decode)}};
}

/// Bytes read and written a second by a copy on all cores.
double
MeasureCopy(const Options& options, CacheFlusher& flusher)
{
    const uint64_t bytes = uint64_t{4} << options.largest;
    const std::vector<unsigned char> source(bytes, 1);
    std::vector<unsigned char> target(bytes);
    const auto spread = Measure(options, flusher, [&] {
        ForEachRange(bytes, 64, 0, [&](const ElementRange& range) {
            std::memcpy(target.data() + range.begin,
                        source.data() + range.begin,
                        range.end - range.begin);
        });
    });
    return 2.0 * static_cast<double>(bytes) / spread.median;
}

nlohmann::ordered_json
Run(const Options& options)
{
    CacheFlusher flusher;
    Json result;
    const auto threads = std::thread::hardware_concurrency();
    result["device"] = fmt::format("{}, {} threads", GetProcessorName(), threads);
    result["provenance"] = {{"compiler", fmt::format("g++ {}", __VERSION__)},
                            {"samples", options.samples},
                            {"warmUp", WARM_UP},
                            {"caches", "cold"},
                            {"gradient", "normal, standard deviation 0.01, seed 1"}};
    result["copyBytesPerSecond"] = MeasureCopy(options, flusher);
    for (const auto& spec : GetNamedCodecs())
    {
        // BiSparse is DGC, nothing is done to fp32, and PowerSGD has other steps.
        if (spec.kind != CodecKind::Fp32 && spec.kind != CodecKind::BiSparse &&
            spec.kind != CodecKind::PowerSgd)
        {
            MeasureCodec(spec, options, flusher, result["kernels"]);
        }
    }
    MeasureAddition(options, flusher, result["kernels"]);
    MeasureLowRank(options, flusher, result["kernels"]);
    MeasureSwitchInt8(options, flusher, result["kernels"]);
    return result;
}

} // namespace

int
main(int argc, char** argv)
{
    Options options;
    const bench::BenchProgram program{
        "codec-bench",
        "Times of the codecs on the CPU, as JSON",
        {
            {"--largest", &options.largest, "log2 of the largest number of elements", 10, 28},
            {"--samples", &options.samples, "", 1, 100'000},
        },
        [&] { return Run(options); }};
    return program.Main(argc, argv);
}
