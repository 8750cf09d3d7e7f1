// SPDX-License-Identifier: GPL-2.0-only
#include "unit/study/scenario-test-support.h"

#include "ns3/run-numbers.h"
#include "ns3/scenario-reader.h"
#include "ns3/time-resolution.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace ns3::gradsync
{

namespace
{

using testing::AllOf;
using testing::HasSubstr;

std::string
WithSweep(const std::string& sweep)
{
    return R"({"topology": {"kind": "spine-leaf", "spines": 2, "leaves": 2, "hostsPerLeaf": 4,
                 "hostLink": {"rate": "10Gbps"}, "fabricLink": {"rate": "10Gbps"}},
               "transport": {"kind": "fluid"}, "job": {"gradient": "1MB"},
               "scheme": {"kind": "rat", "pipelineChunks": 8}, "sweep": )" +
           sweep + "}";
}

Scenario
ReadSwept(const std::string& text, const std::vector<ScenarioOverride>& overrides = {})
{
    UsePicoseconds();
    return ParseScenario(text, "x.json", overrides);
}

std::string
ErrorOfSweep(const std::string& sweep, const std::vector<ScenarioOverride>& overrides = {})
{
    return ErrorOf([&] {
        const auto scenario = ReadSwept(WithSweep(sweep), overrides);
        for (uint32_t i = 0; i < scenario.runCount; ++i)
        {
            ResolveRun(scenario, i);
        }
    });
}

TEST(ScenarioSweep, RepeatsEveryPointWithSeedsFromItsOwnOn)
{
    auto text = WithSweep(R"({"scheme.kind": ["ring", "ps"]})");
    text.insert(text.size() - 1, R"(, "seed": 7, "repeat": 3)");
    const auto scenario = ReadSwept(text);
    ASSERT_EQ(scenario.runCount, 6U);
    std::vector<std::string> points;
    for (uint32_t i = 0; i < scenario.runCount; ++i)
    {
        EXPECT_EQ(ResolveRun(scenario, i).seed, 7 + i % 3);
        points.push_back(DescribePoint(scenario, MakePoint(scenario, i)));
    }
    EXPECT_EQ(points[2], "scheme.kind=ring, seed=9");
    EXPECT_EQ(points[3], "scheme.kind=ps, seed=7");
    EXPECT_THAT(ErrorOfSweep(R"({"seed": [1, 2]})", {{"repeat", "2"}}),
                HasSubstr("repeat: the seed is swept already"));
    EXPECT_THAT(ErrorOfSweep("{}", {{"repeat", "0"}}), HasSubstr("repeat: found 0"));
    EXPECT_THAT(ErrorOfSweep(R"({"repeat": [1, 2]})"), HasSubstr("cannot be swept"));
}

TEST(ScenarioSweep, RepeatedPointIsTheSameRunAsItsSeed)
{
    // A run's folder is named by its document: it must not know how often the point is repeated.
    const auto repeated = ReadSwept(WithSweep("{}"), {{"repeat", "2"}});
    const auto single = ReadSwept(WithSweep("{}"), {{"seed", "2"}});
    EXPECT_EQ(MakePoint(repeated, 1).document, MakePoint(single, 0).document);
}

TEST(ScenarioSweep, DrawsFollowFromTheSeedUnlessTheyAreFixed)
{
    const auto read = [](const std::string& sections) {
        return ReadSwept(
            R"({"topology": {"kind": "star", "hosts": 4, "hostLink": {"rate": "10Gbps"}},
                        "seed": 5, "repeat": 2, )" +
            sections + "}");
    };
    const auto hashed = read(R"("scheme": "ring")");
    EXPECT_EQ(ResolveRun(hashed, 0).jobs[0].network.hashSeed, 5U);
    EXPECT_EQ(ResolveRun(hashed, 1).jobs[0].network.hashSeed, 6U);
    const auto fixed = read(R"("scheme": "ring", "fabric": {"hashSeed": 3})");
    EXPECT_EQ(ResolveRun(fixed, 1).jobs[0].network.hashSeed, 3U);
    // Sizes that a scheme draws; the scheme has no such parameter elsewhere.
    const auto drawn = read(R"("jobs": [{"scheme": "sparse-all-gather"}, {"scheme": "ring"}])");
    EXPECT_EQ(MakePoint(drawn, 1).document["jobs"][0]["scheme"]["drawSeed"], 6);
    EXPECT_FALSE(MakePoint(drawn, 1).document["jobs"][1]["scheme"].contains("drawSeed"));
    const auto kept = read(R"("scheme": {"kind": "sparse-all-gather", "drawSeed": 1})");
    EXPECT_EQ(MakePoint(kept, 1).document["scheme"]["drawSeed"], 1);
}

