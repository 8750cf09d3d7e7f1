// SPDX-License-Identifier: GPL-2.0-only
// Plans that are written as Chakra traces, and run as such.
#include "oracles/oracle-run.h"
#include "support/training-specs.h"
#include "support/workload-fixture.h"
#include "unit/scheme/scheme-test-support.h"

#include "ns3/chakra-files.h"
#include "ns3/chakra-workload-writer.h"
#include "ns3/chakra-writer.h"
#include "ns3/plan-builder.h"
#include "ns3/plan-shelf.h"
#include "ns3/trace-workload.h"
#include "ns3/training-workload.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

/// The traces of all ranks, as they are read from files.
template <class Writer>
TraceSet
ReadWritten(const Writer& writer)
{
    TraceSet set;
    for (uint32_t rank = 0; rank < writer.GetRankCount(); ++rank)
    {
        std::ostringstream file;
        writer.Write(rank, file);
        ChakraProgram program("x.et", {});
        ReadChakraProtobuf(file.str(), program);
        set.programs.push_back(std::make_shared<const TraceProgram>(program.Finish()));
        EXPECT_TRUE(program.GetBuilder().GetIssues().IsEmpty());
    }
    return set;
}

/// Whether transfers of a pair of ranks go by several connections.
bool
HasSeveralConnections(const Plan& plan)
{
    std::map<std::pair<uint32_t, uint32_t>, std::set<uint32_t>> streams;
    for (const auto& operation : plan.GetOperations())
    {
        if (operation.IsTransfer())
        {
            streams[{operation.src, operation.dst}].insert(operation.stream);
        }
    }
    return std::any_of(streams.begin(), streams.end(), [](const auto& pair) {
        return pair.second.size() > 1;
    });
}

class ChakraWriterTest : public tests::WorkloadFixture
{
  protected:
    oracles::RackNetworkRates GetRates() const override
    {
        return {DataRate("8Gbps"), DataRate("8Gbps"), MicroSeconds(1)};
    }

    Time RunWritten(const ChakraWriter& writer)
    {
        TraceIssues issues;
        TraceJobSpec spec;
        spec.trace = std::make_shared<const MatchedTrace>(MatchTrace(ReadWritten(writer), issues));
        EXPECT_TRUE(issues.IsEmpty()) << issues.Describe();
        spec.schemes.fill(tests::Choose("ring"));
        PlanShelf shelf;
        const auto time = Run(MakeTraceWorkload(spec, shelf));
        Reset();
        return time;
    }

    Time RunPlan(const Plan& plan) const
    {
        auto transport = MakeTransport();
        const auto network = oracles::MakeRackNetwork(1, plan.GetRankCount(), GetRates());
        transport->Install(network.topology, network.routes);
        const auto result =
            oracles::RunJob(oracles::MakeOracleJob("plan", std::make_shared<Plan>(plan)),
                            transport);
        EXPECT_EQ(result.failure, "");
        transport->Dispose();
        Simulator::Destroy();
        return result.time;
    }
};

/// All bytes that go over the network.
uint64_t
SumMessages(const ChakraWriter& writer)
{
    TraceIssues issues;
    uint64_t bytes = 0;
    for (const auto& meeting : MatchTrace(ReadWritten(writer), issues).meetings)
    {
        bytes += meeting.bytes;
    }
    EXPECT_TRUE(issues.IsEmpty()) << issues.Describe();
    return bytes;
}

