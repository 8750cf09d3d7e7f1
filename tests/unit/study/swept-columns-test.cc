// SPDX-License-Identifier: GPL-2.0-only
#include "unit/study/scenario-test-support.h"

#include "ns3/scenario-reader.h"
#include "ns3/swept-columns.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

/// Of four hosts on a switch. \param more further sections
Scenario
Sweep(std::string_view sweep, std::string_view more = "")
{
    return ParseScenario(fmt::format(R"({{"topology": {{"kind": "star", "hosts": 4,
                         "hostLink": {{"rate": "10Gbps", "delay": "1us"}}}},
                         "scheme": "ring", "sweep": {{{}}}{}}})",
                                     sweep,
                                     more),
                         "scenario.json",
                         {});
}

std::vector<std::string>
NamesOf(const Scenario& scenario)
{
    std::vector<std::string> names;
    std::ranges::transform(ListSweptColumns(scenario),
                           std::back_inserter(names),
                           &SweptColumn::name);
    return names;
}

TEST(SweptColumns, QuantitiesHaveTheirNumbersBehindAllPaths)
{
    const auto scenario =
        Sweep(R"("job.gradient": ["1KiB", "1.5MB"], "topology.hostLink.rate": ["2.5Gbps"],
                 "topology.hostLink.delay": ["250ns"], "job.iterations": [1, 2],
                 "scheme.kind": ["ps", "ring"], "transport.mtu": ["1024B"])");
    EXPECT_THAT(NamesOf(scenario),
                ElementsAre("job.gradient",
                            "topology.hostLink.rate",
                            "topology.hostLink.delay",
                            "job.iterations",
                            "scheme.kind",
                            "transport.mtu",
                            "job.gradient_bytes",
                            "topology.hostLink.rate_bps",
                            "topology.hostLink.delay_s",
                            "transport.mtu_bytes"));
    const auto columns = ListSweptColumns(scenario);
    EXPECT_EQ(FormatSwept(columns[0], "1KiB"), "1KiB");
    EXPECT_EQ(FormatSwept(columns[6], "1KiB"), "1024");
    EXPECT_EQ(FormatSwept(columns[6], "1.5MB"), "1500000");
    EXPECT_EQ(FormatSwept(columns[7], "2.5Gbps"), "2500000000");
    EXPECT_EQ(FormatSwept(columns[8], "250ns"), "0.000000250000");
    EXPECT_EQ(FormatSwept(columns[9], "1024B"), "1024");
    EXPECT_EQ(GetUnit(columns[6]) + GetUnit(columns[7]) + GetUnit(columns[8]), "Bb/ss");
    EXPECT_EQ(GetUnit(columns[0]), "");
}

TEST(SweptColumns, NumbersAreThoseOfAnySize)
{
    const auto scenario = Sweep(R"("job.gradient": ["1B"])");
    const auto column = ListSweptColumns(scenario).back();
    std::mt19937_64 random(1);
    for (int round = 0; round < 1000; ++round)
    {
        const auto bytes = random() >> (20 + random() % 40);
        EXPECT_EQ(FormatSwept(column, fmt::format("{}B", bytes)), std::to_string(bytes));
        const auto kib = bytes % (uint64_t{1} << 30);
        EXPECT_EQ(FormatSwept(column, fmt::format("{}KiB", kib)), std::to_string(1024 * kib));
    }
}

TEST(SweptColumns, AWordBesideQuantitiesHasNoNumber)
{
    const auto scenario = Sweep(R"("job.reduceRate": ["100Gbps", "unlimited"])");
    const auto columns = ListSweptColumns(scenario);
    ASSERT_EQ(columns.size(), 2U);
    EXPECT_EQ(columns[1].name, "job.reduceRate_bps");
    EXPECT_EQ(FormatSwept(columns[1], "100Gbps"), "100000000000");
    EXPECT_EQ(FormatSwept(columns[1], "unlimited"), "");
    EXPECT_EQ(FormatSwept(columns[0], "unlimited"), "unlimited");
    // One time, or one of each worker: a list has no number of its own.
    const auto times = ListSweptColumns(Sweep(R"("job.compute": ["1ms", ["1ms", "2ms"]])"));
    EXPECT_EQ(times[1].name, "job.compute_s");
    EXPECT_EQ(FormatSwept(times[1], "1ms"), "0.001000000000");
    EXPECT_EQ(FormatSwept(times[1], Json::array({"1ms", "2ms"})), "");
}

