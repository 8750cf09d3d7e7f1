// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/result-files.h"

#include "ns3/atomic-file.h"
#include "ns3/csv-text.h"
#include "ns3/file-error.h"
#include "ns3/folder-listing.h"
#include "ns3/result-columns.h"
#include "ns3/scenario-sweep.h"
#include "ns3/summary-columns.h"
#include "ns3/swept-columns.h"

#include <array>
#include <fmt/format.h>
#include <fstream>
#include <string>

namespace ns3::gradsync
{

namespace
{

void
WriteRuns(const std::filesystem::path& folder,
          const Scenario& scenario,
          const RunSummaries& summaries)
{
    const bool hasSeed = HasSeedAxis(scenario);
    AtomicFile file(folder / RUNS_FILE);
    auto& out = file.GetStream();
    out << "run,";
    const auto columns = ListSweptColumns(scenario);
    for (const auto& column : columns)
    {
        out << WriteCsvText(column.name) << ',';
    }
    out << FormatSummaryHeader(hasSeed) << '\n';
    for (uint32_t run = 0; run < summaries.size(); ++run)
    {
        out << run << ',';
        const auto values = ApplySweep(scenario, run).values;
        for (const auto& column : columns)
        {
            out << FormatSwept(column, values[column.axis]) << ',';
        }
        const auto row = summaries[run] ? summaries[run]->row : FormatCrashedSummary();
        out << (hasSeed ? DropSeed(row) : row) << '\n';
    }
    file.Commit();
}

/// Concatenates a file of every run, with the run's number before each row.
void
WriteRows(const std::filesystem::path& folder,
          const RunStore& store,
          const RunSummaries& summaries,
          const TableFile& table)
{
    const std::string name = table.name;
    AtomicFile file(folder / name);
    auto& out = file.GetStream();
    out << RUN_COLUMN.name;
    for (const auto& column : table.columns)
    {
        out << ',' << column.name;
    }
    out << '\n';
    for (uint32_t run = 0; run < summaries.size(); ++run)
    {
        const auto path = store.GetFolder(run) / name;
        if (!summaries[run] || !std::filesystem::exists(path)) // no rows: no file
        {
            continue;
        }
        std::ifstream rows(path, std::ios::binary);
        const std::string prefix = std::to_string(run) + ",";
        for (std::string row; std::getline(rows, row);)
        {
            out << prefix << row << '\n';
        }
        if (!rows.eof())
        {
            throw FileError(path, "cannot be read");
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
        for (const auto& name : ListNames(source))
        {
            std::filesystem::create_hard_link(source / name, target / name);
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
        const auto path = store.GetFolder(run) / RunStore::TRACE_FILE;
        if (!summaries[run] || !std::filesystem::exists(path))
        {
            continue;
        }
        std::ifstream trace(path, std::ios::binary);
        AtomicFile file(folder / GetTraceName(run, static_cast<uint32_t>(summaries.size())));
        std::array<char, 1 << 16> buffer;
        while (trace.read(buffer.data(), buffer.size()) || trace.gcount() > 0)
        {
            file.GetStream().write(buffer.data(), trace.gcount());
        }
        if (!trace.eof())
        {
            throw FileError(path, "cannot be read");
        }
        file.Commit();
    }
}

} // namespace

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
    for (const auto& table : GetTableFiles())
    {
        WriteRows(folder, store, summaries, table);
    }
    LinkCaptures(folder, store, summaries);
    CopyTraces(folder, store, summaries);
}

std::set<std::string>
ListResultNames(const Scenario& scenario)
{
    std::set<std::string> names{RUNS_FILE};
    for (const auto& table : GetTableFiles())
    {
        names.insert(table.name);
    }
    for (uint32_t run = 0; run < scenario.runCount; ++run)
    {
        // Checked later: what is no object makes nothing.
        const auto document = ApplySweep(scenario, run).document;
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
