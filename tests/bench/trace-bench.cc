// SPDX-License-Identifier: GPL-2.0-only
// What reading a large Chakra trace costs: generates one in memory and prints one line of JSON with
// its size, the times to read it, to match its ranks and to make its workload, and the bytes held.
#include "bench/bench-program.h"
#include "bench/process-usage.h"
#include "support/chakra-text.h"

#include "ns3/chakra-files.h"
#include "ns3/trace-workload.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;
using namespace ns3::gradsync;

namespace
{

struct Options
{
    uint64_t nodes{1'000'000};
    uint32_t ranks{1};
    bool isJson{false};
};

/// A node of ten is an all-reduce, the others compute; each waits for the three before it.
tests::WireNode
MakeNode(uint64_t id)
{
    const bool isCollective = id % 10 == 9;
    tests::WireNode node{id, isCollective ? tests::WireNode::COLLECTIVE : tests::WireNode::COMPUTE};
    node.micros = isCollective ? 0 : 10;
    node.name = fmt::format("aten::operation_of_a_layer({})", id % 1000);
    for (uint64_t back = 3; back > 0; --back)
    {
        if (id >= back)
        {
            node.dependencies.push_back(id - back);
        }
    }
    node.attributes = {{"is_cpu_op", 0}};
    if (isCollective)
    {
        node.attributes.emplace_back("comm_type", 0);
        node.attributes.emplace_back("comm_size", 1 << 20);
    }
    return node;
}

std::string
MakeText(const Options& options)
{
    if (!options.isJson)
    {
        auto text = tests::WriteChakra({});
        for (uint64_t id = 0; id < options.nodes; ++id)
        {
            text += tests::WriteChakraNode(MakeNode(id));
        }
        return text;
    }
    std::string text = "{\"workload_graph\": [";
    for (uint64_t id = 0; id < options.nodes; ++id)
    {
        const auto node = MakeNode(id);
        nlohmann::ordered_json json{{"Id", node.id},
                                    {"Name", node.name},
                                    {"NodeType", node.type},
                                    {"data_deps", node.dependencies},
                                    {"runtime", node.micros}};
        for (const auto& [name, value] : node.attributes)
        {
            json[name] = value;
        }
        text += (id == 0 ? "" : ",\n") + json.dump();
    }
    return text + "]}\n";
}

TraceProgram
ReadText(const Options& options, const std::string& text)
{
    ChakraProgram program("trace", {});
    if (options.isJson)
    {
        ReadChakraJson(text, program);
    }
    else
    {
        ReadChakraProtobuf(text, program);
    }
    return program.Finish();
}

nlohmann::ordered_json
Run(const Options& options)
{
    using Clock = std::chrono::steady_clock;
    const auto text = MakeText(options);
    const auto programBytes = bench::GetPeakRssBytes();
    const auto begin = Clock::now();
    TraceSet set;
    set.programs.assign(options.ranks,
                        std::make_shared<const TraceProgram>(ReadText(options, text)));
    const auto read = Clock::now();
    const auto readBytes = bench::GetPeakRssBytes();
    TraceIssues issues;
    TraceJobSpec spec;
    spec.trace = std::make_shared<const MatchedTrace>(MatchTrace(std::move(set), issues));
    const auto matched = Clock::now();
    spec.schemes.fill({FindScheme("ring"), MakeDefaultParameters(*FindScheme("ring"))});
    PlanShelf shelf;
    const auto workload = MakeTraceWorkload(spec, shelf);
    const auto made = Clock::now();
    const auto seconds = [](auto time) { return std::chrono::duration<double>(time).count(); };
    return {{"form", options.isJson ? "json" : "protobuf"},
            {"nodes", options.nodes},
            {"ranks", options.ranks},
            {"text_bytes", text.size()},
            {"tasks", workload.GetTasks().size()},
            {"communications", workload.GetCommunications().size()},
            {"before_rss_bytes", programBytes}, // with the text
            {"read_rss_bytes", readBytes},
            {"peak_rss_bytes", bench::GetPeakRssBytes()},
            {"read_s", seconds(read - begin)},
            {"match_s", seconds(matched - read)},
            {"build_s", seconds(made - matched)}};
}

} // namespace

int
main(int argc, char** argv)
{
    Options options;
    const bench::BenchProgram program{"trace-bench",
                                      "Reading of a large Chakra execution trace",
                                      {
                                          {"--nodes", &options.nodes, "of the file"},
                                          {"--ranks", &options.ranks, "that run it"},
                                          {"--json", &options.isJson, "its JSON form"},
                                      },
                                      [&] { return Run(options); }};
    return program.Main(argc, argv);
}
