// SPDX-License-Identifier: GPL-2.0-only
#include "support/chakra-text.h"

#include "ns3/chakra-files.h"
#include "ns3/import-error.h"
#include "ns3/matched-trace.h"
#include "ns3/trace-circles.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using tests::WireMessage;
using tests::WireNode;
using tests::WriteChakra;

struct ReadTrace
{
    TraceProgram program;
    TraceIssues issues;
};

ReadTrace
ReadBinary(const std::string& text, const ChakraOptions& options = {})
{
    ChakraProgram program("x.et", options);
    ReadChakraProtobuf(text, program);
    ReadTrace read;
    read.program = program.Finish();
    read.issues = program.GetBuilder().GetIssues();
    return read;
}

ReadTrace
ReadJson(const std::string& text)
{
    ChakraProgram program("x.json", {});
    ReadChakraJson(text, program);
    ReadTrace read;
    read.program = program.Finish();
    read.issues = program.GetBuilder().GetIssues();
    return read;
}

template <typename Function>
std::string
GetImportError(Function function)
{
    try
    {
        function();
    }
    catch (const ImportError& error)
    {
        return error.what();
    }
    return "";
}

TEST(ChakraTrace, NodesAreWhatTheirTypeSays)
{
    const auto read = ReadBinary(WriteChakra(
        {{3, WireNode::COMPUTE, 7, {}, {{"is_cpu_op", 0}}, "forward"},
         {4, WireNode::COMPUTE, 2, {3}, {{"is_cpu_op", 1}}},
         {5, WireNode::COLLECTIVE, 9, {4}, {{"comm_type", 2}, {"comm_size", 100}}, "gather", "dp"},
         {6, WireNode::SEND, 0, {5}, {{"comm_size", 8}, {"comm_dst", 1}, {"comm_tag", 5}}}}));
    const auto& nodes = read.program.nodes;
    ASSERT_EQ(nodes.size(), 4U);
    EXPECT_EQ(nodes[0].action, TraceAction::Compute);
    EXPECT_EQ(nodes[0].picoseconds, 7'000'000U); // 7 us
    EXPECT_EQ(read.program.labels[nodes[0].label], "forward");
    EXPECT_EQ(nodes[1].action, TraceAction::Host);
    EXPECT_EQ(nodes[2].action, TraceAction::Collective);
    EXPECT_EQ(nodes[2].collective, TraceCollective::AllGather);
    EXPECT_TRUE(nodes[2].isShare); // what each rank brings
    EXPECT_EQ(read.program.groups[nodes[2].group], "dp");
    EXPECT_EQ(nodes[3].action, TraceAction::Send);
    EXPECT_EQ(nodes[3].peer, 1);
    EXPECT_EQ(nodes[3].tag, 5);
    EXPECT_THAT(read.program.edges, ElementsAre(Pair(0, 1), Pair(1, 2), Pair(2, 3)));
    EXPECT_TRUE(read.issues.IsEmpty());
}

TEST(ChakraTrace, IntegersOfEachTypeAreRead)
{
    // Fields 7, 9, 11 and 13 are int32, int64, uint32 and uint64, which are varints; 15 and 17 are
    // sint32 and sint64, which are zigzag: 2 v for v >= 0.
    for (const uint32_t field : {7U, 9U, 11U, 13U, 15U, 17U})
    {
        const auto raw = field >= 15 ? 2 * 4096U : 4096U;
        WireMessage node;
        node.Number(1, 1).Number(3, WireNode::COLLECTIVE);
        node.Text(10, WireMessage().Text(1, "comm_size").Number(field, raw).Get());
        node.Text(10, WireMessage().Text(1, "comm_type").Number(field, 0).Get());
        const auto read = ReadBinary(WireMessage().Delimit() + node.Delimit());
        ASSERT_EQ(read.program.nodes.size(), 1U);
        EXPECT_EQ(read.program.nodes[0].bytes, 4096U) << field;
        EXPECT_TRUE(read.issues.IsEmpty()) << field;
    }
}

