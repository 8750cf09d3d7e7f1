// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/divided-run.h"
#include "ns3/manifest.h"
#include "ns3/prepared-sweep.h"
#include "ns3/process-link-loader.h"
#include "ns3/process-pool.h"
#include "ns3/program-commands.h"
#include "ns3/program-version.h"
#include "ns3/rank-processes.h"
#include "ns3/result-files.h"
#include "ns3/result-table.h"
#include "ns3/results-folder.h"
#include "ns3/run-numbers.h"
#include "ns3/run-store.h"
#include "ns3/scenario-checker.h"
#include "ns3/scenario-reader.h"
#include "ns3/scenario-runner.h"
#include "ns3/scenario-sweep.h"
#include "ns3/scenario-warnings.h"
#include "ns3/shown-text.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <fmt/format.h>
#include <fstream>
#include <numeric>
#include <string>
#include <unistd.h>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// [run] the hash that its folder is called by.
std::vector<uint64_t>
HashAll(const Scenario& scenario)
{
    std::vector<uint64_t> hashes;
    const uint64_t fingerprint = GetProgramFingerprint();
    for (uint32_t run = 0; run < scenario.runCount; ++run)
    {
        hashes.push_back(GetRunHash(MakePoint(scenario, run), fingerprint));
    }
    return hashes;
}

/// All runs of a scenario, checked.
struct CheckedRuns
{
    std::vector<uint64_t> bytes;  //!< [run] message bytes to simulate
    std::vector<uint64_t> hashes; //!< [run]
    ScenarioWarnings warnings;
};

CheckedRuns
CheckAll(const Scenario& scenario, uint32_t ranks)
{
    CheckedRuns checked;
    const uint64_t fingerprint = GetProgramFingerprint();
    CheckScenario(scenario, false, [&](const ResolvedRun& run, const RunCheck& check) {
        if (ranks > 1)
        {
            CheckDivision(run, ranks);
        }
        checked.bytes.push_back(check.bytes);
        checked.hashes.push_back(GetRunHash(run.point, fingerprint));
        checked.warnings.Add(run);
        checked.warnings.Add(check);
    });
    return checked;
}

void
WarnOfDamage(uint32_t run, const StoredRun& stored, std::ostream& err)
{
    if (!stored.damage.empty())
    {
        err << fmt::format("gradsync: warning: run {} is damaged and simulated again: {}\n",
                           run,
                           ShowMessage(stored.damage));
    }
}

/// Of runs that are not checked as a whole sweep is. \throws ScenarioError
void
CheckDivisions(const Scenario& scenario, const std::vector<uint32_t>& runs, uint32_t ranks)
{
    for (const auto run : runs)
    {
        if (ranks > 1)
        {
            CheckDivision(ResolveRun(scenario, run), ranks);
        }
    }
}

/// Of one of the processes that simulate a run together.
std::vector<std::string>
MakeRankArguments(const RunOptions& options, uint32_t run, const std::filesystem::path& folder)
{
    std::vector<std::string> arguments{"run",
                                       options.file.string(),
                                       "--rank-of",
                                       fmt::format("{}", run),
                                       "--out",
                                       folder.string()};
    if (options.partRepeats == Repeats::Simulate)
    {
        arguments.emplace_back("--no-skip");
    }
    for (const auto& [path, value] : options.overrides)
    {
        arguments.push_back(fmt::format("--set={}={}", path, value));
    }
    return arguments;
}

/// One sweep being run: the state that the callbacks of the pool share.
class SweepExecution
{
  public:
    SweepExecution(const Scenario& scenario,
                   const RunStore& store,
                   const RunOptions& options,
                   const std::vector<uint32_t>& wanted,
                   const std::vector<uint64_t>& bytes,
                   std::ostream& err)
        : m_scenario(scenario),
          m_store(store),
          m_options(options),
          m_problems(scenario.runCount, "has no result")
    {
        for (const uint32_t run : wanted)
        {
            const auto stored = store.Look(run);
            WarnOfDamage(run, stored, err);
            if (!stored.IsWhole())
            {
                m_pending.push_back(run);
            }
        }
        std::vector<uint64_t> left(scenario.runCount, 0);
        for (const uint32_t run : m_pending)
        {
            left[run] = std::max<uint64_t>(bytes[run], 1);
        }
        const auto done = wanted.size() - m_pending.size();
        if (done > 0 && options.progress != ProgressStyle::None)
        {
            err << fmt::format("{} of {} runs are done already\n", done, wanted.size());
        }
        m_meter = std::make_unique<ProgressMeter>(options.progress, err, std::move(left));
    }

