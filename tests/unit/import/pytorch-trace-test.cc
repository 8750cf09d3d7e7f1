// SPDX-License-Identifier: GPL-2.0-only
#include "support/pytorch-text.h"

#include "ns3/import-error.h"
#include "ns3/pytorch-process-groups.h"
#include "ns3/pytorch-trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;
using tests::PyTorchText;

using Edges = std::vector<std::pair<uint32_t, uint32_t>>;

/// 1 TFLOP/s, 1 GB/s.
PyTorchTrace
ReadText(const std::string& text, double flops = 1e12, double bytes = 1e9)
{
    return ReadPyTorchTrace(
        "et.json",
        text,
        {[flops](const std::string& /*datatype*/, bool /*hasConvolutions*/) { return flops; },
         bytes});
}

std::string
GetPyTorchError(const std::string& text)
{
    try
    {
        ReadText(text);
    }
    catch (const ImportError& error)
    {
        return error.what();
    }
    return "";
}

// 2 m k n FLOPs at 10^12 a second are as many picoseconds; 4 (m k + k n + m n) bytes at 1 GB/s as
// many nanoseconds: the longer of both.
TEST(PyTorchTrace, ProductsTakeTheirFlopsOrTheirBytes)
{
    std::mt19937_64 random(5);
    for (int round = 0; round < 50; ++round)
    {
        const auto m = 1 + random() % 3000;
        const auto k = 1 + random() % 3000;
        const auto n = 1 + random() % 3000;
        PyTorchText text;
        text.AddProduct(m, k, n);
        const auto flops = 2 * m * k * n;
        const auto bytes = 4 * (m * k + k * n + m * n);
        const auto slow = ReadText(text.Write());
        ASSERT_EQ(slow.program.nodes.size(), 1);
        EXPECT_EQ(slow.program.nodes[0].action, TraceAction::Compute);
        EXPECT_EQ(slow.program.nodes[0].picoseconds, std::max(flops, bytes * 1000));
        EXPECT_EQ(ReadText(text.Write(), 1e12, 1e15).program.nodes[0].picoseconds, flops);
    }
}

// 2 x 3 x 8 x 8 inputs, 16 kernels of 3 x 5 x 5, 2 x 16 x 4 x 4 outputs: 2 x 512 x 75 FLOPs
// forward; backward to the weights alone as many, to the input too twice as many.
TEST(PyTorchTrace, ConvolutionsTakeTheirFlopsOnce)
{
    const std::string shapes = R"J("shapes": [[2, 3, 8, 8], [16, 3, 5, 5], [], [], [], [], []],
        "types": ["Tensor(float)", "Tensor(float)", "Tensor(nullptr (uninitialized))",
                  "GenericList[Int,Int]", "GenericList[Int,Int]", "GenericList[Int,Int]", "Bool"]})J";
    const std::string inputs = R"({"values": [0, 0, 0, [2, 2], [0, 0], [1, 1], false], )" + shapes;
    const std::string outputs =
        R"J({"values": [0], "shapes": [[2, 16, 4, 4]], "types": ["Tensor(float)"]})J";
    PyTorchText text;
    const auto outer = text.Add("aten::conv2d", 1, inputs, outputs);
    const auto middle = text.Add("aten::convolution", outer, inputs, outputs);
    const auto inner = text.Add("aten::_convolution", middle, inputs, outputs);
    text.Add("aten::cudnn_convolution", inner, inputs, outputs);
    for (const auto* mask : {"[false, true, false]", "[true, true, false]"})
    {
        text.Add("aten::convolution_backward",
                 1,
                 fmt::format(R"J({{"values": [0, 0, 0, [2, 2], false, {}],
                     "shapes": [[2, 16, 4, 4], [2, 3, 8, 8], [16, 3, 5, 5], [], [], []],
                     "types": ["Tensor(float)", "Tensor(float)", "Tensor(float)",
                               "GenericList[Int,Int]", "Bool", "GenericList[Bool,Bool,Bool]"]}})J",
                             mask));
    }
    const auto trace = ReadText(text.Write(), 1e12, 1e15);
    ASSERT_EQ(trace.program.nodes.size(), 3);
    constexpr uint64_t FLOPS = 2ULL * 512 * 75;
    EXPECT_EQ(trace.program.nodes[0].picoseconds, FLOPS);
    EXPECT_EQ(trace.program.nodes[1].picoseconds, FLOPS);
    EXPECT_EQ(trace.program.nodes[2].picoseconds, 2 * FLOPS);
    EXPECT_EQ(trace.products, 3);
    EXPECT_EQ(trace.nodes, 6);
    EXPECT_EQ(trace.program.labels[trace.program.nodes[0].label], "aten::convolution");
    // Transposed, each of 384 inputs takes 75 weights of what is then its channel: 2 x 384 x 75.
    PyTorchText transposed;
    auto flagged = inputs;
    transposed.Add("aten::convolution",
                   1,
                   flagged.replace(flagged.find("false"), 5, "true"),
                   outputs);
    EXPECT_EQ(ReadText(transposed.Write(), 1e12, 1e15).program.nodes[0].picoseconds,
              2ULL * 384 * 75);
}

