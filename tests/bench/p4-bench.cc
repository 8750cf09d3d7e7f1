// SPDX-License-Identifier: GPL-2.0-only
// Packets per second of the P4 pipeline: 64 int32 values per packet, workers that contribute in
// turn, every result multicast to all of them. One line of JSON.
#include "bench/bench-program.h"
#include "bench/process-usage.h"
#include "support/p4-stf-configuration.h"

#include "ns3/p4-pipeline.h"
#include "ns3/p4-program-loader.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

using namespace ns3::gradsync;

namespace
{

/// A frame's epoch, two further on, and the UDP checksum that goes with it (RFC 1624).
void
AdvanceEpoch(std::vector<uint8_t>& frame)
{
    constexpr size_t EPOCH_AT = 52;
    constexpr size_t CHECKSUM_AT = 40;
    const auto read = [&frame](size_t at) { return uint32_t{frame[at]} << 8 | frame[at + 1]; };
    const auto write = [&frame](size_t at, uint32_t value) {
        frame[at] = static_cast<uint8_t>(value >> 8);
        frame[at + 1] = static_cast<uint8_t>(value);
    };
    const uint32_t before = read(EPOCH_AT);
    const uint32_t after = (before + 2) & 0xFFFF;
    uint32_t sum = (~read(CHECKSUM_AT) & 0xFFFF) + (~before & 0xFFFF) + after;
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    write(EPOCH_AT, after);
    write(CHECKSUM_AT, ~sum & 0xFFFF);
}

struct Options
{
    std::string folder{"p4-behavioral"};
    std::string vector{"32-workers"};
    uint64_t packets{1'000'000};
};

nlohmann::ordered_json
Run(const Options& options)
{
    auto vector = ReadStfVector(options.folder + "/vectors/" + options.vector + ".stf");
    P4Pipeline pipeline(std::make_shared<const P4Program>(
        P4ProgramLoader::LoadFile(options.folder + "/compiled/" + vector.program + ".json")));
    ConfigureByStf(pipeline, vector);
    uint64_t sent = 0;
    uint64_t bytes = 0;
    const double before = bench::GetUserSeconds();
    for (uint64_t i = 0; i < options.packets; ++i)
    {
        auto& step = vector.steps[i % vector.steps.size()];
        for (const auto& packet : pipeline.Process(step.packet.second, step.packet.first))
        {
            ++sent;
            bytes += packet.bytes.size();
        }
        AdvanceEpoch(step.packet.second);
    }
    const double seconds = bench::GetUserSeconds() - before;
    return {{"vector", options.vector},
            {"packets_in", options.packets},
            {"packets_out", sent},
            {"bytes_out", bytes},
            {"user_s", seconds},
            {"packets_in_per_s", static_cast<double>(options.packets) / seconds}};
}

} // namespace

int
main(int argc, char** argv)
{
    Options options;
    const bench::BenchProgram program{
        "p4-bench",
        "The P4 pipeline on packets of a vector, over and over with new epochs",
        {
            {"--folder", &options.folder, "p4-behavioral"},
            {"--vector", &options.vector, "vector to play, with epochs 0 and 1 only"},
            {"--packets", &options.packets, "packets to send"},
        },
        [&] { return Run(options); }};
    return program.Main(argc, argv);
}