TEST(RunNumbers, AreNumbersAndRangesInAscendingOrderEachOnce)
{
    EXPECT_EQ(ParseRunNumbers("5,0-2,1", 6), (std::vector<uint32_t>{0, 1, 2, 5}));
    for (const auto* wrong : {"6", "3-2", "1-", "-1", "x", "1,,2", "0-4294967295"})
    {
        EXPECT_THAT(ErrorOf([&] { ParseRunNumbers(wrong, 6); }), HasSubstr("--points: found"))
            << wrong;
    }
}

TEST(ScenarioSweep, IsTheProductInTheOrderWritten)
{
    const auto scenario = ReadSwept(
        WithSweep(R"({"topology.hostsPerLeaf": [8, 4], "scheme.kind": ["ring", "ps", "rat"]})"));
    ASSERT_EQ(scenario.runCount, 6U);
    std::vector<std::string> points;
    for (uint32_t i = 0; i < scenario.runCount; ++i)
    {
        points.push_back(DescribePoint(scenario, MakePoint(scenario, i)));
    }
    EXPECT_THAT(points,
                testing::ElementsAre("topology.hostsPerLeaf=8, scheme.kind=ring",
                                     "topology.hostsPerLeaf=8, scheme.kind=ps",
                                     "topology.hostsPerLeaf=8, scheme.kind=rat",
                                     "topology.hostsPerLeaf=4, scheme.kind=ring",
                                     "topology.hostsPerLeaf=4, scheme.kind=ps",
                                     "topology.hostsPerLeaf=4, scheme.kind=rat"));
    const auto run = ResolveRun(scenario, 4);
    EXPECT_EQ(run.topology->GetEndpoints().size(), 8U);
    EXPECT_EQ(run.jobs[0].scheme.scheme->name, "ps");
}

TEST(ScenarioSweep, ReachesOptionalParametersAndWholeObjects)
{
    const auto scenario = ReadSwept(WithSweep(
        R"({"scheme": ["ring", {"kind": "ps", "servers": 2}], "transport.efficiency": [1, 0.5],
                           "job.iterations": [2], "seed": [1, 2]})"));
    EXPECT_EQ(scenario.runCount, 8U);
    const auto last = ResolveRun(scenario, 7);
    EXPECT_EQ(last.jobs[0].scheme.parameters.Get<int64_t>("servers"), 2);
    EXPECT_EQ(last.transport.attributes, (AttributeSettings{{"Efficiency", "0.5"}}));
    EXPECT_EQ(last.jobs[0].iterations, 2U);
    EXPECT_EQ(last.seed, 2U);
}

TEST(ScenarioSweep, NamesThePathThatDoesNotExist)
{
    EXPECT_THAT(ErrorOfSweep(R"({"topology.hostPerLeaf": [4]})"),
                AllOf(HasSubstr("x.json: sweep: the path \"topology.hostPerLeaf\" does not exist"),
                      HasSubstr("did you mean \"topology.hostsPerLeaf\"?")));
    EXPECT_THAT(ErrorOfSweep(R"({"topolgy.hostsPerLeaf": [4]})"),
                HasSubstr("did you mean \"topology.hostsPerLeaf\"?"));
    EXPECT_THAT(ErrorOfSweep(R"({"job.gradient.size": ["1MB"]})"), HasSubstr("does not exist"));
    EXPECT_THAT(ErrorOfSweep(R"({"jobs.0.gradient": ["1MB"]})"), HasSubstr("does not exist"));
    EXPECT_THAT(ErrorOfSweep(R"({"": [1]})"), HasSubstr("does not exist"));
}

