// SPDX-License-Identifier: GPL-2.0-only
#include "unit/scheme/scheme-test-support.h"
#include "unit/study/scenario-test-support.h"

#include "ns3/import-error.h"
#include "ns3/import-scheme.h"
#include "ns3/plan-builder.h"
#include "ns3/plan-compressor.h"
#include "ns3/plan-document.h"
#include "ns3/plan-printer.h"
#include "ns3/plan-protocol.h"
#include "ns3/scenario-reader.h"
#include "ns3/scenario-runner.h"
#include "ns3/scenario-sweep.h"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace ns3::gradsync
{

namespace
{

using testing::HasSubstr;

std::string
WriteDocument(const Plan& plan)
{
    return PlanPrinter(plan).ToJson().dump();
}

/// Workers in racks of three.
Plan
BuildInRacks(const Scheme& scheme, uint32_t workers, uint64_t gradientBytes)
{
    const std::vector<uint32_t> racks(workers / 3, 3);
    return scheme.build(
        MakeRequest(scheme.name, workers, gradientBytes, {}, {MakeLevel("rack", racks, 2.0)}));
}

std::string
GetProblem(const std::string& text, uint64_t gradientBytes = 1000)
{
    try
    {
        PlanImport("x.json", text, gradientBytes, 4);
    }
    catch (const ImportError& error)
    {
        return error.what();
    }
    return "";
}

/// Two ranks, with the operations that are given.
std::string
WriteTwo(const std::string& operations, const std::string& more = R"("chunks": 2)")
{
    return fmt::format(R"({{"format": "gradsync plan 1", "ranks": 2, {}, "operations": [{}]}})",
                       more,
                       operations);
}

/// An all-reduce of two: rank 0 gets the sum, and gives it back.
const std::string THERE =
    R"({"kind": "reduce", "from": 1, "to": 0, "firstChunk": 0, "chunkCount": 2})";
const std::string BACK =
    R"({"kind": "copy", "from": 0, "to": 1, "firstChunk": 0, "chunkCount": 2, "after": [0]})";

TEST(PlanDocument, OfEverySchemeIsTheSamePlanAgain)
{
    // What is written of the plan that was read is what was written before: a file holds all of a
    // plan that the program ever prints, and reading loses none of it.
    std::mt19937_64 dice(19);
    for (const auto& scheme : GetSchemes())
    {
        SCOPED_TRACE(scheme.name);
        const auto bytes = 4 * std::uniform_int_distribution<uint64_t>(500, 100'000)(dice);
        const auto plan = BuildInRacks(scheme, 9, bytes);
        const auto text = WriteDocument(plan);
        if (plan.HasAggregations())
        {
            EXPECT_THAT(GetProblem(text), HasSubstr("lets the network aggregate"));
            continue;
        }
        const auto again = PlanImport("x.json", text, bytes, 4);
        EXPECT_EQ(WriteDocument(again), text);
        EXPECT_EQ(again.IsCompressed(), plan.IsCompressed());
        EXPECT_EQ(again.SelectsSums(), plan.SelectsSums());
        EXPECT_EQ(CountImportServers("x.json", text), plan.GetRankCount() - plan.GetWorkerCount());
        EXPECT_THAT(again, DoesWhatItIsFor());
    }
}

TEST(PlanDocument, KeepsWhatComputesAndSizesOfMessages)
{
    CodecSpec codec;
    codec.kind = CodecKind::Int8;
    const auto cost = [](uint64_t elements) { return 1.25e-9 * static_cast<double>(elements); };
    const auto plan =
        CompressPlan(BuildInRacks(*FindScheme("ring"), 9, 36'000), codec, {cost, cost});
    ASSERT_TRUE(plan.IsCompressed());
    const auto text = WriteDocument(plan);
    const auto again = PlanImport("x.json", text, 36'000, 4);
    EXPECT_TRUE(again.IsCompressed());
    EXPECT_EQ(WriteDocument(again), text);
}

/// Hosts at a switch. \param scheme as a scenario has it
RunResult
SimulateOn(const std::string& transport, uint32_t hosts, uint64_t bytes, const std::string& scheme)
{
    const auto text = fmt::format(
        R"({{"topology": {{"kind": "star", "hosts": {}, "hostLink": {{"rate": "40Gbps", "delay": "1us"}}}},
            "transport": "{}", "job": {{"gradient": "{}B", "reduceRate": "100Gbps"}}, "scheme": {}}})",
        hosts,
        transport,
        bytes,
        scheme);
    const auto run = ResolveRun(ParseScenario(text, "x.json", {}), 0);
    CheckRun(run, true);
    auto result = RunScenario(run);
    EXPECT_TRUE(result.summary.finished) << result.summary.failure;
    return result;
}

/// What the scheme plans for that run.
std::string
WritePlanOf(uint32_t hosts, uint64_t bytes, const std::string& scheme)
{
    const auto result = SimulateOn("fluid", hosts, bytes, scheme);
    return WriteDocument(*result.jobs.at(0).plan);
}

TEST(PlanDocument, TakesToThePicosecondWhatItsSchemeTakes)
{
    const TemporaryFolder folder;
    const auto file = (folder.Get() / "plan.json").string();
    std::mt19937_64 dice(20);
    for (const auto* scheme : {"ring", "halving-doubling", "ps", "k-nomial", "butterfly"})
    {
        const auto hosts = std::uniform_int_distribution<uint32_t>(2, 9)(dice);
        const auto bytes = std::uniform_int_distribution<uint64_t>(1, 300'000)(dice);
        const auto named = fmt::format("\"{}\"", scheme);
        SCOPED_TRACE(fmt::format("{} of {} hosts, {} bytes", scheme, hosts, bytes));
        std::ofstream(file) << WritePlanOf(hosts, bytes, named);
        const auto imported = fmt::format(R"({{"kind": "import", "file": "{}"}})", file);
        for (const auto* transport : {"fluid", "roce", "tcp"})
        {
            const auto first = SimulateOn(transport, hosts, bytes, named).summary;
            const auto second = SimulateOn(transport, hosts, bytes, imported).summary;
            EXPECT_EQ(second.maxIctPs, first.maxIctPs) << transport;
        }
    }
}

TEST(PlanDocument, CutsTheBufferAsItSays)
{
    // 1000 bytes are 250 elements: 125 and 125; in the ratio 1 to 4 they are 50 and 200.
    const auto even = PlanImport("x.json", WriteTwo(THERE + "," + BACK), 1000, 4);
    EXPECT_EQ(even.GetLayout().GetBytes(0, 1), 500U);
    EXPECT_THAT(even, DoesWhatItIsFor());
    const auto weighted =
        PlanImport("x.json", WriteTwo(THERE + "," + BACK, R"("chunkWeights": [1, 4])"), 1000, 4);
    EXPECT_EQ(weighted.GetLayout().GetBytes(0, 1), 200U);
    EXPECT_EQ(weighted.GetLayout().GetBytes(1, 1), 800U);
    const auto sized =
        PlanImport("x.json", WriteTwo(THERE + "," + BACK, R"("chunkBytes": [1, 999])"), 1000, 4);
    EXPECT_EQ(sized.GetLayout().GetBytes(1, 1), 999U);
}

TEST(PlanDocument, SaysWhatIsWrongAndWhere)
{
    struct Mistake
    {
        std::string text;
        std::string told;
    };

    const auto of = [](const std::string& operation) { return WriteTwo(operation); };
    const std::vector<Mistake> mistakes{
        {"{", "x.json: parse error at line 1, column 2"},
        {"{}", R"(x.json: "format" is missing, expected "gradsync plan 1")"},
        {R"({"format": "gradsync plan 2"})",
         R"(x.json: format: found "gradsync plan 2", expected)"},
        {WriteTwo("", R"("chunks": 0)"), "x.json: chunks: found 0, expected a whole number from 1"},
        {WriteTwo("", R"("chunk": 4)"), R"(did you mean "chunks"?)"},
        {WriteTwo("", R"("chunks": 1, "chunkWeights": [1])"), "x.json: expected one of"},
        {WriteTwo("", R"("chunkBytes": [400, 500])"), "chunkBytes: are 900 bytes together"},
        {WriteTwo("", R"("chunks": 2, "sources": [0, 1, 0])"), "sources: found 3, expected one"},
        {WriteTwo("", R"("chunks": 2, "targets": 2)"), "targets: found 2, expected \"all\" or a"},
        {WriteTwo("", R"("chunks": 2, "protocol": "LL")"), "protocol: what a protocol adds"},
        {WriteTwo("", R"("chunks": 2, "ranks": 3)"), R"(x.json: duplicate key "ranks")"},
        {of("7"), "x.json: operations.0: found 7, expected an object"},
        {of(R"({"kind": "redcue", "from": 0})"),
         R"(x.json: operations.0.kind: found "redcue"; did you mean "reduce"? (allowed: reduce, )"},
        {of(R"({"kind": "join", "from": 2})"),
         "x.json: operations.0.from: found 2, expected a rank below 2"},
        {of(R"({"kind": "join", "from": 0, "form": 1})"), R"(did you mean "from"?)"},
        {of(R"({"kind": "join", "from": 0, "from": 1})"),
         R"(x.json: duplicate key "from" in operations.0)"},
        {of(THERE + R"(,{"kind": "copy", "from": 0, "to": 1, "firstChunk": 1, "chunkCount": 2})"),
         "x.json: operations.1.firstChunk: found the chunks [1, 3)"},
        {of(R"({"kind": "copy", "from": 0, "to": 0, "firstChunk": 1})"),
         "operations.0.to: found 0, the rank that it is from"},
        {of(R"({"kind": "copy", "from": 0, "to": 1, "firstChunk": 1, "bytes": 1})"),
         "operations.0.bytes: found 1, expected 500, those of its chunks"},
        {of(R"({"kind": "join", "from": 0, "after": [1]})"),
         "operations.0.after: found 1, expected another operation below 1"},
        {of(R"({"kind": "join", "from": 0, "after": [-1]})"),
         "operations.0.after.0: found -1, expected a whole number from 0"},
        {of(R"({"kind": "join", "from": 0, "after": [1]}, {"kind": "join", "from": 0, "after": [0]})"),
         "a cycle of edges"},
        {of(R"({"kind": "aggregate", "from": 0})"), "lets the network aggregate"},
        {of(R"({"kind": "gate", "from": 0, "quorum": 2, "picoseconds": 5,
                "answers": [{"operation": 0, "worker": 0}]})"),
         "a gate that 2 of 1 answers open"},
        {of(R"({"kind": "signal", "from": 0, "to": 0, "bytes": 1})"), "operations.0.to: found 0"},
        {of(R"({"kind": "join", "from": 0, "id": 3})"), "operations.0.id: found 3, expected 0"},
    };
    for (const auto& [text, told] : mistakes)
    {
        EXPECT_THAT(GetProblem(text), HasSubstr(told)) << text;
    }
}

TEST(PlanDocument, RefusesWhatAProtocolHasAddedTo)
{
    const auto plan = ApplyProtocol(BuildInRacks(*FindScheme("ring"), 3, 1200),
                                    FindProtocol("ll")->defaults,
                                    {0, 1, 2});
    EXPECT_THAT(GetProblem(WriteDocument(plan), 1200), HasSubstr("belongs to a job"));
}

} // namespace

} // namespace ns3::gradsync
