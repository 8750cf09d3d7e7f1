// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/atomic-file.h"
#include "ns3/auto-comparison.h"
#include "ns3/csv-text.h"
#include "ns3/process-pool.h"
#include "ns3/program-commands.h"
#include "ns3/result-table.h"
#include "ns3/scenario-error.h"
#include "ns3/scenario-reader.h"
#include "ns3/shown-text.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Up to this ratio a choice counts as good as the best.
constexpr double GOOD = 1.05;

void
Commit(const std::filesystem::path& path, const std::string& text)
{
    AtomicFile file(path);
    file.GetStream() << text;
    file.Commit();
}

/// Compares all runs, in processes of their own.
class AutoStudy
{
  public:
    AutoStudy(const AutoOptions& options, std::ostream& err)
        : m_scenario(ReadScenario(options.file, options.overrides)),
          m_folder(options.folder),
          m_parts(options.folder / "auto-parts"),
          m_err(err)
    {
        CheckRuns();
        std::filesystem::create_directories(m_parts);
    }

    ~AutoStudy()
    {
        std::error_code ignored;
        std::filesystem::remove_all(m_parts, ignored);
    }

    AutoStudy(const AutoStudy&) = delete;
    AutoStudy& operator=(const AutoStudy&) = delete;

    /// False when interrupted.
    bool Run(uint32_t parallel)
    {
        std::vector<uint32_t> tasks(m_scenario.runCount);
        std::iota(tasks.begin(), tasks.end(), 0U);
        ProcessPool pool(parallel);
        return pool.Run(tasks,
                        [this](uint32_t run, const ProcessPool::Report& /* report */) {
                            Commit(GetPart(run),
                                   ToJson(CompareAuto(ResolveRun(m_scenario, run))).dump());
                        },
                        {[](uint32_t /* run */, uint64_t /* progress */) {},
                         [this](uint32_t run, const TaskOutcome& outcome) { End(run, outcome); },
                         [] {}});
    }

    /// Writes auto.csv, a row a candidate, and prints a row a run and what they come to.
    int Report(std::ostream& out) const
    {
        TextTable table(
            {"run", "choice", "estimate ms", "ICT ms", "best", "best ICT ms", "x best"});
        std::string rows = "run,candidate,operations,bound_s,estimate_s,ict_s\n";
        uint32_t best = 0;
        uint32_t good = 0;
        for (const auto& [run, comparison] : m_comparisons)
        {
            const auto ratio = comparison.GetRatio();
            best += ratio <= 1.0 ? 1 : 0;
            good += ratio <= GOOD ? 1 : 0;
            table.AddRow(MakeRow(run, comparison, ratio));
            rows += MakeCsv(run, comparison);
        }
        Commit(m_folder / "auto.csv", rows);
        out << ShowText(m_scenario.title) << "\n\n";
        table.Print(out);
        const auto count = m_comparisons.size();
        out << fmt::format("\n{} runs: auto took the best candidate in {} ({:.1f} %), one within "
                           "{:.0f} % of it in {} ({:.1f} %)\nResults are in {}\n",
                           count,
                           best,
                           100.0 * best / static_cast<double>(count),
                           100.0 * (GOOD - 1.0),
                           good,
                           100.0 * good / static_cast<double>(count),
                           EscapeText(m_folder.string()));
        return count == m_scenario.runCount ? exit_code::OK : exit_code::INTERNAL_ERROR;
    }

  private:
    /// Before anything is written.
    void CheckRuns() const
    {
        for (uint32_t run = 0; run < m_scenario.runCount; ++run)
        {
            const auto jobs = ResolveRun(m_scenario, run).jobs;
            if (jobs.empty() || jobs[0].scheme.scheme->planOrigin != PlanOrigin::Estimate)
            {
                throw ScenarioError("scheme", "expected \"auto\": its choice is what is compared");
            }
        }
    }

    std::filesystem::path GetPart(uint32_t run) const
    {
        return m_parts / fmt::format("{}.json", run);
    }

    void End(uint32_t run, const TaskOutcome& outcome)
    {
        if (!outcome.ok)
        {
            m_err << fmt::format("gradsync: error: run {} {}\n", run, ShowMessage(outcome.problem));
            return;
        }
        m_comparisons.emplace(run, ToAutoComparison(LoadJson(GetPart(run))));
        m_err << fmt::format("{} of {} runs\n", m_comparisons.size(), m_scenario.runCount);
    }

    static std::vector<std::string> MakeRow(uint32_t run,
                                            const AutoComparison& comparison,
                                            double ratio)
    {
        const auto show = [](const std::optional<double>& seconds) {
            return seconds ? fmt::format("{:.6f}", *seconds * 1e3) : "-";
        };
        const auto& choice = comparison.entries.front();
        const auto& best = comparison.GetBest();
        return {std::to_string(run),
                choice.candidate,
                show(choice.estimateSeconds),
                show(choice.ictSeconds),
                best.candidate,
                show(best.ictSeconds),
                fmt::format("{:.4f}", ratio)};
    }

    static std::string MakeCsv(uint32_t run, const AutoComparison& comparison)
    {
        const auto show = [](const std::optional<double>& seconds) {
            return seconds ? fmt::format("{:.12f}", *seconds) : "";
        };
        std::string rows;
        for (const auto& entry : comparison.entries)
        {
            rows += fmt::format("{},{},{},{:.12f},{},{}\n",
                                run,
                                WriteCsvText(entry.candidate),
                                entry.operations,
                                entry.boundSeconds,
                                show(entry.estimateSeconds),
                                show(entry.ictSeconds));
        }
        return rows;
    }

    Scenario m_scenario;
    std::filesystem::path m_folder;
    std::filesystem::path m_parts; //!< what the processes hand over
    std::map<uint32_t, AutoComparison> m_comparisons;
    std::ostream& m_err;
};

} // namespace

int
AutoCommand(const AutoOptions& options, std::ostream& out, std::ostream& err)
{
    AutoStudy study(options, err);
    if (!study.Run(options.parallel))
    {
        err << "gradsync: interrupted\n";
        return exit_code::INTERRUPTED;
    }
    return study.Report(out);
}

} // namespace ns3::gradsync
