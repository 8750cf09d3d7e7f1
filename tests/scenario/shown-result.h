// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SHOWN_RESULT_H
#define GRADSYNC_SHOWN_RESULT_H

#include "ns3/result-rows.h"
#include "ns3/run-result.h"
#include "ns3/summary-columns.h"
#include "ns3/training-rows.h"

#include <fmt/format.h>
#include <sstream>
#include <string>

namespace ns3::gradsync
{

/// Of each run of which they are kept.
inline void
ShowTasks(const RunResult& result, std::ostream& text)
{
    for (const auto& training : result.trainings)
    {
        for (const auto& run : training.runs)
        {
            for (TaskId id = 0; run.log && id < training.workload->GetTasks().size(); ++id)
            {
                text << fmt::format("{} {} {} {} {}\n",
                                    run.firstIteration,
                                    id,
                                    run.log->GetBegin(id).GetTimeStep(),
                                    run.log->GetEnd(id).GetTimeStep(),
                                    run.log->GetCause(id));
            }
        }
    }
}

/// The tables that the result files have of a run, and what its trace is drawn from.
inline void
ShowTables(const RunResult& result, std::ostream& text)
{
    text << result.duration.GetTimeStep() << "\n";
    WriteIterations(result, text);
    WriteLinks(result, text);
    WriteMessages(result, text);
    for (const auto& record : result.computations)
    {
        text << fmt::format("{} {} {} {}\n",
                            record.iteration,
                            record.rank,
                            record.start.GetTimeStep(),
                            record.end.GetTimeStep());
    }
    for (const auto& record : result.work)
    {
        text << fmt::format("{} {} {} {}\n",
                            record.iteration,
                            record.operation,
                            record.start.GetTimeStep(),
                            record.end.GetTimeStep());
    }
    WriteTraining(result, text);
    WriteStreams(result, text);
    WriteCollectives(result, text);
    WriteCriticalPaths(result, text);
    ShowTasks(result, text);
    WriteSamples(result, text);
    WriteFlows(result, text);
    WriteFaults(result, text);
    WriteBlocked(result, text);
}

/// All rows that the result files have of a run, but for what it cost.
inline std::string
ShowOutcome(const RunResult& result)
{
    std::ostringstream text;
    text << GetOutcome(FormatSummary(result.summary)) << "\n";
    ShowTables(result, text);
    return text.str();
}

/// All but wall-clock columns.
inline std::string
ShowWhole(const RunResult& result)
{
    auto summary = result.summary;
    summary.wallSeconds = 0.0;
    summary.peakRssBytes = 0;
    std::ostringstream text;
    text << FormatSummary(summary) << "\n";
    ShowTables(result, text);
    return text.str();
}

} // namespace ns3::gradsync

#endif // GRADSYNC_SHOWN_RESULT_H
