// SPDX-License-Identifier: GPL-2.0-only
/**
 * Times of the codecs on this machine's CPU, as JSON on standard output; ./ns3 calibrate makes a
 * profile of it. Each sample starts with cold caches. Bytes are those that a codec must move: what
 * it reads and writes, each once, and the gradient twice for exact top-k.
 */
#include "ns3/codec-profile.h"
#include "ns3/gradient-codec.h"
#include "ns3/parallel-ranges.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace
{

using namespace ns3::gradsync;
using Json = nlohmann::ordered_json;

constexpr uint64_t FLUSH_BYTES = 96ULL << 20; //!< more than any last-level cache share of a core
constexpr uint32_t WARM_UP = 3;

struct Options
{
    uint32_t largest{24}; //!< log2 of the largest number of elements
    uint32_t samples{30};
};

/// Empties the caches by filling them with something else.
class CacheFlusher
{
  public:
    void Flush()
    {
        ForEachRange(m_bytes.size(), 64, 0, [this](const ElementRange& range) {
            for (uint64_t i = range.begin; i < range.end; i += 64)
            {
                ++m_bytes[i];
            }
        });
    }

  private:
    std::vector<unsigned char> m_bytes = std::vector<unsigned char>(FLUSH_BYTES);
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

std::vector<float>
MakeGradient(uint64_t elements)
{
    std::mt19937 generator(1);
    std::normal_distribution<float> normal(0.0F, 0.01F);
    std::vector<float> values(elements);
    std::generate(values.begin(), values.end(), [&] { return normal(generator); });
    return values;
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
        gradient = spec.kind == CodecKind::Dgc      ? 20.0 // g, u, v in; u, v out
                   : spec.kind == CodecKind::TwoBit ? 12.0 // g, r in; r out
                   : spec.kind == CodecKind::TopK || spec.kind == CodecKind::Sq8 ? 8.0
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
        const auto gradient = MakeGradient(uint64_t{1} << power);
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
    kernels[GetKernelName(spec.kind, "encode")] = {
        {"bytesPerElement", GetBytesPerElement(spec, true)},
        {"points", std::move(encode)}};
    kernels[GetKernelName(spec.kind, "decode")] = {
        {"bytesPerElement", GetBytesPerElement(spec, false)},
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

std::string
GetProcessorName()
{
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
    {
        if (line.rfind("model name", 0) == 0)
        {
            return line.substr(line.find(':') + 2);
        }
    }
    return "unknown processor";
}

} // namespace

int
main(int argc, char** argv)
{
    Options options;
    CLI::App app("Times of the codecs on the CPU, as JSON");
    app.add_option("--largest", options.largest, "log2 of the largest number of elements")
        ->check(CLI::Range(10, 28));
    app.add_option("--samples", options.samples)->check(CLI::Range(1, 100'000));
    CLI11_PARSE(app, argc, argv);
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
    for (const auto& info : GetCodecs())
    {
        // BiSparse is DGC, and nothing is done to fp32.
        if (info.kind != CodecKind::Fp32 && info.kind != CodecKind::BiSparse)
        {
            MeasureCodec(info.defaults, options, flusher, result["kernels"]);
        }
    }
    std::cout << result.dump() << '\n';
    return 0;
}
