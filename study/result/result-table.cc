// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/result-table.h"

#include "ns3/document-path.h"
#include "ns3/scenario-reader.h"
#include "ns3/scenario-sweep.h"
#include "ns3/shown-text.h"
#include "ns3/summary-columns.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr double PS_PER_MS = 1e9;

bool
LooksNumeric(const std::string& text)
{
    return text.find_first_not_of("0123456789.+-") == std::string::npos;
}

/// Index of the axis whose values are compared with each other, never the seed; the number of axes
/// if there is none.
size_t
FindSeries(const Scenario& scenario)
{
    const auto count = scenario.axes.size();
    const Json* hint = FindAtPath(scenario.document, {"plot", "series"});
    for (size_t i = 0; hint != nullptr && hint->is_string() && i < count; ++i)
    {
        if (scenario.axes[i].path == hint->get<std::string>())
        {
            return i;
        }
    }
    for (size_t i = count; i-- > 0;)
    {
        if (scenario.axes[i].path != "seed")
        {
            return i;
        }
    }
    return count;
}

/// What runs that are compared with each other have in common.
std::string
GetGroup(const ScenarioPoint& point, size_t series)
{
    std::string group;
    for (size_t i = 0; i < point.values.size(); ++i)
    {
        group += i == series ? "" : point.values[i].dump() + "\n";
    }
    return group;
}

/// Index of the axis of repetitions; the number of axes if there is none.
size_t
FindSeeds(const Scenario& scenario)
{
    const auto found = std::ranges::find(scenario.axes, "seed", &SweepAxis::path);
    return static_cast<size_t>(found - scenario.axes.begin());
}

} // namespace

TextTable::TextTable(std::vector<std::string> header)
{
    AddRow(std::move(header));
}

void
TextTable::AddRow(std::vector<std::string> row)
{
    std::ranges::transform(row, row.begin(), ShowText);
    m_rows.push_back(std::move(row));
}

void
TextTable::Print(std::ostream& stream) const
{
    std::vector<size_t> widths(m_rows.front().size(), 0);
    std::vector<bool> numeric(m_rows.front().size(), true);
    for (const auto& row : m_rows)
    {
        for (size_t i = 0; i < row.size(); ++i)
        {
            widths[i] = std::max(widths[i], row[i].size());
            numeric[i] = numeric[i] && (&row == &m_rows.front() || LooksNumeric(row[i]));
        }
    }
    for (const auto& row : m_rows)
    {
        std::string line;
        for (size_t i = 0; i < row.size(); ++i)
        {
            line += numeric[i] ? fmt::format("{:>{}}", row[i], widths[i])
                               : fmt::format("{:<{}}", row[i], widths[i]);
            line += i + 1 < row.size() ? "  " : "";
        }
        stream << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
    }
}

void
PrintResultTable(const Scenario& scenario, const RunSummaries& summaries, std::ostream& stream)
{
    const size_t series = FindSeries(scenario);
    std::vector<ScenarioPoint> points;
    std::map<std::string, int64_t> best;
    for (uint32_t run = 0; run < summaries.size(); ++run)
    {
        points.push_back(ApplySweep(scenario, run));
        points.back().document = nullptr;
        if (summaries[run] && summaries[run]->finished)
        {
            const auto ict = summaries[run]->meanIctPs;
            const auto entry = best.emplace(GetGroup(points.back(), series), ict).first;
            entry->second = std::min(entry->second, ict);
        }
    }
    std::vector<std::string> header{"run"};
    for (const auto& axis : scenario.axes)
    {
        header.push_back(axis.path);
    }
    header.insert(header.end(),
                  {"ICT ms",
                   "x best",
                   "x bound",
                   "cross-rack bytes",
                   "chain",
                   "peak receiver bytes",
                   "status"});
    TextTable table(std::move(header));
    for (uint32_t run = 0; run < summaries.size(); ++run)
    {
        std::vector<std::string> row{std::to_string(run)};
        for (const auto& value : points[run].values)
        {
            row.push_back(ShowSweptValue(value));
        }
        const auto& summary = summaries[run];
        const bool ok = summary && summary->finished;
        const auto ict = ok ? static_cast<double>(summary->meanIctPs) : 0.0;
        const auto least = ok ? static_cast<double>(best[GetGroup(points[run], series)]) : 0.0;
        row.push_back(ok ? fmt::format("{:.3f}", ict / PS_PER_MS) : "-");
        row.push_back(ok && least > 0.0 ? fmt::format("{:.3f}", ict / least) : "-");
        row.push_back(ok && summary->timesBound > 0.0 ? fmt::format("{:.3f}", summary->timesBound)
                                                      : "-");
        row.push_back(ok ? std::to_string(summary->crossRackBytes) : "-");
        row.push_back(ok ? std::to_string(summary->longestChain) : "-");
        row.push_back(ok ? std::to_string(summary->peakReceivedBytes) : "-");
        row.emplace_back(ok ? "ok" : summary ? "unfinished" : "crashed");
        table.AddRow(std::move(row));
    }
    table.Print(stream);
}

void
PrintRepetitions(const Scenario& scenario, const RunSummaries& summaries, std::ostream& stream)
{
    const auto seeds = FindSeeds(scenario);
    if (seeds == scenario.axes.size() || scenario.axes[seeds].values.size() < 2)
    {
        return;
    }
    std::map<std::string, std::set<std::string>> outcomes; //!< [point]
    for (uint32_t run = 0; run < summaries.size(); ++run)
    {
        const bool ok = summaries[run] && summaries[run]->finished;
        // One that did not finish is like no other.
        outcomes[GetGroup(ApplySweep(scenario, run), seeds)].insert(
            ok ? std::string(GetOutcome(summaries[run]->row)) : fmt::format("run {}", run));
    }
    const auto equal =
        std::ranges::count_if(outcomes, [](const auto& point) { return point.second.size() == 1; });
    if (equal > 0)
    {
        const auto runs = scenario.axes[seeds].values.size();
        stream << fmt::format("\nthe seed changed nothing: {} equal runs of {}\n",
                              runs,
                              static_cast<size_t>(equal) == outcomes.size()
                                  ? std::string(equal == 1 ? "one point" : "each point")
                                  : fmt::format("{} of {} points", equal, outcomes.size()));
    }
}

void
PrintTraining(const RunSummaries& summaries, std::ostream& stream)
{
    bool isFirst = true;
    for (uint32_t run = 0; run < summaries.size(); ++run)
    {
        if (!summaries[run])
        {
            continue;
        }
        for (const auto& line : summaries[run]->training)
        {
            stream << (isFirst ? "\n" : "") << "run " << run << ": " << ShowMessage(line) << '\n';
            isFirst = false;
        }
    }
}

} // namespace ns3::gradsync
