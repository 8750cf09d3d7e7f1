// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/csv-text.h"
#include "ns3/result-columns.h"
#include "ns3/stored-summary.h"
#include "ns3/summary-columns.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>

namespace ns3::gradsync
{

namespace
{

/// What readers do: take off one apostrophe.
std::string
ReadCsvText(std::string_view cell)
{
    return std::string(cell.starts_with('\'') ? cell.substr(1) : cell);
}

TEST(CsvText, QuotesFieldsAsCsvWantsIt)
{
    EXPECT_EQ(QuoteCsv("plain"), "plain");
    EXPECT_EQ(QuoteCsv("a,b"), "\"a,b\"");
    EXPECT_EQ(QuoteCsv(R"({"kind":"ps"})"), R"("{""kind"":""ps""}")");
}

TEST(CsvText, MarksWhatASpreadsheetWouldTakeForAFormula)
{
    EXPECT_EQ(WriteCsvText("=1+1"), "'=1+1");
    EXPECT_EQ(WriteCsvText("+cmd"), "'+cmd");
    EXPECT_EQ(WriteCsvText("-5ms"), "'-5ms");
    EXPECT_EQ(WriteCsvText("@SUM(A1,A2)"), "\"'@SUM(A1,A2)\"");
    EXPECT_EQ(WriteCsvText("'quoted'"), "''quoted'");
    EXPECT_EQ(WriteCsvText("host0=x"), "host0=x");
    EXPECT_EQ(WriteCsvText(""), "");
    // A row is a line, and a tab or a carriage return is no way around the mark either.
    EXPECT_EQ(WriteCsvText("a\n=1"), "a\\n=1");
    EXPECT_EQ(WriteCsvText("\t=1"), "\\t=1");
}

TEST(CsvText, ComesBackAsItWas)
{
    std::mt19937 random(1);
    constexpr std::string_view LETTERS = "=+-@' ab";
    for (int round = 0; round < 1000; ++round)
    {
        std::string text;
        for (auto length = random() % 5; length > 0; --length)
        {
            text += LETTERS[random() % LETTERS.size()];
        }
        const auto cell = WriteCsvText(text);
        EXPECT_EQ(ReadCsvText(cell), text);
        EXPECT_EQ(std::string_view("=+-@").find(cell.empty() ? 'x' : cell.front()),
                  std::string_view::npos);
    }
}

TEST(ResultColumns, RowsHaveACellForEachColumn)
{
    const auto count = [](std::string_view row) { return std::ranges::count(row, ','); };
    // The seed is either a swept column or the first of these.
    EXPECT_EQ(count(FormatSummaryHeader(true)), count(FormatSummaryHeader(false)) - 1);
    EXPECT_EQ(count(FormatSummary({})), count(FormatSummaryHeader(false)));
    EXPECT_EQ(count(FormatCrashedSummary()), count(FormatSummaryHeader(false)));
    EXPECT_THAT(FormatSummaryHeader(false), testing::StartsWith("seed,workers,"));
    EXPECT_THAT(FormatSummaryHeader(true), testing::StartsWith("workers,"));
    EXPECT_THAT(FormatSummary({}), testing::StartsWith("1,0,1,,,,,,,,0,"));
    EXPECT_EQ(DropSeed("7,8,9"), "8,9");
}

TEST(ResultColumns, AnOutcomeIsARowWithoutItsSeedAndItsCost)
{
    RunSummary summary;
    summary.seed = 7;
    summary.workers = 4;
    summary.autoChoice = "ring, in \"chunks\"";
    auto other = summary;
    other.seed = 8;
    other.wallSeconds = 2.5;
    other.peakRssBytes = 1 << 20;
    EXPECT_NE(FormatSummary(summary), FormatSummary(other));
    EXPECT_EQ(GetOutcome(FormatSummary(summary)), GetOutcome(FormatSummary(other)));
    other.droppedPackets = 1;
    EXPECT_NE(GetOutcome(FormatSummary(summary)), GetOutcome(FormatSummary(other)));
}

TEST(ResultColumns, EveryColumnSaysWhatItIsWhateverIsInIt)
{
    Scenario scenario;
    scenario.axes = {{"job.gradient", {"1MB", "2MB"}},
                     {"topology.hosts", {2, 3}},
                     {"faults.0.share", {1, 0.5}},
                     {"transport.ecn", {true, false}},
                     {"scheme", {"ring", Json{{"kind", "ps"}}}}};
    const auto tables = DescribeColumns(scenario);
    EXPECT_EQ(tables.size(), GetTableFiles().size() + 1);
    std::map<std::string, std::string> types;
    for (const auto& column : tables["runs.csv"])
    {
        types[column["name"]] = column["type"];
        EXPECT_TRUE(column.contains("unit"));
        EXPECT_TRUE((std::set<std::string>{"always", "same-program", "never"})
                        .contains(column["compared"]));
    }
    EXPECT_EQ(types["run"], "integer");
    EXPECT_EQ(types["job.gradient"], "text");
    EXPECT_EQ(types["job.gradient_bytes"], "integer");
    EXPECT_EQ(types["topology.hosts"], "integer");
    EXPECT_EQ(types["faults.0.share"], "number");
    EXPECT_EQ(types["transport.ecn"], "flag");
    EXPECT_EQ(types["scheme"], "text");
    EXPECT_EQ(types["seed"], "integer");
    EXPECT_EQ(types["auto_estimate_s"], "number");
    EXPECT_EQ(types.size(), 1 + 5 + 1 + GetSummaryColumns().size());
    // As a swept column the seed is there once.
    scenario.axes = {{"seed", {1, 2}}};
    EXPECT_EQ(DescribeColumns(scenario)["runs.csv"].size(), 1 + GetSummaryColumns().size());
}

TEST(ResultColumns, TablesHaveEachNameOnce)
{
    for (const auto& table : GetTableFiles())
    {
        std::set<std::string> names{RUN_COLUMN.name};
        for (const auto& column : table.columns)
        {
            EXPECT_TRUE(names.insert(column.name).second) << table.name << ": " << column.name;
        }
    }
}

} // namespace

} // namespace ns3::gradsync
