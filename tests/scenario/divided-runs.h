// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_DIVIDED_RUNS_H
#define GRADSYNC_DIVIDED_RUNS_H

#include "scenario/scenario-runs.h"
#include "scenario/shown-result.h"
#include "support/draw.h"
#include "support/drawn-rounds.h"
#include "support/forked-link.h"
#include "support/in-order.h"

#include "ns3/divided-run.h"
#include "ns3/result-rows.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace ns3::gradsync
{

/// What so many processes find out; one is the usual way. Else what the first says that fails.
inline std::string
SimulateDivided(const std::string& text, uint32_t ranks)
{
    const auto file =
        std::filesystem::temp_directory_path() / fmt::format("divided-{}-{}.txt", getpid(), ranks);
    std::filesystem::remove(file);
    tests::RunForked(ranks, [&](ProcessLink& link) {
        try
        {
            const auto run = ResolveText(text);
            if (ranks > 1)
            {
                CheckDivision(run, ranks);
            }
            const auto result =
                ranks == 1 ? RunScenario(run, {}, {}, Repeats::Simulate) : RunDivided(run, link);
            if (result)
            {
                std::ofstream stream(file);
                stream << ShowWhole(*result) << result->summary.failure << "\n";
                WriteUnfinished(*result, stream);
            }
        }
        catch (const std::exception& error)
        {
            if (!std::filesystem::exists(file)) // others may say that this one is gone
            {
                std::ofstream(file) << "error: " << error.what();
            }
            throw;
        }
    });
    std::ifstream stream(file);
    std::string shown{std::istreambuf_iterator<char>(stream), {}};
    std::filesystem::remove(file);
    return shown;
}

/// Where two texts differ first; empty: nowhere. GoogleTest would compare every line of one with
/// every line of the other, in gigabytes.
inline std::string
FindDifference(const std::string& one, const std::string& other)
{
    std::istringstream lines(one);
    std::istringstream others(other);
    for (uint32_t number = 1; lines || others; ++number)
    {
        std::string line;
        std::string otherLine;
        std::getline(lines, line);
        std::getline(others, otherLine);
        if (line != otherLine)
        {
            return fmt::format("line {}: \"{}\" where \"{}\" was expected",
                               number,
                               line,
                               otherLine);
        }
    }
    return "";
}

inline void
ExpectSameInAnyNumber(const std::string& text, uint32_t most)
{
    const auto alone = SimulateDivided(text, 1);
    ASSERT_THAT(alone, ::testing::Not(::testing::HasSubstr("error: ")));
    for (uint32_t ranks = 2; ranks <= most; ++ranks)
    {
        EXPECT_EQ(FindDifference(SimulateDivided(text, ranks), alone), "")
            << ranks << " processes: " << text;
    }
}

/// Of a random test. Others with --gtest_random_seed=N. Without that flag UnitTest::random_seed is
/// the time.
inline uint32_t
GetDrawnSeed(uint32_t own)
{
    return own + static_cast<uint32_t>(GTEST_FLAG_GET(random_seed));
}

/// What random runs are drawn from.
struct DrawnRuns
{
    uint32_t count;
    uint32_t seed; //!< one of the test's own
    std::function<std::string(Draw& draw)> drawText;
    std::vector<std::string> excuses; //!< parts of what is said of those that cannot be divided
    bool mayFail{false};              //!< some may be drawn that one process refuses, too
    uint32_t mostRanks{4};
};

/// Expects of runs drawn at random that several processes find out what one does. \returns how many
/// could be divided
inline uint32_t
CompareDrawnRuns(const DrawnRuns& runs)
{
    Draw draw(GetDrawnSeed(runs.seed));
    uint32_t same = 0;
    for (uint32_t round = 0; round < runs.count; ++round)
    {
        const auto text = runs.drawText(draw);
        const auto ranks = draw.Between(2, runs.mostRanks);
        const auto divided = SimulateDivided(text, ranks);
        if (!divided.starts_with("error: "))
        {
            ++same;
            EXPECT_EQ(FindDifference(divided, SimulateDivided(text, 1)), "")
                << ranks << " processes: " << text;
        }
        else if (divided.find("a job did not finish") != std::string::npos)
        {
            // Which must be so in one process, too, where it was given little time: one that uses
            // up the 60 s that jobs have by default hangs.
            EXPECT_EQ(divided.find("not done 60 s after"), std::string::npos) << text;
            EXPECT_THAT(SimulateDivided(text, 1), ::testing::HasSubstr("are not done")) << text;
        }
        else if (divided.find("would go on without switches that aggregate") != std::string::npos)
        {
            const auto alone = RunScenario(ResolveText(text), {}, {}, Repeats::Simulate);
            EXPECT_GT(alone.summary.fallbacks, 0U) << divided << ": " << text;
        }
        else if (divided.find("gave up after") != std::string::npos)
        {
            // A message or a flow of somebody else's fails in one process, then.
            EXPECT_THAT(SimulateDivided(text, 1),
                        ::testing::AnyOf(::testing::HasSubstr("gave up after"),
                                         ::testing::HasSubstr("failed")))
                << divided << ": " << text;
        }
        else if (!runs.mayFail || !SimulateDivided(text, 1).starts_with("error: "))
        {
            EXPECT_TRUE(std::ranges::any_of(runs.excuses,
                                            [&divided](const auto& excuse) {
                                                return divided.find(excuse) != std::string::npos;
                                            }))
                << divided << ": " << text;
        }
    }
    return same;
}

/// Keys of a topology of racks.
inline std::string
DrawLinks(Draw& draw)
{
    return InOrder{R"("hostLink": {{"rate": "{}", "delay": "{}"}},
                          "fabricLink": {{"rate": "{}", "delay": "{}"}})",
                   draw.Of({"10Gbps", "25Gbps", "40Gbps"}),
                   draw.Of({"0s", "100ns", "1us"}),
                   draw.Of({"10Gbps", "40Gbps", "7Gbps"}),
                   draw.Of({"200ns", "1us", "1.5us", "10us"})}
        .text;
}