TEST(SweptColumns, TypesAreThoseOfParametersWhateverIsSweptOver)
{
    const auto typeOf = [](std::string_view sweep, std::string_view more = "") {
        return ListSweptColumns(Sweep(sweep, more)).front().type;
    };
    EXPECT_EQ(typeOf(R"("fabric.lossRate": [0, 1])"), ColumnType::Number);
    EXPECT_EQ(typeOf(R"("fabric.lossRate": [0.5])"), ColumnType::Number);
    EXPECT_EQ(typeOf(R"("job.iterations": [1])"), ColumnType::Integer);
    EXPECT_EQ(typeOf(R"("fabric.pfc": [true])"), ColumnType::Flag);
    EXPECT_EQ(typeOf(R"("job.gradient": ["1MB"])"), ColumnType::Text);
    EXPECT_EQ(typeOf(R"("job.compute": [["1ms"]])"), ColumnType::Text);
    // A share, or an object of a model's.
    const auto loss = R"(, "faults": [{"kind": "loss", "loss": 0.1, "at": "1us"}])";
    EXPECT_EQ(typeOf(R"("faults.0.loss": [0, 1])", loss), ColumnType::Number);
    EXPECT_EQ(typeOf(R"("faults.0.loss": [0, {"goodToBad": 0.1, "badToGood": 0.1}])", loss),
              ColumnType::Text);
}

TEST(PlotColumns, AMisspeltHintIsToldWithTheNearestName)
{
    const auto check = [](std::string_view plot) {
        const auto scenario = Sweep(R"("job.gradient": ["1KiB", "1MiB"], "scheme.kind": ["ring"])",
                                    fmt::format(R"(, "plot": {{{}}})", plot));
        return ErrorOf([&scenario] { CheckPlotColumns(scenario); });
    };
    EXPECT_EQ(check(R"("x": "job.gradient", "y": "busbw_bytes_per_s", "series": "scheme.kind")"),
              "no error");
    EXPECT_EQ(check(R"("x": "job.gradient_bytes", "panels": ["ict_mean_s"])"), "no error");
    EXPECT_THAT(
        check(R"("x": "job.gradeint")"),
        HasSubstr(R"(scenario.json: plot.x: found "job.gradeint"; did you mean "job.gradient"?)"));
    EXPECT_THAT(check(R"("y": "busbw_byte_per_s")"),
                HasSubstr(R"(did you mean "busbw_bytes_per_s"?)"));
    EXPECT_THAT(check(R"("series": "scheme.kin")"), HasSubstr(R"(did you mean "scheme.kind"?)"));
    EXPECT_THAT(check(R"("panels": ["ict_mean_s", "ict_meen_s"])"), HasSubstr("plot.panels.1"));
    // Texts have no place on y; a part of a scenario is no column, but something in it is.
    EXPECT_THAT(check(R"("y": "status")"), HasSubstr(R"(plot.y: found "status")"));
    EXPECT_THAT(check(R"("series": "scheme")"), HasSubstr(R"(plot.series: found "scheme")"));
}

TEST(PlotColumns, AHintAtAPathThatAnOverrideFixedIsNoMistake)
{
    const auto scenario = ParseScenario(
        R"({"topology": {"kind": "star", "hosts": 4, "hostLink": {"rate": "10Gbps"}},
            "scheme": "ring", "sweep": {"job.gradient": ["1KiB", "1MiB"], "job.iterations": [1, 2]},
            "plot": {"x": "job.gradient"}})",
        "scenario.json",
        {{"job.gradient", "1MiB"}});
    EXPECT_EQ(ErrorOf([&scenario] { CheckPlotColumns(scenario); }), "no error");
    const auto dropped = Sweep("", R"(, "plot": {"x": "job.iterations"})");
    EXPECT_EQ(ErrorOf([&dropped] { CheckPlotColumns(dropped); }), "no error");
}

} // namespace

} // namespace ns3::gradsync