    /// False when interrupted.
    bool Run(uint32_t parallel)
    {
        ProcessPool pool(parallel);
        const auto task = [this](uint32_t run, const ProcessPool::Report& report) {
            const auto folder = m_store.Begin(run);
            if (m_options.ranks > 1)
            {
                RunRankProcesses(
                    {m_options.ranks, MakeRankArguments(m_options, run, folder), folder});
                m_store.Publish(run, folder);
                return;
            }
            const auto result =
                RunScenario(ResolveRun(m_scenario, run), report, folder, m_options.repeats);
            report.EndComputing();
            m_store.Write(run, folder, result);
        };
        const bool complete =
            pool.Run(m_pending,
                     task,
                     {[this](uint32_t run, uint64_t bytes) { m_meter->Update(run, bytes); },
                      [this](uint32_t run, const TaskOutcome& outcome) { End(run, outcome); },
                      [this] { m_meter->Draw(); }});
        m_meter->Clear();
        return complete;
    }

    const std::vector<std::string>& GetProblems() const
    {
        return m_problems;
    }

  private:
    void End(uint32_t run, const TaskOutcome& outcome)
    {
        std::string text = outcome.problem;
        m_problems[run] = outcome.problem;
        if (outcome.ok)
        {
            const auto summary = m_store.ReadSummary(run);
            text = summary.finished ? fmt::format("ICT {:.3f} ms, {:.1f} s",
                                                  static_cast<double>(summary.meanIctPs) / 1e9,
                                                  summary.wallSeconds)
                                    : "unfinished: " + summary.failure;
        }
        m_meter->Finish(run, fmt::format("{}: {}", NameRun(run), text));
    }

    std::string NameRun(uint32_t run) const
    {
        const auto point = DescribePoint(m_scenario, ApplySweep(m_scenario, run));
        return fmt::format("run {}{}", run, point.empty() ? "" : " (" + point + ")");
    }

    const Scenario& m_scenario;
    const RunStore& m_store;
    const RunOptions& m_options;
    std::vector<uint32_t> m_pending;
    std::vector<std::string> m_problems; //!< [run] why it gave no result, if it did not
    std::unique_ptr<ProgressMeter> m_meter;
};

/// Names every run that did not end well, and picks the exit code.
int
ReportFailures(const Scenario& scenario,
               const RunSummaries& summaries,
               const std::vector<std::string>& problems,
               std::ostream& err)
{
    int code = exit_code::OK;
    for (uint32_t run = 0; run < summaries.size(); ++run)
    {
        const auto& summary = summaries[run];
        if (summary && summary->finished)
        {
            continue;
        }
        const auto point = DescribePoint(scenario, ApplySweep(scenario, run));
        err << fmt::format(
            "gradsync: error: run {}{} {}\n",
            run,
            point.empty() ? "" : " (" + point + ")",
            ShowMessage(summary ? "unfinished: " + summary->failure : problems[run]));
        // A crash is worse than an exchange that does not end.
        code = !summary || code == exit_code::INTERNAL_ERROR ? exit_code::INTERNAL_ERROR
                                                             : exit_code::UNFINISHED;
    }
    return code;
}

/// Runs from 0 on.
std::vector<uint32_t>
ListRuns(uint32_t count)
{
    std::vector<uint32_t> runs(count);
    std::iota(runs.begin(), runs.end(), 0);
    return runs;
}

std::vector<uint32_t>
ListDamaged(const RunStore& store, uint32_t count)
{
    std::vector<uint32_t> damaged;
    for (uint32_t run = 0; run < count; ++run)
    {
        if (!store.Look(run).damage.empty())
        {
            damaged.push_back(run);
        }
    }
    return damaged;
}

int
ReportInterrupt(std::ostream& err)
{
    err << "gradsync: interrupted; runs that are done are kept, start again to go on\n";
    return exit_code::INTERRUPTED;
}

/// Writes all files of a results folder from its store, and says how the runs ended.
int
WriteResults(const RunOptions& options,
             const ManifestData& data,
             const RunStore& store,
             std::ostream& out,
             std::ostream& err)
{
    const auto staging = store.MakeTemporary("results");
    WriteResultFiles(staging, data.scenario, store, data.summaries);
    WriteManifest(staging, data);
    ResultsFolder(options.folder).Replace(staging);
    std::filesystem::remove_all(staging);
    store.Prune();
    out << ShowText(data.scenario.title) << "\n\n";
    PrintResultTable(data.scenario, data.summaries, out);
    PrintRepetitions(data.scenario, data.summaries, out);
    PrintTraining(data.summaries, out);
    out << "\nResults are in " << EscapeText(options.folder.string()) << '\n' << std::flush;
    return ReportFailures(data.scenario, data.summaries, data.problems, err);
}

int
Prepare(const RunOptions& options, const Scenario& scenario, std::ostream& out, std::ostream& err)
{
    const auto checked = CheckAll(scenario, options.ranks);
    const RunStore store(options.folder, checked.hashes);
    if (!options.resume)
    {
        store.Clear();
    }
    PreparedSweep(options.folder).Write(scenario.files->List(), checked.hashes);
    Json runs = Json::array();
    for (uint32_t run = 0; run < scenario.runCount; ++run)
    {
        const auto stored = store.Look(run);
        WarnOfDamage(run, stored, err);
        runs.push_back({{"run", run}, {"bytes", checked.bytes[run]}, {"done", stored.IsWhole()}});
    }
    out << runs.dump() << '\n' << std::flush;
    return exit_code::OK;
}

