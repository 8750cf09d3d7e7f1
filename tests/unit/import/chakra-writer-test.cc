// SPDX-License-Identifier: GPL-2.0-only
// Plans that are written as Chakra traces, and run as such.
#include "oracles/oracle-run.h"
#include "support/workload-fixture.h"
#include "unit/scheme/scheme-test-support.h"

#include "ns3/chakra-files.h"
#include "ns3/chakra-writer.h"
#include "ns3/plan-builder.h"
#include "ns3/plan-shelf.h"
#include "ns3/trace-workload.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
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
TraceSet
ReadWritten(const ChakraWriter& writer)
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
    EXPECT_THAT(refused, ElementsAre("atp", "federated", "netreduce", "passing", "switchml"));
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
              "operation 0, compute, takes 3500000 ps of processor 0 of rank 0: Chakra has whole "
              "microseconds, of one processor a rank");
    EXPECT_THAT(GetRefusal(MakeComputingPlan(3'000'000, 1)), HasSubstr("of processor 1 of rank 0"));
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

} // namespace
} // namespace ns3::gradsync
