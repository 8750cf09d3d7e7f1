// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/result-files.h"

#include "ns3/atomic-file.h"
#include "ns3/result-rows.h"
#include "ns3/scenario-reader.h"
#include "ns3/scenario-sweep.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fstream>
#include <stdexcept>
#include <string>

namespace ns3::gradsync
{

namespace
{

constexpr std::array<TableFile, 8> TABLES{{
    {RunStore::ITERATION_FILE, ITERATION_HEADER},
    {RunStore::LINK_FILE, LINK_HEADER},
    {RunStore::MESSAGE_FILE, MESSAGE_HEADER},
    {RunStore::FAULT_FILE, FAULT_HEADER},
    {RunStore::SAMPLE_FILE, SAMPLE_HEADER},
    {RunStore::FLOW_FILE, FLOW_HEADER},
    {RunStore::UNFINISHED_FILE, UNFINISHED_HEADER},
    {RunStore::BLOCKED_FILE, BLOCKED_HEADER},
}};

bool
HasSeedAxis(const Scenario& scenario)
{
    return std::any_of(scenario.axes.begin(), scenario.axes.end(), [](const SweepAxis& axis) {
        return axis.path == "seed";
    });
}

void
WriteRuns(const std::filesystem::path& folder,
          const Scenario& scenario,
          const RunSummaries& summaries)
{
    const bool hasSeed = HasSeedAxis(scenario);
    AtomicFile file(folder / RUNS_FILE);
    auto& out = file.GetStream();
    out << "run,";
    for (const auto& axis : scenario.axes)
    {
        out << QuoteCsv(axis.path) << ',';
    }
    out << GetSummaryHeader(hasSeed) << '\n';
    for (uint32_t run = 0; run < summaries.size(); ++run)
    {
        out << run << ',';
        for (const auto& value : ApplySweep(scenario, run).values)
        {
            out << QuoteCsv(ShowSweptValue(value)) << ',';
        }
        out << (summaries[run] ? FormatSummary(*summaries[run], hasSeed)
                               : FormatCrashedSummary(hasSeed))
            << '\n';
    }
    file.Commit();
}

/// Concatenates a file of every run, with the run's number before each row.
void
WriteRows(const std::filesystem::path& folder,
          const RunStore& store,
          const RunSummaries& summaries,
          const std::string& name,
          const std::string& header)
{
    AtomicFile file(folder / name);
    auto& out = file.GetStream();
    out << "run," << header << '\n';
    for (uint32_t run = 0; run < summaries.size(); ++run)
    {
        if (!summaries[run])
        {
            continue;
        }
        std::ifstream rows(store.GetFolder(run) / name, std::ios::binary);
        if (!rows)
        {
            throw std::runtime_error((store.GetFolder(run) / name).string() + ": cannot be read");
        }
        const std::string prefix = std::to_string(run) + ",";
        for (std::string row; std::getline(rows, row);)
        {
            out << prefix << row << '\n';
        }
    }
    file.Commit();
}

std::string
GetCaptureFolder(uint32_t run)
{
    return fmt::format("{}/run-{}", RunStore::CAPTURE_FOLDER, run);
}

/// Puts the captures of all runs at `folder`/pcap/run-NUMBER, as links to the same files.
void
LinkCaptures(const std::filesystem::path& folder,
             const RunStore& store,
             const RunSummaries& summaries)
{
    for (uint32_t run = 0; run < summaries.size(); ++run)
    {
        const auto source = store.GetFolder(run) / RunStore::CAPTURE_FOLDER;
        if (!summaries[run] || !std::filesystem::exists(source))
        {
            continue;
        }
        const auto target = folder / GetCaptureFolder(run);
        std::filesystem::create_directories(target);
        for (const auto& entry : std::filesystem::directory_iterator(source))
        {
            std::filesystem::create_hard_link(entry.path(), target / entry.path().filename());
        }
    }
}

void
CopyTraces(const std::filesystem::path& folder,
           const RunStore& store,
           const RunSummaries& summaries)
{
    for (uint32_t run = 0; run < summaries.size(); ++run)
    {
        if (!summaries[run])
        {
            continue;
        }
        std::ifstream trace(store.GetFolder(run) / RunStore::TRACE_FILE, std::ios::binary);
        if (trace)
        {
            AtomicFile file(folder / GetTraceName(run, static_cast<uint32_t>(summaries.size())));
            file.GetStream() << trace.rdbuf();
            file.Commit();
        }
    }
}

} // namespace

std::span<const TableFile>
GetTableFiles()
{
    return TABLES;
}

std::string
GetTraceName(uint32_t run, uint32_t runCount)
{
    return runCount == 1 ? RunStore::TRACE_FILE : fmt::format("trace-{}.json", run);
}

RunSummaries
ReadSummaries(const RunStore& store, uint32_t runCount)
{
    RunSummaries summaries(runCount);
    for (uint32_t run = 0; run < runCount; ++run)
    {
        if (store.Look(run).IsWhole())
        {
            summaries[run] = store.ReadSummary(run);
        }
    }
    return summaries;
}

void
WriteResultFiles(const std::filesystem::path& folder,
                 const Scenario& scenario,
                 const RunStore& store,
                 const RunSummaries& summaries)
{
    WriteRuns(folder, scenario, summaries);
    for (const auto& table : TABLES)
    {
        WriteRows(folder, store, summaries, table.name, table.header);
    }
    LinkCaptures(folder, store, summaries);
    CopyTraces(folder, store, summaries);
}

std::set<std::string>
ListResultNames(const Scenario& scenario)
{
    std::set<std::string> names{RUNS_FILE};
    for (const auto& table : TABLES)
    {
        names.insert(table.name);
    }
    for (uint32_t run = 0; run < scenario.runCount; ++run)
    {
        // Checked later: what is no object makes nothing.
        const auto document = MakePoint(scenario, run).document;
        const auto results = document.find("results");
        if (results == document.end() || !results->is_object())
        {
            continue;
        }
        if (results->contains("pcap"))
        {
            names.insert(GetCaptureFolder(run));
        }
        if (results->contains("trace") && results->at("trace") == true)
        {
            names.insert(GetTraceName(run, scenario.runCount));
        }
    }
    return names;
}

} // namespace ns3::gradsync