TEST(ChakraTrace, WhatCannotBeSimulatedIsNamedAndCounted)
{
    const auto read = ReadBinary(
        WriteChakra({{1, WireNode::LOAD, 3, {99}, {}, "load"},
                     {2, WireNode::LOAD, 3, {2}},
                     {3, WireNode::COLLECTIVE, 4, {98}, {}, "mystery"},
                     {4, WireNode::COMPUTE, 1, {5}},
                     {5, WireNode::COMPUTE, 1, {4}, {}, "circle"},
                     {6, WireNode::COLLECTIVE, 1, {}, {{"comm_type", 3}, {"comm_size", 1}}},
                     {7, WireNode::SEND, 1, {}, {{"comm_size", 1}}}}));
    const auto text = read.issues.Describe();
    EXPECT_THAT(text, HasSubstr("2 loads from memory (the first: node 1 \"load\" of x.et)"));
    EXPECT_THAT(text, HasSubstr("1 collectives without comm_type (the first: node 3 \"mystery\""));
    EXPECT_THAT(text, HasSubstr("1 collectives of comm_type 3"));
    EXPECT_THAT(text, HasSubstr("1 messages without comm_size or comm_dst"));
    EXPECT_THAT(text,
                HasSubstr("2 dependencies on nodes that are not there (the first: on node 99"));
    EXPECT_THAT(text, HasSubstr("1 dependencies of nodes on themselves"));
    EXPECT_THAT(text, HasSubstr("1 dependencies that close a circle"));
    // A circle of two loses one edge; what has a time takes it.
    EXPECT_EQ(read.program.edges.size(), 1U);
    EXPECT_EQ(read.program.nodes[2].action, TraceAction::Compute);
    EXPECT_EQ(read.program.nodes[2].picoseconds, 4'000'000U);
}

TEST(ChakraTrace, ControlDependenciesCanBeLeftOut)
{
    WireMessage first;
    first.Number(1, 1).Number(3, WireNode::COMPUTE);
    WireMessage second;
    second.Number(1, 2).Number(3, WireNode::COMPUTE).Number(4, 1);
    const auto text = WireMessage().Delimit() + first.Delimit() + second.Delimit();
    EXPECT_THAT(ReadBinary(text).program.edges, ElementsAre(Pair(0, 1)));
    EXPECT_TRUE(ReadBinary(text, {false}).program.edges.empty());
}

TEST(ChakraTrace, FormsOfJsonSayTheSame)
{
    const auto binary = ReadBinary(WriteChakra(
        {{0, WireNode::COMPUTE, 7, {}, {{"is_cpu_op", 0}}, "a"},
         {1, WireNode::COLLECTIVE, 2, {0}, {{"comm_type", 0}, {"comm_size", 64}}, "b", "1"}}));
    // As protobuf writes messages: 64-bit numbers are texts, and what is 0 is left out.
    const auto messages = ReadJson(R"({"version": "0.0.4"}
        {"name": "a", "type": "COMP_NODE", "durationMicros": "7",
         "attr": [{"name": "is_cpu_op", "boolVal": false}]}
        {"id": "1", "name": "b", "type": "COMM_COLL_NODE", "durationMicros": "2", "dataDeps": ["0"],
         "attr": [{"name": "comm_type", "int64Val": "0"}, {"name": "comm_size", "int64Val": "64"},
                  {"name": "pg_name", "stringVal": "1"}]})");
    // As Chakra's feeder has it.
    const auto graph = ReadJson(R"({"workload_graph": [
        {"Id": 0, "Name": "a", "NodeType": 4, "data_deps": [], "runtime": 7, "is_cpu_op": false},
        {"Id": 1, "Name": "b", "NodeType": 7, "data_deps": [0], "runtime": 2, "comm_type": 0,
         "comm_size": 64, "pg_name": "1"}], "ngpus": 8})");
    for (const auto* read : {&messages, &graph})
    {
        EXPECT_EQ(read->program.edges, binary.program.edges);
        EXPECT_EQ(read->program.labels, binary.program.labels);
        EXPECT_EQ(read->program.groups, binary.program.groups);
        EXPECT_TRUE(read->issues.IsEmpty());
        ASSERT_EQ(read->program.nodes.size(), binary.program.nodes.size());
        for (size_t i = 0; i < binary.program.nodes.size(); ++i)
        {
            EXPECT_EQ(read->program.nodes[i].action, binary.program.nodes[i].action);
            EXPECT_EQ(read->program.nodes[i].picoseconds, binary.program.nodes[i].picoseconds);
            EXPECT_EQ(read->program.nodes[i].bytes, binary.program.nodes[i].bytes);
        }
    }
}