TEST(ScenarioSweep, RefusesListsThatAreEmptyRepeatedOrNoLists)
{
    EXPECT_THAT(ErrorOfSweep(R"({"seed": []})"),
                HasSubstr("sweep.\"seed\": found [], expected a list"));
    EXPECT_THAT(ErrorOfSweep(R"({"seed": 3})"), HasSubstr("found 3, expected a list"));
    EXPECT_THAT(ErrorOfSweep(R"({"seed": [3, 3]})"), HasSubstr("the value 3 is listed twice"));
    EXPECT_THAT(ErrorOfSweep(R"({"title": ["a"]})"), HasSubstr("cannot be swept"));
    EXPECT_THAT(ErrorOfSweep(R"({"scheme.kind": ["ps"], "scheme": ["ring"]})"),
                HasSubstr("overrides the sweep over \"scheme.kind\""));
}

TEST(ScenarioSweep, RefusesMoreRunsThanAnyoneWants)
{
    std::string values;
    for (int i = 1; i <= 101; ++i)
    {
        values += (i == 1 ? "" : ",") + std::to_string(i);
    }
    // 101 * 101 = 10,201
    EXPECT_THAT(
        ErrorOfSweep(R"({"seed": [)" + values + R"(], "job.iterations": [)" + values + "]}"),
        HasSubstr("more than 10000 runs"));
}

TEST(ScenarioSweep, ChecksEveryPointAndSaysWhichIsWrong)
{
    EXPECT_THAT(ErrorOfSweep(R"({"topology.hostsPerLeaf": [4, 0]})"),
                AllOf(HasSubstr("topology.hostsPerLeaf: found 0"),
                      HasSubstr("(run 1: topology.hostsPerLeaf=0)")));
}

TEST(ScenarioSweep, KeepsOnlyTheParametersThatTheSweptKindKnows)
{
    const auto scenario = ReadSwept(WithSweep(R"({"scheme.kind": ["rat", "hierarchical"]})"),
                                    {{"scheme.barrier", "true"}, {"scheme.broadcast", "star"}});
    EXPECT_TRUE(ResolveRun(scenario, 0).jobs[0].scheme.parameters.Get<bool>("barrier"));
    EXPECT_EQ(ResolveRun(scenario, 1).jobs[0].scheme.parameters.Get<std::string>("broadcast"),
              "star");
    EXPECT_FALSE(MakePoint(scenario, 0).document["scheme"].contains("broadcast"));
    // A parameter that no swept kind knows is still an error.
    EXPECT_THAT(ErrorOfSweep(R"({"scheme.kind": ["rat", "ring"]})", {{"scheme.brodcast", "star"}}),
                HasSubstr("does not exist"));
}

TEST(ScenarioOverrides, FixAPathOfTheSweep)
{
    const auto scenario =
        ReadSwept(WithSweep(R"({"topology.hostsPerLeaf": [4, 8], "scheme.kind": ["ring", "ps"]})"),
                  {{"topology.hostsPerLeaf", "3"}});
    EXPECT_EQ(scenario.runCount, 2U);
    EXPECT_EQ(ResolveRun(scenario, 0).topology->GetEndpoints().size(), 6U);
}

TEST(ScenarioOverrides, ReplaceTheValuesOfAnAxis)
{
    const auto scenario =
        ReadSwept(WithSweep(R"({"topology.hostsPerLeaf": [4, 8], "scheme.kind": ["ring", "ps"]})"),
                  {{"sweep.topology.hostsPerLeaf", "[2]"}, {"sweep.seed", "[5, 6]"}});
    EXPECT_EQ(scenario.runCount, 4U);
    EXPECT_EQ(ResolveRun(scenario, 3).seed, 6U);
}

