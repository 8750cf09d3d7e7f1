// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/result-files.h"

#include "ns3/atomic-file.h"
#include "ns3/result-rows.h"
#include "ns3/scenario-reader.h"
#include "ns3/scenario-sweep.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <stdexcept>
#include <string>

namespace ns3::gradsync
{

namespace
{

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
    AtomicFile file(folder / "runs.csv");
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

/// Puts the captures of all runs at `folder`/pcap/run-NUMBER, as links to the same files.
void
LinkCaptures(const std::filesystem::path& folder,
             const RunStore& store,
             const RunSummaries& summaries)
{
    const auto captures = folder / RunStore::CAPTURE_FOLDER;
    std::filesystem::remove_all(captures);
    for (uint32_t run = 0; run < summaries.size(); ++run)
    {
        const auto source = store.GetFolder(run) / RunStore::CAPTURE_FOLDER;
        if (!summaries[run] || !std::filesystem::exists(source))
        {
            continue;
        }
        const auto target = captures / ("run-" + std::to_string(run));
        std::filesystem::create_directories(target);
        for (const auto& entry : std::filesystem::directory_iterator(source))
        {
            std::filesystem::create_hard_link(entry.path(), target / entry.path().filename());
        }
    }
}

/// trace.json of the only run, or trace-NUMBER.json of each that has one.
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
            const auto name = fmt::format("trace-{}.json", run);
            AtomicFile file(folder / (summaries.size() == 1 ? RunStore::TRACE_FILE : name));
            file.GetStream() << trace.rdbuf();
            file.Commit();
        }
    }
}

} // namespace

RunSummaries
ReadSummaries(const RunStore& store, uint32_t runCount)
{
    RunSummaries summaries(runCount);
    for (uint32_t run = 0; run < runCount; ++run)
    {
        if (store.Has(run))
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
    WriteRows(folder, store, summaries, RunStore::ITERATION_FILE, ITERATION_HEADER);
    WriteRows(folder, store, summaries, RunStore::LINK_FILE, LINK_HEADER);
    WriteRows(folder, store, summaries, RunStore::MESSAGE_FILE, MESSAGE_HEADER);
    WriteRows(folder, store, summaries, RunStore::FAULT_FILE, FAULT_HEADER);
    WriteRows(folder, store, summaries, RunStore::SAMPLE_FILE, SAMPLE_HEADER);
    WriteRows(folder, store, summaries, RunStore::FLOW_FILE, FLOW_HEADER);
    WriteRows(folder, store, summaries, RunStore::UNFINISHED_FILE, UNFINISHED_HEADER);
    LinkCaptures(folder, store, summaries);
    WriteRows(folder, store, summaries, RunStore::BLOCKED_FILE, BLOCKED_HEADER);
    CopyTraces(folder, store, summaries);
}

} // namespace ns3::gradsync
