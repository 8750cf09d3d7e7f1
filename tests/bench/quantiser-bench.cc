// SPDX-License-Identifier: GPL-2.0-only
/**
 * Rates of the quantisers beside that of a copy of the same bytes, by sets of instructions, as one
 * line of JSON. Rounds take everything in turn, with cold caches, so that other work on the machine
 * meets all alike; of each the least time of all rounds counts. Bytes are those read and written:
 * a copy of "the same bytes" reads and writes as many in all.
 */
#include "bench/bench-program.h"
#include "bench/codec-measurement.h"

#include "ns3/parallel-ranges.h"
#include "ns3/quantisers.h"

#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

namespace
{

using namespace ns3::gradsync;
using Json = nlohmann::ordered_json;

constexpr uint32_t BLOCK = 8192;
constexpr float FACTOR = 1e8F;

struct Options
{
    uint32_t power{24}; //!< log2 of the number of elements
    uint32_t rounds{15};
    uint32_t threads{1};
};

/// What is measured: `bytes` per element, and the least time so far.
struct Work
{
    std::string codec;
    std::string part;
    std::string instructions;
    double bytes;
    std::function<void()> run;
    double seconds{std::numeric_limits<double>::infinity()};
};

/// The arrays that all work shares.
struct Arrays
{
    explicit Arrays(uint64_t elements)
        : gradient(MakeBenchGradient(elements)),
          received(elements),
          bytes(elements),
          halves(elements),
          words(elements),
          scales(CountBlocks(elements, BLOCK))
    {
    }

    std::vector<float> gradient;
    std::vector<float> received;
    std::vector<int8_t> bytes;
    std::vector<uint16_t> halves;
    std::vector<int32_t> words;
    std::vector<float> scales;
};

void
Copy(const Arrays& arrays, std::vector<float>& target, uint32_t threads)
{
    ForEachRange(target.size(), 64, threads, [&](const ElementRange& range) {
        std::memcpy(target.data() + range.begin,
                    arrays.gradient.data() + range.begin,
                    (range.end - range.begin) * sizeof(float));
    });
}

/// Encoding and decoding of a codec in this order: what is decoded was encoded before.
void
AddVersion(InstructionSet instructions, uint32_t threads, Arrays& a, std::vector<Work>& works)
{
    const auto add = [&](const char* codec, const char* part, double bytes, auto run) {
        works.push_back({codec, part, GetName(instructions), bytes, run});
    };
    add("int8", "encode", 5, [=, &a] {
        EncodeInt8Blocks(a.gradient, BLOCK, a.bytes, a.scales, threads, instructions);
    });
    add("int8", "decode", 5, [=, &a] {
        DecodeInt8Blocks(a.bytes, a.scales, BLOCK, a.received, threads, instructions);
    });
    add("fp16", "encode", 6, [=, &a] { EncodeHalf(a.gradient, a.halves, threads, instructions); });
    add("fp16", "decode", 6, [=, &a] { DecodeHalf(a.halves, a.received, threads, instructions); });
    add("bf16", "encode", 6, [=, &a] {
        EncodeBfloat(a.gradient, a.halves, threads, instructions);
    });
    add("bf16", "decode", 6, [=, &a] {
        DecodeBfloat(a.halves, a.received, threads, instructions);
    });
    add("fixed-point", "encode", 8, [=, &a] {
        EncodeFixedPoints(a.gradient, FACTOR, a.words, threads, instructions);
    });
    add("fixed-point", "decode", 8, [=, &a] {
        DecodeFixedPoints(a.words, FACTOR, a.received, threads, instructions);
    });
}

void
Measure(const Options& options, std::vector<Work>& works)
{
    using Clock = std::chrono::steady_clock;
    CacheFlusher flusher;
    // The first round finds pages that nobody has written.
    for (uint32_t round = 0; round <= options.rounds; ++round)
    {
        for (auto& work : works)
        {
            flusher.Flush();
            const auto begin = Clock::now();
            work.run();
            const std::chrono::duration<double> taken = Clock::now() - begin;
            work.seconds = round > 0 ? std::min(work.seconds, taken.count()) : work.seconds;
        }
    }
}

nlohmann::ordered_json
Run(const Options& options)
{
    const uint64_t elements = uint64_t{1} << options.power;
    Arrays arrays(elements);
    std::vector<Work> works;
    works.push_back(
        {"copy", "copy", "", 8, [&] { Copy(arrays, arrays.received, options.threads); }});
    for (const auto instructions : GetInstructionSets())
    {
        AddVersion(instructions, options.threads, arrays, works);
    }
    Measure(options, works);
    const auto rate = [=](const Work& work) {
        return work.bytes * static_cast<double>(elements) / work.seconds;
    };
    Json rows = Json::array();
    for (const auto& work : works)
    {
        rows.push_back({{"codec", work.codec},
                        {"part", work.part},
                        {"instructions", work.instructions},
                        {"bytes_per_s", rate(work)},
                        {"share_of_copy", rate(work) / rate(works.front())}});
    }
    const Json result{{"processor", GetProcessorName()},
                      {"compiler", fmt::format("g++ {}", __VERSION__)},
                      {"elements", elements},
                      {"threads", options.threads},
                      {"rounds", options.rounds},
                      {"rows", rows}};
    return result;
}

} // namespace

int
main(int argc, char** argv)
{
    Options options;
    const bench::BenchProgram program{
        "quantiser-bench",
        "Rates of the quantisers beside that of a copy, as JSON",
        {
            {"--power", &options.power, "log2 of the number of elements", 10, 28},
            {"--rounds", &options.rounds, "", 1, 10'000},
            {"--threads", &options.threads, "0: all", 0, 1024},
        },
        [&] { return Run(options); }};
    return program.Main(argc, argv);
}