/// Four racks of two hosts. \param scheme its name, as in JSON too, or an object \param more keys
/// of the scenario, without braces
inline std::string
MakeRacks(const std::string& scheme, const std::string& job, const std::string& more = "")
{
    return fmt::format(R"({{
      "topology": {{"kind": "spine-leaf", "spines": 2, "leaves": 4, "hostsPerLeaf": 2,
                    "hostLink": {{"rate": "10Gbps", "delay": "1us"}}, "oversubscription": 2}},
      "job": {{"gradient": "200kB", {}}},
      "scheme": {}, "results": {{"trace": true}}{}}})",
                       job,
                       scheme.starts_with('{') || scheme.starts_with('"') ? scheme
                                                                          : '"' + scheme + '"',
                       more);
}

/// Schemes in whose plans ranks wait for what ends at ranks of other processes: for what they sent
/// (multi-ring and the grids), for what others do as they begin (bbtopk), or, by joins, for all
/// (the rest, with barriers between stages).
inline constexpr const char* WAITING_SCHEMES[] = {R"("barrier")",
                                                  R"({"kind": "barrier", "algorithm": "star"})",
                                                  R"({"kind": "barrier", "algorithm": "binomial"})",
                                                  R"("bbtopk")",
                                                  R"("blueconnect")",
                                                  R"("butterfly")",
                                                  R"("hierarchical")",
                                                  R"("k-nomial")",
                                                  R"("mesh-2d")",
                                                  R"("multi-ring")",
                                                  R"("nccl:ring")",
                                                  R"("torus-2d")"};

} // namespace ns3::gradsync

#endif // GRADSYNC_DIVIDED_RUNS_H