std::string
GetRefusal(const Plan& plan)
{
    try
    {
        const ChakraWriter writer(plan);
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
    return "";
}

// Every scheme of the catalogue, nine workers in three racks, on random sizes: the same bytes, and
// a byte for each rank that is told of an operation of others. Where nobody has to be told, and
// every pair has one connection, which Chakra does not know of, the traces take what the plan
// takes.
TEST_F(ChakraWriterTest, TracesOfEverySchemeTakeWhatItsPlanTakes)
{
    std::set<std::string> same;
    std::set<std::string> refused;
    for (const auto& scheme : GetSchemes())
    {
        SCOPED_TRACE(scheme.name);
        for (int round = 0; round < 3; ++round)
        {
            const auto plan = scheme.build(MakeRequest(scheme.name,
                                                       9,
                                                       4 * Draw(9, 1'000'000),
                                                       {},
                                                       {MakeLevel("rack", {3, 3, 3}, 2.0)}));
            if (!GetRefusal(plan).empty())
            {
                EXPECT_THAT(GetRefusal(plan),
                            HasSubstr(plan.HasAggregations() ? "lets the network aggregate"
                                                             : "goes on with a quorum"));
                refused.insert(scheme.name);
                continue;
            }
            const ChakraWriter writer(plan);
            EXPECT_EQ(SumMessages(writer),
                      ComputePlanStatistics(plan).totalBytes + writer.GetSignalCount());
            const auto time = RunWritten(writer);
            if (writer.GetSignalCount() == 0 && !HasSeveralConnections(plan))
            {
                EXPECT_EQ(time, RunPlan(plan));
                same.insert(scheme.name);
            }
        }
    }
    EXPECT_THAT(refused,
                ElementsAre("atp",
                            "federated",
                            "flare",
                            "libra",
                            "netreduce",
                            "nvls",
                            "passing",
                            "sharp",
                            "switchml"));
    EXPECT_THAT(same,
                IsSupersetOf({"all-gather",
                              "all-to-all",
                              "broadcast",
                              "byteps",
                              "halving-doubling",
                              "ok-topk",
                              "ps-ring",
                              "reduce-scatter",
                              "ring"}));
}

// Rank 0 computes 3 us and sends 8,000 B, at 8 Gb/s in 8 us and over two links of 1 us; rank 1 then
// computes 4 us: 17 us.
Plan
MakeComputingPlan(uint64_t picoseconds, uint32_t processor)
{
    PlanBuilder builder(2, 2, ChunkLayout::Even(8000, 1));
    const auto first = builder.AddCompute(OperationKind::Compute, 0, picoseconds, processor);
    const auto sent = builder.AddCopy(0, 1, 0, 1);
    builder.AddEdge(first, sent);
    builder.AddEdge(sent, builder.AddCompute(OperationKind::Compute, 1, 4'000'000));
    return builder.Build();
}

TEST_F(ChakraWriterTest, ComputationsTakeWholeMicroseconds)
{
    const auto plan = MakeComputingPlan(3'000'000, 0);
    EXPECT_EQ(RunWritten(ChakraWriter(plan)), MicroSeconds(17));
    EXPECT_EQ(RunPlan(plan), MicroSeconds(17));
    EXPECT_EQ(GetRefusal(MakeComputingPlan(3'500'000, 0)),
              "operation 0, compute, of rank 0 takes 3500000 ps: Chakra has whole microseconds");
    EXPECT_EQ(GetRefusal(MakeComputingPlan(3'000'000, 1)),
              "operation 0, compute, of rank 0 is on processor 1: Chakra knows one of a rank");
}

// A header with a version, field 1, behind its length; then nodes, field 3 of which is their type.
TEST_F(ChakraWriterTest, FilesAreMessagesBehindTheirLengths)
{
    const auto plan = MakeComputingPlan(3'000'000, 0);
    std::ostringstream file;
    ChakraWriter(plan).Write(0, file);
    EXPECT_THAT(file.str(),
                testing::StartsWith("\x07\x0a\x05"
                                    "0.0.4"));
    const auto set = ReadWritten(ChakraWriter(plan));
    ASSERT_EQ(set.programs.size(), 2);
    const auto& nodes = set.programs[0]->nodes;
    ASSERT_EQ(nodes.size(), 2);
    EXPECT_EQ(nodes[0].action, TraceAction::Compute);
    EXPECT_EQ(nodes[0].picoseconds, 3'000'000);
    EXPECT_EQ(nodes[1].action, TraceAction::Send);
    EXPECT_EQ(nodes[1].bytes, 8000);
    EXPECT_EQ(nodes[1].peer, 1);
    EXPECT_EQ(nodes[1].tag, 1); // the operation
    EXPECT_THAT(set.programs[0]->edges, ElementsAre(std::pair(0U, 1U)));
    const auto& others = set.programs[1]->nodes;
    ASSERT_EQ(others.size(), 2);
    EXPECT_EQ(others[0].action, TraceAction::Receive);
    EXPECT_EQ(others[0].peer, 0);
}

/// The same groups as the side file has, `{"1": [0, 1]}`.
void
ReadGroups(const ChakraWorkloadWriter& writer, TraceSet& set)
{
    std::ostringstream file;
    writer.WriteGroups(file);
    const auto groups = nlohmann::json::parse(file.str());
    for (const auto& [name, ranks] : groups.items())
    {
        set.groups[name] = {ranks.get<std::vector<uint32_t>>()};
    }
}

class ChakraWorkloadTest : public ChakraWriterTest
{
  protected:
    Time RunWorkload(const TrainingSpec& spec)
    {
        PlanShelf shelf;
        const auto time = Run(MakeTrainingWorkload(spec, shelf));
        Reset();
        return time;
    }

    Time RunTraces(const TrainingSpec& spec)
    {
        PlanShelf shelf;
        const auto workload = MakeTrainingWorkload(spec, shelf);
        const ChakraWorkloadWriter writer(workload);
        auto set = ReadWritten(writer);
        ReadGroups(writer, set);
        TraceIssues issues;
        TraceJobSpec job;
        job.trace = std::make_shared<const MatchedTrace>(MatchTrace(std::move(set), issues));
        EXPECT_TRUE(issues.IsEmpty()) << issues.Describe();
        for (size_t i = 0; i < TRACE_COLLECTIVES; ++i)
        {
            job.schemes[i] = tests::Choose(
                i == 0 ? "ring" : GetTraceCollectiveName(static_cast<TraceCollective>(i)));
        }
        PlanShelf others;
        const auto time = Run(MakeTraceWorkload(job, others));
        Reset();
        return time;
    }

    static std::string GetWorkloadRefusal(const TrainingSpec& spec)
    {
        PlanShelf shelf;
        try
        {
            const auto workload = MakeTrainingWorkload(spec, shelf);
            const ChakraWorkloadWriter writer(workload);
        }
        catch (const std::invalid_argument& error)
        {
            return error.what();
        }
        return "";
    }

    /// Blocks of random times and sizes on tensor x data x pipeline ranks.
    TrainingSpec DrawSpec()
    {
        TrainingSpec spec;
        spec.tensor = static_cast<uint32_t>(Draw(1, 2));
        spec.data = static_cast<uint32_t>(Draw(1, 3));
        spec.pipeline = {static_cast<uint32_t>(Draw(1, 3)), static_cast<uint32_t>(Draw(1, 4)), 1};
        spec.schedule =
            Draw(0, 1) == 0 ? PipelineSchedule::GPipe : PipelineSchedule::OneForwardOneBackward;
        const bool isSharded = Draw(0, 1) == 0;
        spec.dataParallelism =
            isSharded ? DataParallelism::ShardedOptimizer : DataParallelism::AllReduce;
        spec.gradientScheme = tests::Choose(isSharded ? "reduce-scatter" : "ring");
        spec.parameterScheme = tests::Choose("all-gather");
        spec.activationBytes = Draw(1, 100'000);
        spec.buckets = {50'000, 200'000};
        for (uint32_t block = 0; block < 2 * spec.pipeline.stages; ++block)
        {
            ModelBlock made;
            made.name = fmt::format("block{}", block);
            made.forwardPicoseconds = Draw(0, 200) * tests::MICROSECOND;
            made.backwardPicoseconds = Draw(0, 400) * tests::MICROSECOND;
            // Shares of two and of three ranks are whole numbers of 4 bytes.
            made.gradientBytes = 24 * Draw(0, 10'000);
            made.afterForward = {{tests::Choose("ring"), 4 * Draw(1, 50'000)}};
            made.afterBackward = made.afterForward;
            spec.blocks.push_back(std::move(made));
        }
        return spec;
    }
};

// Ranks of a group come to a collective at the same time here; where they do not, ranks begin a
// collective of a trace together, and one of the training each on its own.
TEST_F(ChakraWorkloadTest, TracesOfRandomTrainingTakeWhatItTakes)
{
    for (int round = 0; round < 40; ++round)
    {
        const auto spec = DrawSpec();
        SCOPED_TRACE(fmt::format("round {}: {} x {} x {}",
                                 round,
                                 spec.tensor,
                                 spec.data,
                                 spec.pipeline.stages));
        EXPECT_EQ(RunTraces(spec), RunWorkload(spec));
    }
}

TEST_F(ChakraWorkloadTest, WhatChakraCannotSayIsNamed)
{
    auto spec = tests::MakePipeline(PipelineSchedule::GPipe, {2, 2}, tests::MakeBlock(3, 7));
    EXPECT_EQ(GetWorkloadRefusal(spec), "");
    auto fine = spec;
    fine.blocks[0].forwardPicoseconds += 1;
    EXPECT_THAT(GetWorkloadRefusal(fine), HasSubstr("takes 3000001 ps: Chakra has whole"));
    auto ordered = spec;
    ordered.data = 2;
    ordered.blocks[0].gradientBytes = 8;
    ordered.gradientScheme = tests::Choose("ring");
    EXPECT_EQ(GetWorkloadRefusal(ordered), "");
    ordered.streams.policy = StreamPolicy::Priority;
    EXPECT_THAT(GetWorkloadRefusal(ordered), HasSubstr("has another order than that of the"));
    auto many = spec;
    many.pipeline = {1, 1};
    many.iterations = 2;
    EXPECT_THAT(GetWorkloadRefusal(many), HasSubstr("iterations without a barrier"));
}

} // namespace
} // namespace ns3::gradsync