TEST(ScenarioOverrides, TakeJsonOrPlainText)
{
    const auto scenario =
        ReadSwept(WithSweep("{}"),
                  {{"job.gradient", "2MiB"}, {"scheme", R"({"kind": "ps"})"}, {"seed", "9"}});
    const auto run = ResolveRun(scenario, 0);
    EXPECT_EQ(run.jobs[0].gradientBytes, 2'097'152U);
    EXPECT_EQ(run.jobs[0].scheme.scheme->name, "ps");
    EXPECT_EQ(run.seed, 9U);
}

TEST(ScenarioOverrides, NameThePathThatDoesNotExist)
{
    EXPECT_THAT(ErrorOfSweep("{}", {{"topology.hostsPerLef", "3"}}),
                AllOf(HasSubstr("--set \"topology.hostsPerLef\""),
                      HasSubstr("did you mean \"topology.hostsPerLeaf\"?")));
    EXPECT_THAT(ErrorOfSweep(R"({"scheme": ["ring", "ps"]})", {{"scheme.kind", "rat"}}),
                HasSubstr("the sweep over \"scheme\" would override it"));
    EXPECT_THAT(ErrorOf([] { ParseOverride("topology.hostsPerLeaf"); }),
                HasSubstr("expected PATH=VALUE"));
    EXPECT_THAT(ErrorOf([] { ParseOverride("=4"); }), HasSubstr("expected PATH=VALUE"));
}

/// Topology files beside a scenario.
class TopologyFile : public testing::Test
{
  protected:
    std::string ErrorOfRun(const std::string& topology)
    {
        return ErrorOf([&] { Resolve(topology); });
    }

    ResolvedRun Resolve(const std::string& topology)
    {
        UsePicoseconds();
        const auto file = m_folder.Get() / "x.json";
        std::ofstream(file) << R"({"scheme": "ring", "topology": )" << topology << "}";
        return ResolveRun(ReadScenario(file, {}), 0);
    }

    void Write(const std::string& name, const std::string& text)
    {
        std::ofstream(m_folder.Get() / name) << text;
    }

    TemporaryFolder m_folder;
};

TEST_F(TopologyFile, IsRelativeToTheScenarioAndCanBeOverridden)
{
    Write(
        "t.json",
        R"({"title": "t", "kind": "star", "hosts": 4, "hostLink": {"rate": "1Gbps", "delay": "3us"}})");
    EXPECT_EQ(Resolve(R"({"file": "t.json"})").topology->GetEndpoints().size(), 4U);
    const auto run = Resolve(R"({"file": "t.json", "hosts": 5, "hostLink": {"rate": "2Gbps"}})");
    EXPECT_EQ(run.topology->GetEndpoints().size(), 5U);
    EXPECT_EQ(run.topology->GetLinks()[0].rate.GetBitRate(), 2'000'000'000U);
    EXPECT_EQ(run.topology->GetLinks()[0].delay, MicroSeconds(3));
    EXPECT_FALSE(run.point.document["topology"].contains("file"));
}

TEST_F(TopologyFile, IsNamedInErrors)
{
    Write("t.json", R"({"kind": "star", "hosts": 0, "hostLink": {"rate": "1Gbps"}})");
    Write("two.json", R"({"file": "t.json"})");
    EXPECT_THAT(ErrorOfRun(R"({"file": "t.json"})"), HasSubstr("t.json: hosts: found 0"));
    EXPECT_THAT(ErrorOfRun(R"({"file": "u.json"})"),
                HasSubstr("no such file; did you mean \"t.json\"?"));
    EXPECT_THAT(ErrorOfRun(R"({"file": "two.json"})"), HasSubstr("cannot name another one"));
    EXPECT_THAT(ErrorOfRun(R"({"file": "."})"), HasSubstr("is a directory"));
    EXPECT_THAT(ErrorOfRun(R"({"file": 7})"), HasSubstr("topology.file: found 7"));
}

} // namespace

} // namespace ns3::gradsync