// As DDP: an all-reduce begins when the products before it have ended, those behind it do not wait;
// copies of the buckets do.
TEST(PyTorchTrace, AllReducesOverlapUntilTheirBucketsAreCopied)
{
    PyTorchText text;
    text.AddProduct(2, 2, 2);                            // 0
    text.AddCollective("allreduce", 2'049'000, 35);      // 1
    text.AddProduct(2, 2, 2);                            // 2
    text.AddCollective("allreduce", 7, 36, "0", "Half"); // 3
    const auto* copy = "torch.distributed.ddp.reducer::copy_bucket_to_grad";
    text.Add(copy); // 4
    text.Add(copy);
    text.AddProduct(2, 2, 2); // 5
    const auto trace = ReadText(text.Write());
    const auto& nodes = trace.program.nodes;
    ASSERT_EQ(nodes.size(), 6);
    EXPECT_EQ(nodes[1].action, TraceAction::Collective);
    EXPECT_EQ(nodes[1].collective, TraceCollective::AllReduce);
    EXPECT_EQ(nodes[1].bytes, 8'196'000);
    EXPECT_EQ(nodes[3].bytes, 14);
    EXPECT_EQ(nodes[4].action, TraceAction::Join);
    EXPECT_THAT(trace.program.edges,
                UnorderedElementsAre(Edges::value_type{0, 1},
                                     Edges::value_type{0, 2},
                                     Edges::value_type{2, 3},
                                     Edges::value_type{2, 4},
                                     Edges::value_type{1, 4},
                                     Edges::value_type{3, 4},
                                     Edges::value_type{4, 5}));
}

TEST(PyTorchTrace, AWaitIsForItsOwnCollective)
{
    PyTorchText text;
    text.AddCollective("broadcast", 1, 33); // 0
    text.AddCollective("broadcast", 1, 34); // 1
    text.AddCollective("wait", 0, 33);      // 2
    text.AddProduct(2, 2, 2);               // 3
    EXPECT_THAT(ReadText(text.Write()).program.edges,
                UnorderedElementsAre(Edges::value_type{0, 2}, Edges::value_type{2, 3}));
}

TEST(PyTorchTrace, TheLastStepIsRunInTheOrderOfItsBeginnings)
{
    PyTorchText text;
    text.Add("ProfilerStep#4");
    text.AddProduct(2, 2, 2);
    text.Add("ProfilerStep#5");
    text.AddProduct(1, 1, 3);
    text.AddProduct(1, 1, 4);
    const auto trace = ReadText(text.Write(), 1e12, 1e15);
    EXPECT_EQ(trace.nodes, 5);
    ASSERT_EQ(trace.program.nodes.size(), 2);
    EXPECT_EQ(trace.program.nodes[0].picoseconds, 6);
    EXPECT_EQ(trace.program.nodes[1].picoseconds, 8);
}

TEST(PyTorchTrace, SizesAreThoseOfTheCollective)
{
    PyTorchText text;
    text.AddCollective("_allgather_base", 10, 1, "0", "BFloat16");
    text.AddCollective("_reduce_scatter_base", 10, 2, "0", "Double");
    text.AddCollective("barrier", 0, 3);
    const auto nodes = ReadText(text.Write()).program.nodes;
    ASSERT_EQ(nodes.size(), 3);
    EXPECT_TRUE(nodes[0].isShare);
    EXPECT_EQ(nodes[0].bytes, 20);
    EXPECT_EQ(nodes[1].bytes, 80);
    EXPECT_FALSE(nodes[1].isShare);
    EXPECT_EQ(nodes[2].collective, TraceCollective::Barrier);
}