/// An exchange that does not finish is a result, which assembling reports.
int
RunPoints(const RunOptions& options, const Scenario& scenario, std::ostream& err)
{
    const auto points = ParseRunNumbers(options.points, scenario.runCount);
    const auto hashes = HashAll(scenario);
    PreparedSweep(options.folder).Check(hashes);
    CheckDivisions(scenario, points, options.ranks);
    const RunStore store(options.folder, hashes, RunStore::Access::WithOthers);
    const std::vector<uint64_t> unknown(scenario.runCount, 1);
    SweepExecution sweep(scenario, store, options, points, unknown, err);
    if (!sweep.Run(options.parallel))
    {
        return ReportInterrupt(err);
    }
    int code = exit_code::OK;
    for (const uint32_t run : points)
    {
        if (!store.Look(run).IsWhole())
        {
            err << fmt::format("gradsync: error: run {} {}\n",
                               run,
                               ShowMessage(sweep.GetProblems()[run]));
            code = exit_code::INTERNAL_ERROR;
        }
    }
    return code;
}

int
Assemble(const RunOptions& options, const Scenario& scenario, std::ostream& out, std::ostream& err)
{
    const auto now = std::chrono::system_clock::now();
    const auto hashes = HashAll(scenario);
    PreparedSweep(options.folder).Check(hashes);
    const RunStore store(options.folder, hashes);
    const auto damaged = ListDamaged(store, scenario.runCount);
    CheckDivisions(scenario, damaged, options.ranks);
    SweepExecution sweep(scenario,
                         store,
                         options,
                         damaged,
                         std::vector<uint64_t>(scenario.runCount, 1),
                         err);
    if (!sweep.Run(options.parallel))
    {
        return ReportInterrupt(err);
    }
    const auto summaries = ReadSummaries(store, scenario.runCount);
    return WriteResults(options,
                        {scenario, options.overrides, hashes, summaries, sweep.GetProblems(), now},
                        store,
                        out,
                        err);
}

int
RunWhole(const RunOptions& options, const Scenario& scenario, std::ostream& out, std::ostream& err)
{
    const auto started = std::chrono::system_clock::now();
    const auto checked = CheckAll(scenario, options.ranks);
    checked.warnings.Print(err);
    const RunStore store(options.folder, checked.hashes);
    PreparedSweep(options.folder).Remove();
    if (!options.resume)
    {
        store.Clear();
    }
    SweepExecution sweep(scenario, store, options, ListRuns(scenario.runCount), checked.bytes, err);
    if (!sweep.Run(options.parallel))
    {
        return ReportInterrupt(err);
    }
    const auto summaries = ReadSummaries(store, scenario.runCount);
    return WriteResults(
        options,
        {scenario, options.overrides, checked.hashes, summaries, sweep.GetProblems(), started},
        store,
        out,
        err);
}

/// One share of a run. Whichever process fails first says so in the folder.
int
RunRank(const RunOptions& options, const Scenario& scenario)
{
    const auto link = LoadProcessLink();
    try
    {
        const auto result =
            RunDivided(ResolveRun(scenario, options.rankOf), *link, options.partRepeats);
        if (result)
        {
            RunStore::WriteTables(options.folder, *result);
        }
        return exit_code::OK;
    }
    catch (const std::exception& error)
    {
        const auto file = options.folder / RANK_PROBLEM_FILE;
        if (!std::filesystem::exists(file))
        {
            // Whole at once: another one that fails now may end this one at any time.
            const auto draft = options.folder / fmt::format("{}.{}", RANK_PROBLEM_FILE, getpid());
            std::ofstream(draft) << error.what() << '\n';
            std::filesystem::rename(draft, file);
        }
        throw;
    }
}

} // namespace

int
RunCommand(const RunOptions& options, std::ostream& out, std::ostream& err)
{
    const auto scenario = ReadScenario(options.file, options.overrides);
    if (options.part == RunPart::Rank)
    {
        return RunRank(options, scenario);
    }
    if (options.ranks > 1)
    {
        RequireRankProcesses();
    }
    if (options.part == RunPart::Points || options.part == RunPart::Assemble)
    {
        PreparedSweep(options.folder).Expect(*scenario.files);
    }
    auto names = ListResultNames(scenario);
    names.insert(MANIFEST_FILE);
    ResultsFolder(options.folder).RequireFree(names);
    switch (options.part)
    {
    case RunPart::Prepare:
        return Prepare(options, scenario, out, err);
    case RunPart::Points:
        return RunPoints(options, scenario, err);
    case RunPart::Assemble:
        return Assemble(options, scenario, out, err);
    case RunPart::Rank:
    case RunPart::Whole:
        break;
    }
    return RunWhole(options, scenario, out, err);
}

} // namespace ns3::gradsync