TEST(ChakraTrace, BadFilesAreOneMessage)
{
    const auto whole = WriteChakra({{1, WireNode::COMPUTE, 5}});
    const auto binary = [](const std::string& text) {
        return GetImportError([&text] { ReadBinary(text); });
    };
    EXPECT_THAT(binary(whole.substr(0, whole.size() - 1)),
                HasSubstr("x.et: the message at byte 8"));
    EXPECT_THAT(binary(std::string(12, '\xff')), HasSubstr("x.et: at byte 5 is no length"));
    EXPECT_THAT(binary(WriteChakra({{1, WireNode::COMPUTE}, {1, WireNode::COMPUTE}})),
                HasSubstr("two nodes have the id 1"));
    EXPECT_THAT(binary(WriteChakra({{1, WireNode::COMPUTE, uint64_t{1} << 60}})),
                HasSubstr("at most 1000000000000 us"));
    const auto json = [](const std::string& text) {
        return GetImportError([&text] { ReadJson(text); });
    };
    EXPECT_THAT(json(""), HasSubstr("x.json: has no nodes"));
    EXPECT_THAT(json("{\"nodes\": [{\"id\": 1}]}"), HasSubstr("without a type: a PyTorch"));
    EXPECT_THAT(json("{\"workload_graph\": [{\"Id\": 1, "), HasSubstr("is no JSON"));
    EXPECT_THAT(json("{\"type\": \"COMP_NODE\", \"id\": -1}"), HasSubstr("id: found -1"));
    EXPECT_THAT(json("{\"type\": \"KOMP_NODE\"}"), HasSubstr("type: found \"KOMP_NODE\""));
    EXPECT_THAT(json("{\"a\": " + std::string(99, '[') + std::string(99, ']') + "}"),
                HasSubstr("nested more than 16 deep"));
}

TEST(ChakraTrace, NothingButMessagesComesOfDamagedFiles)
{
    std::mt19937_64 random(11);
    const auto whole = WriteChakra(tests::MakeRingNodes(4, 1, 1000, 3));
    uint32_t refused = 0;
    for (int turn = 0; turn < 2000; ++turn)
    {
        auto text = whole;
        text[random() % text.size()] = static_cast<char>(random());
        const auto error = GetImportError([&text] { ReadBinary(text); });
        refused += error.empty() ? 0 : 1;
        EXPECT_TRUE(error.empty() || error.starts_with("x.et: ")) << error;
    }
    // A damaged length shifts all that follows; a damaged letter of a name does not.
    EXPECT_GT(refused, 100U);
    EXPECT_LT(refused, 1900U);
}

/// Whether edges have an order of nodes that they all follow (Kahn's algorithm).
bool
HasOrder(size_t nodes, const TraceEdges& edges)
{
    std::vector<uint32_t> waits(nodes, 0);
    for (const auto& edge : edges)
    {
        ++waits[edge.second];
    }
    std::queue<uint32_t> ready;
    for (uint32_t node = 0; node < nodes; ++node)
    {
        if (waits[node] == 0)
        {
            ready.push(node);
        }
    }
    size_t done = 0;
    for (; !ready.empty(); ready.pop(), ++done)
    {
        for (const auto& edge : edges)
        {
            if (edge.first == ready.front() && --waits[edge.second] == 0)
            {
                ready.push(edge.second);
            }
        }
    }
    return done == nodes;
}

TEST(ChakraTrace, CirclesAreCutAndNothingElse)
{
    std::mt19937_64 random(3);
    for (int turn = 0; turn < 200; ++turn)
    {
        const auto nodes = static_cast<uint32_t>(2 + random() % 20);
        TraceEdges edges;
        TraceEdges forward;
        for (uint64_t i = random() % 60; i > 0; --i)
        {
            const auto from = static_cast<uint32_t>(random() % nodes);
            const auto to = static_cast<uint32_t>((from + 1 + random() % (nodes - 1)) % nodes);
            edges.emplace_back(from, to);
            forward.emplace_back(std::min(from, to), std::max(from, to));
        }
        const bool hadOrder = HasOrder(nodes, edges);
        const auto taken = CutCircles(nodes, edges);
        EXPECT_TRUE(HasOrder(nodes, edges));
        EXPECT_EQ(taken.empty(), hadOrder);
        for (const auto& edge : taken)
        {
            // Each of them closes a circle with what is left.
            auto closed = edges;
            closed.push_back(edge);
            EXPECT_FALSE(HasOrder(nodes, closed));
        }
        EXPECT_TRUE(CutCircles(nodes, forward).empty());
    }
}