TEST(PyTorchTrace, WhatCannotBeSimulatedIsNamed)
{
    PyTorchText text;
    text.AddCollective("send", 10, 1);
    text.AddCollective("allreduce", 10, 2, "0", "Quaternion");
    text.AddCollective("", 10, 3);
    text.AddCollective("all_to_allv",
                       3,
                       4,
                       "0",
                       "Float",
                       PyTorchText::WriteText("in_split_size", "[1, 2]"));
    text.Add("aten::_scaled_dot_product_flash_attention");
    text.Add("aten::mm");
    const auto told = ReadText(text.Write()).issues.Describe();
    for (const auto* issue : {"communications of the kind send",
                              "collectives without in_msg_nelems or a dtype that is known",
                              "communications without collective_name",
                              "all-to-alls of parts of different sizes",
                              "operators whose products the trace does not tell",
                              "products of matrices whose tensors do not tell their size"})
    {
        EXPECT_THAT(told, HasSubstr(issue));
    }
}

TEST(PyTorchTrace, BadTracesAreOneMessage)
{
    EXPECT_THAT(GetPyTorchError("{"), HasSubstr("et.json: is no JSON of a PyTorch"));
    EXPECT_THAT(GetPyTorchError("{}"), HasSubstr("has no nodes"));
    EXPECT_THAT(GetPyTorchError(R"({"nodes": [{"name": "x"}]})"),
                HasSubstr("a node without \"id\", a whole number: {\"name\":\"x\"}"));
    EXPECT_THAT(GetPyTorchError(R"({"nodes": [{"id": 1, "ctrl_deps": 1, "exclusive_dur": 3}]})"),
                HasSubstr("has \"exclusive_dur\": a trace that chakra_trace_link has linked"));
    EXPECT_THAT(GetPyTorchError(R"({"nodes": [{"id": 1, "ctrl_deps": -1}]})"),
                HasSubstr("a node without \"ctrl_deps\""));
    EXPECT_THAT(GetPyTorchError("[[[[[[[[[[[[[[[[[[[[[[[[["),
                HasSubstr("nested more than 16 deep"));
    PyTorchText text;
    text.AddCollective("allreduce", uint64_t{1} << 50, 1);
    EXPECT_THAT(GetPyTorchError(text.Write()), HasSubstr("has more than 17592186044416 bytes"));
}

std::map<std::string, std::vector<std::vector<uint32_t>>>
JoinGroups(const std::vector<std::map<std::string, PyTorchGroup>>& ofRanks)
{
    PyTorchProcessGroups groups("et", static_cast<uint32_t>(ofRanks.size()));
    for (uint32_t rank = 0; rank < ofRanks.size(); ++rank)
    {
        groups.Add(rank, ofRanks[rank]);
    }
    return groups.Finish();
}

TEST(PyTorchTrace, GroupsAreWhomTheirRanksNameThem)
{
    PyTorchText text;
    text.AddGroup("0", "[]", 4);
    text.AddCollective("allreduce",
                       1,
                       1,
                       "5",
                       "Float",
                       PyTorchText::WriteNumber("global_rank_start", 1) +
                           PyTorchText::WriteNumber("global_rank_stride", 2) +
                           PyTorchText::WriteNumber("pg_size", 2));
    const auto trace = ReadText(text.Write());
    EXPECT_EQ(trace.groups.at("0"), (PyTorchGroup{{}, 4}));
    EXPECT_EQ(trace.groups.at("5"), (PyTorchGroup{{1, 3}, 2}));
    EXPECT_EQ(CountGroupRanks(trace), 4);
    const auto pair = [](uint32_t one, uint32_t other) {
        return std::map<std::string, PyTorchGroup>{{"tp", {{one, other}, 2}}, {"0", {{}, 4}}};
    };
    const auto groups = JoinGroups({pair(0, 1), pair(1, 0), pair(2, 3), pair(2, 3)});
    EXPECT_THAT(groups.at("tp"), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
    EXPECT_THAT(groups.at("0"), ElementsAre(ElementsAre(0, 1, 2, 3)));
    EXPECT_THAT(
        [&] {
            JoinGroups({pair(0, 1), pair(1, 2), pair(2, 3), pair(2, 3)});
        },
        testing::ThrowsMessage<ImportError>(
            "et: ranks 0 and 1 do not agree about who is in process group \"tp\""));
    EXPECT_THAT(
        [&] {
            JoinGroups({{{"0", {{}, 2}}}, {{"0", {{}, 2}}}, {}});
        },
        testing::ThrowsMessage<ImportError>(
            "et: process group \"0\" is of 2 ranks, but 3 run the trace"));
}

} // namespace
} // namespace ns3::gradsync
