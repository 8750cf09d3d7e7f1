// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/dapple-table.h"
#include "ns3/import-error.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;

std::string
GetDappleError(const std::string& text)
{
    try
    {
        ReadDappleTable("t.txt", text);
    }
    catch (const ImportError& error)
    {
        return error.what();
    }
    return "";
}

// A line of a layer, with activations and parameters as they are given.
std::string
WriteLayer(const std::string& id, const std::string& activations, const std::string& parameters)
{
    return fmt::format("{0} -- of {0} -- forward_compute_time=1, backward_compute_time=2, "
                       "activation_size={1}, parameter_size={2}\n",
                       id,
                       activations,
                       parameters);
}

// 8.07 ms are 8,070,000,000 ps; two tensors of 4816896 and 32032 B are 4848928.
TEST(DappleTable, FiguresAreExact)
{
    const auto layers =
        ReadDappleTable("t.txt",
                        "node7 -- LSTM(1024, 1024) -- forward_compute_time=8.07, "
                        "backward_compute_time=0.000000001, activation_size=[4816896; 32032.0], "
                        "parameter_size=33587200.000 \r\n");
    ASSERT_EQ(layers.size(), 1);
    EXPECT_EQ(layers[0].name, "LSTM(1024, 1024)");
    EXPECT_EQ(layers[0].forwardPicoseconds, 8'070'000'000);
    EXPECT_EQ(layers[0].backwardPicoseconds, 1);
    EXPECT_EQ(layers[0].activationBytes, 4'848'928);
    EXPECT_EQ(layers[0].outputBytes, 0); // nobody uses it
    EXPECT_EQ(layers[0].parameterBytes, 33'587'200);
}

// Another planner's cut stands behind the figures; what looks like one before them is a name.
TEST(DappleTable, StagesOfOtherPlannersAreLeftOut)
{
    const std::string figures =
        "forward_compute_time=1, backward_compute_time=2, activation_size=3, parameter_size=4";
    for (const std::string stage : {"", " -- stage_id=1"})
    {
        const auto layers =
            ReadDappleTable("t.txt", fmt::format("a -- stage_id=7 -- {}{}\n", figures, stage));
        ASSERT_EQ(layers.size(), 1);
        EXPECT_EQ(layers[0].name, "stage_id=7");
        EXPECT_EQ(layers[0].parameterBytes, 4);
    }
}

// Layers of 1, 10, 100, 1000 B in a chain; the first is used by the last one, too. Behind the
// second pass 10 + 1, behind the third 100 + 1.
TEST(DappleTable, WhatALayerBehindUsesCrossesACut)
{
    const auto layers = ReadDappleTable(
        "t.txt",
        WriteLayer("a", "1", "0") + WriteLayer("b", "10", "0") + WriteLayer("c", "100", "0") +
            WriteLayer("d", "1000", "0") + "\ta -- b\n\tb -- c\n  c -- d\n\ta -- d\n");
    ASSERT_EQ(layers.size(), 4);
    EXPECT_EQ(layers[0].outputBytes, 1);
    EXPECT_EQ(layers[1].outputBytes, 11);
    EXPECT_EQ(layers[2].outputBytes, 101);
    EXPECT_EQ(layers[3].outputBytes, 0);
}

// As in DAPPLE's table of GNMT, where node5 stands before node2, whose output it uses.
TEST(DappleTable, LayersComeAfterThoseThatTheyUse)
{
    const auto layers = ReadDappleTable(
        "t.txt",
        WriteLayer("node5", "1", "0") + WriteLayer("node2", "10", "0") +
            WriteLayer("node9", "100", "0") + "\tnode2 -- node5\n\tnode5 -- node9\n");
    ASSERT_EQ(layers.size(), 3);
    EXPECT_EQ(layers[0].name, "of node2");
    EXPECT_EQ(layers[1].name, "of node5");
    EXPECT_EQ(layers[2].name, "of node9");
    EXPECT_EQ(layers[0].outputBytes, 10);
    EXPECT_EQ(layers[1].outputBytes, 1);
}

TEST(DappleTable, BadTablesAreOneMessage)
{
    const auto good = WriteLayer("a", "1", "0");
    EXPECT_THAT(GetDappleError(""), HasSubstr("t.txt:0: found no layer, expected \"node1 -- "));
    EXPECT_THAT(GetDappleError("a -- b\n"), HasSubstr("t.txt:1: found \"a -- b\", expected"));
    EXPECT_THAT(GetDappleError(good + good), HasSubstr("t.txt:2: \"a\" is there twice"));
    EXPECT_THAT(GetDappleError(good + "\ta - b\n"), HasSubstr("expected \"node1 -- node2\""));
    EXPECT_THAT(GetDappleError(good + "\ta -- b\n"),
                HasSubstr("t.txt:2: \"b\" is no layer of a line above"));
    EXPECT_THAT(GetDappleError(good + "\ta -- a\n"), HasSubstr("in a circle"));
    EXPECT_THAT(GetDappleError(WriteLayer("a", "1.5", "0")),
                HasSubstr("activation_size: found \"1.5\", expected a number from 0 on without a "
                          "fraction"));
    for (const auto* bad : {"-1", "", "1e3", "[1; ]", "[1", "17592186044417", "1 2", "."})
    {
        EXPECT_THAT(GetDappleError(WriteLayer("a", bad, "0")), HasSubstr("activation_size: found"));
    }
    EXPECT_THAT(GetDappleError("a -- b -- forward_compute_time=0.0000000001, "
                               "backward_compute_time=2, activation_size=1, parameter_size=1\n"),
                HasSubstr("forward_compute_time: found \"0.0000000001\", expected a number from 0 "
                          "on in milliseconds"));
    EXPECT_THAT(GetDappleError("a -- b -- forward_compute_time=0, activation_size=1\n"),
                HasSubstr("found \"activation_size=1\", expected backward_compute_time=..."));
    EXPECT_THAT(GetDappleError(good.substr(0, good.size() - 1) + ", more=1\n"),
                HasSubstr("found \"more=1\" behind parameter_size"));
}

TEST(DappleTable, NamesTellTheBatch)
{
    EXPECT_EQ(FindDappleBatch("bert-24-pbs-6.txt"), 6);
    EXPECT_EQ(FindDappleBatch("gnmt-32-pbs-64-simplified.txt"), 64);
    EXPECT_EQ(FindDappleBatch("vgg16.txt"), 0);
    EXPECT_EQ(FindDappleBatch("x-pbs-.txt"), 0);
}

} // namespace
} // namespace ns3::gradsync