/// Ranks with these nodes.
TraceSet
MakeSet(const std::vector<std::vector<WireNode>>& ranks)
{
    TraceSet set;
    for (const auto& nodes : ranks)
    {
        set.programs.push_back(
            std::make_shared<const TraceProgram>(ReadBinary(WriteChakra(nodes)).program));
    }
    return set;
}

WireNode
MakeMessage(uint64_t id, uint32_t type, uint64_t peer, uint64_t bytes, uint64_t tag = 0)
{
    const auto* name = type == WireNode::SEND ? "comm_dst" : "comm_src";
    return {id, type, 0, {}, {{"comm_size", bytes}, {name, peer}, {"comm_tag", tag}}};
}

TEST(ChakraTrace, MessagesMeetByPairAndTagInOrder)
{
    TraceIssues issues;
    const auto trace = MatchTrace(MakeSet({{MakeMessage(1, WireNode::SEND, 1, 10),
                                            MakeMessage(2, WireNode::SEND, 1, 20),
                                            MakeMessage(3, WireNode::SEND, 1, 30, 7)},
                                           {MakeMessage(1, WireNode::RECEIVE, 0, 30, 7),
                                            MakeMessage(2, WireNode::RECEIVE, 0, 10),
                                            MakeMessage(3, WireNode::RECEIVE, 0, 20)}}),
                                  issues);
    EXPECT_TRUE(issues.IsEmpty()) << issues.Describe();
    ASSERT_EQ(trace.meetings.size(), 3U);
    EXPECT_EQ(trace.meetingOf[0][0], trace.meetingOf[1][1]);
    EXPECT_EQ(trace.meetingOf[0][1], trace.meetingOf[1][2]);
    EXPECT_EQ(trace.meetingOf[0][2], trace.meetingOf[1][0]);
}

TEST(ChakraTrace, EndsThatDoNotMeetAreCounted)
{
    TraceIssues issues;
    MatchTrace(MakeSet({{MakeMessage(1, WireNode::SEND, 1, 10),
                         MakeMessage(2, WireNode::SEND, 1, 10),
                         MakeMessage(3, WireNode::SEND, 1, 5, 1),
                         MakeMessage(4, WireNode::SEND, 9, 5)},
                        {MakeMessage(1, WireNode::RECEIVE, 0, 10),
                         MakeMessage(2, WireNode::RECEIVE, 0, 6, 1)}}),
               issues);
    const auto text = issues.Describe();
    EXPECT_THAT(text, HasSubstr("1 messages without their other end"));
    EXPECT_THAT(text, HasSubstr("1 messages whose ends have different sizes"));
    EXPECT_THAT(text, HasSubstr("1 messages with ranks that the trace of 2 does not have"));
}

TEST(ChakraTrace, CollectivesMeetInOrderAndMustAgree)
{
    const auto make = [](uint64_t id, uint64_t bytes, const std::string& group = "") {
        return WireNode{id,
                        WireNode::COLLECTIVE,
                        0,
                        {},
                        {{"comm_type", 2}, {"comm_size", bytes}},
                        "gather",
                        group};
    };
    TraceIssues issues;
    const auto trace =
        MatchTrace(MakeSet({{make(1, 100), make(2, 50)}, {make(5, 100), make(6, 60)}}), issues);
    ASSERT_EQ(trace.meetings.size(), 1U);
    EXPECT_EQ(trace.meetings[0].bytes, 200U); // 100 of each of two ranks
    EXPECT_THAT(issues.Describe(),
                HasSubstr("1 collectives that the ranks of a group do not agree about"));
    TraceIssues unknown;
    MatchTrace(MakeSet({{make(1, 100, "tp")}, {make(1, 100, "tp")}}), unknown);
    EXPECT_THAT(unknown.Describe(),
                HasSubstr("2 collectives of a rank that no group of that name has (the first: "
                          "group \"tp\""));
}

} // namespace
} // namespace ns3::gradsync
