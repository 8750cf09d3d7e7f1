// SPDX-License-Identifier: GPL-2.0-only
// Verbs and options of the program that simulate nothing.
#include "scenario/program-fixture.h"

#include "ns3/json-document.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace ns3::gradsync::tests
{

namespace
{

using testing::AllOf;
using testing::HasSubstr;

TEST_F(ProgramTest, ReadsTheOptionsThatVerbsWereWithAWarning)
{
    const auto file = Write("sweep.json", SWEEP);
    const std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> old{
        {{"--list"}, {"list"}},
        {{"--resolve=" + file, "--set=seed=7"}, {"resolve", file, "--set=seed=7"}},
        {{"--set=seed=7", "--resolve", file}, {"resolve", file, "--set=seed=7"}},
    };
    for (const auto& [before, now] : old)
    {
        const auto renamed = Call(before);
        EXPECT_EQ(renamed.code, 0);
        EXPECT_EQ(renamed.out, Call(now).out);
        EXPECT_EQ(renamed.err,
                  fmt::format("gradsync: warning: --{0} is now: gradsync {0}\n", now.front()));
    }
    EXPECT_EQ(Call({"--resolve"}).code, 2);
}

TEST_F(ProgramTest, EveryVerbHasHelp)
{
    for (const auto* verb : {"run",
                             "describe",
                             "validate",
                             "resolve",
                             "plan",
                             "auto",
                             "trees",
                             "list",
                             "sum-errors",
                             "codec"})
    {
        const auto help = Call({verb, "--help"});
        EXPECT_EQ(help.code, 0);
        EXPECT_THAT(help.out, HasSubstr(fmt::format("Usage: gradsync {}", verb)));
        EXPECT_THAT(Call({"--help"}).out, HasSubstr(verb));
    }
}

TEST_F(ProgramTest, TellsWhereResultsGo)
{
    const auto file = Write("sweep.json", SWEEP);
    EXPECT_EQ(Call({"run", file, "--where"}).out, "results/sweep\n");
    EXPECT_EQ(Call({"run", file, "--out=x/y", "--where"}).out, "x/y\n");
    // These write no tables.
    EXPECT_EQ(Call({"run", file, "--prepare", "--where"}).out, "");
    EXPECT_FALSE(std::filesystem::exists("results/sweep"));
}

TEST_F(ProgramTest, ListsAndDescribes)
{
    const auto list = Call({"list"});
    EXPECT_EQ(list.code, 0);
    EXPECT_THAT(
        list.out,
        AllOf(HasSubstr("hierarchical"), HasSubstr("spine-leaf"), HasSubstr("mtu = \"4096B\"")));
    const auto file = Write("sweep.json", SWEEP);
    const auto described = Call({"describe", file, "--set=job.gradient=240kB"});
    EXPECT_EQ(described.code, 0) << described.err;
    // PS over 6 hosts in 2 racks of oversubscription 1.5, at 10 Gb/s: 2 max(5/6, 1.5/2) tau, tau =
    // 160 us
    EXPECT_THAT(described.out,
                AllOf(HasSubstr("level rack: 2 groups, oversubscription 1.5"),
                      HasSubstr("bandwidth bound: 0.320000 ms"),
                      HasSubstr("fluid ICT of job0: 0.32")));
    EXPECT_THAT(described.out, HasSubstr("bound of any all-reduce"));
    // That bound is one of dense gradients, and would lie above the time of compressed ones.
    const auto compressed = Call({"describe", file, "--set=job.codec=int8"});
    EXPECT_EQ(compressed.code, 0) << compressed.err;
    EXPECT_THAT(compressed.out, Not(HasSubstr("bound of any")));
    // Both run on fluid, which has no links to look at: a crash, found by tests/referee.
    const auto sampled = Call({"describe", file, "--set=results.every=1us"});
    EXPECT_EQ(sampled.code, 0) << sampled.err;
    EXPECT_THAT(sampled.out, HasSubstr("fluid ICT of job0: 0."));
    const auto drawn = Call({"plan",
                             file,
                             "--set=results.every=1us",
                             "--draw=" + (m_folder.Get() / "plan.svg").string()});
    EXPECT_EQ(drawn.code, 0) << drawn.err;
    const auto validated = Call({"validate", file});
    EXPECT_EQ(validated.code, 0);
    EXPECT_THAT(validated.out, HasSubstr("valid, 4 runs"));
    const auto resolved = Call({"resolve", file, "--set", "seed=7"});
    EXPECT_EQ(resolved.code, 0);
    const Json runs = ParseJson(resolved.out, "resolved");
    ASSERT_EQ(runs.size(), 4U);
    EXPECT_EQ(runs[3]["scenario"]["topology"]["hostsPerLeaf"], 3);
    EXPECT_EQ(runs[3]["scenario"]["seed"], 7);
    EXPECT_THAT(Call({"--version"}).out,
                testing::MatchesRegex(
                    "gradsync 0\\.1\\.0 \\(commit [^,]+, ns-3 3\\.[0-9.]+, (GCC|Clang) .+\\)\n"));
    EXPECT_EQ(Call({"--help"}).code, 0);
}

TEST_F(ProgramTest, PrintsAPlan)
{
    const auto file = Write("sweep.json", SWEEP);
    // Run 3 is RAT over 6 hosts.
    const auto table = Call({"plan", file, "--run=3", "--verify"});
    EXPECT_EQ(table.code, 0) << table.err;
    EXPECT_THAT(table.out,
                AllOf(HasSubstr("job0: rat, 6 workers"),
                      HasSubstr("longest chain 4"),
                      HasSubstr("verified: an all-reduce without races")));
    // Run 0 is co-located PS over 4 hosts: 12 pushes, a join for each of 4 shards, then 12 pulls.
    const auto printed = Call({"plan", file, "--json", "--verify"});
    const Json plan = ParseJson(printed.out, "plan");
    EXPECT_EQ(plan["violations"].size(), 0U);
    ASSERT_EQ(plan["operations"].size(), 28U);
    EXPECT_EQ(plan["operations"][16]["after"], Json::array({12}));
    EXPECT_EQ(plan["operations"][16]["round"], 1);
}

TEST_F(ProgramTest, DrawsAndExportsAPlan)
{
    const auto file = Write("sweep.json", SWEEP);
    const auto svg = (m_folder.Get() / "plan.svg").string();
    const auto goal = (m_folder.Get() / "plan.goal").string();
    const auto outcome = Call({"plan", file, "--draw=" + svg, "--export=" + goal});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const auto drawing = ReadFile(svg);
    EXPECT_THAT(drawing, AllOf(testing::StartsWith("<svg "), testing::EndsWith("</svg>\n")));
    size_t arrows = 0;
    for (size_t at = drawing.find(" -> "); at != std::string::npos;
         at = drawing.find(" -> ", at + 1))
    {
        ++arrows;
    }
    EXPECT_EQ(arrows, 24U);
    // What GOAL does not say stands in comments, see doc/import.rst.
    const auto schedule = ReadFile(goal);
    EXPECT_THAT(schedule, testing::StartsWith("num_ranks 4\n//gradsync plan 4 exact all-reduce\n"));
    EXPECT_THAT(schedule,
                AllOf(HasSubstr("\nrank 0 {\n//gradsync operation 0 reduce 1 1 1 0 0\n"
                                "s0: send 50000b to 1 tag 0\n"),
                      HasSubstr("//gradsync operation 12 join\nj12: calc 0\n")));
}

TEST_F(ProgramTest, RefusesPlansThatAreNotThere)
{
    const auto file = Write("sweep.json", SWEEP);
    EXPECT_THAT(Call({"plan", file, "--run=4"}).err, HasSubstr("found 4, but the scenario has 4"));
    EXPECT_THAT(Call({"plan", file, "--job=jop0"}).err, HasSubstr("did you mean \"job0\"?"));
    const auto large = Call({"plan",
                             file,
                             "--set=scheme={\"kind\":\"ps\",\"pipelineChunks\":1000}",
                             "--draw=" + Out().string()});
    EXPECT_EQ(large.code, 2);
    EXPECT_THAT(large.err, HasSubstr("a drawing holds at most 20000"));
}

} // namespace

} // namespace ns3::gradsync::tests
