// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/training-summary.h"

#include "ns3/run-result.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <map>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Sums of times overflow 64 bits of picoseconds.
__extension__ using Picoseconds = __int128;

/// Of one iteration: the mean over ranks of one of their times, rounded down.
int64_t
AverageRanks(const TrainingResult::Iteration& iteration, Time RankTime::*time)
{
    Picoseconds sum = 0;
    for (const auto& rank : iteration.ranks)
    {
        sum += (rank.*time).GetPicoSeconds();
    }
    return static_cast<int64_t>(sum / static_cast<Picoseconds>(iteration.ranks.size()));
}

/// Over all iterations, rounded down. \param value of an iteration, in picoseconds
int64_t
AverageIterations(const RunResult& result,
                  const std::function<int64_t(const TrainingResult::Iteration&)>& value)
{
    Picoseconds sum = 0;
    Picoseconds count = 0;
    for (const auto& training : result.trainings)
    {
        for (const auto& iteration : training.iterations)
        {
            sum += value(iteration);
            ++count;
        }
    }
    return count == 0 ? 0 : static_cast<int64_t>(sum / count);
}

/// Seconds of all iterations of a job.
double
GetSeconds(const TrainingResult& training)
{
    double seconds = 0.0;
    for (const auto& iteration : training.iterations)
    {
        seconds += (iteration.span.end - iteration.span.start).GetSeconds();
    }
    return seconds;
}

/// Of a job, survivors' iterations included.
struct JobRates
{
    double seconds{0.0};
    double samples{0.0};
    double tokens{0.0};
};

/// What devices and models say of the times. Jobs of which something is not known are left out.
void
SummariseFigures(const RunResult& result, TrainingSummary& summary)
{
    double flops = 0.0;
    double peakFlops = 0.0;
    std::map<uint32_t, JobRates> jobs;
    for (const auto& training : result.trainings)
    {
        const auto& figures = training.figures;
        for (const auto bytes : figures.memoryBytes)
        {
            summary.memoryBytes = std::max(summary.memoryBytes, bytes);
        }
        const auto seconds = GetSeconds(training);
        if (seconds <= 0.0)
        {
            continue;
        }
        const auto count = static_cast<double>(training.iterations.size());
        if (figures.modelFlops > 0.0 && figures.peakFlopsPerSecond > 0.0)
        {
            flops += count * figures.modelFlops;
            peakFlops += seconds * figures.peakFlopsPerSecond;
        }
        auto& rates = jobs[training.job];
        rates.seconds += seconds;
        rates.samples += count * static_cast<double>(figures.samples);
        rates.tokens += count * static_cast<double>(figures.tokens);
    }
    for (const auto& [job, rates] : jobs)
    {
        summary.samplesPerSecond += rates.samples / rates.seconds;
        summary.tokensPerSecond += rates.tokens / rates.seconds;
    }
    summary.mfu = peakFlops > 0.0 ? flops / peakFlops : 0.0;
}

std::vector<CriticalShare>
SumCriticalPaths(const RunResult& result)
{
    std::map<std::pair<std::string, std::string>, Time> sums;
    Time whole;
    for (const auto& training : result.trainings)
    {
        const auto& workload = *training.workload;
        for (const auto& run : training.runs)
        {
            whole += run.span.end - run.span.start;
            for (const auto& step : run.path)
            {
                const auto& task = workload.GetTasks()[step.task];
                sums[{workload.GetStreams()[task.stream].name,
                      GetLabelFamily(workload.GetLabel(task.label))}] += step.end - step.begin;
            }
        }
    }
    std::vector<CriticalShare> shares;
    for (const auto& [key, time] : sums)
    {
        if (time.IsStrictlyPositive())
        {
            shares.push_back({key.first, key.second, time.GetSeconds() / whole.GetSeconds()});
        }
    }
    std::ranges::stable_sort(shares, std::greater(), &CriticalShare::share);
    return shares;
}

std::string
DescribeShares(const std::vector<CriticalShare>& shares)
{
    constexpr size_t MOST = 6;
    std::vector<std::string> texts;
    double others = 0.0;
    for (size_t i = 0; i < shares.size(); ++i)
    {
        const auto& entry = shares[i];
        if (i < MOST)
        {
            texts.push_back(
                fmt::format("{} ({}) {:.1f} %", entry.label, entry.stream, 100.0 * entry.share));
        }
        others += i < MOST ? 0.0 : entry.share;
    }
    if (shares.size() > MOST)
    {
        texts.push_back(fmt::format("others {:.1f} %", 100.0 * others));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

} // namespace

std::string
GetLabelFamily(const std::string& label)
{
    std::string family;
    for (const char letter : label)
    {
        const bool isDigit = std::isdigit(static_cast<unsigned char>(letter)) != 0;
        if (!isDigit || !family.ends_with('*'))
        {
            family += isDigit ? '*' : letter;
        }
    }
    return family;
}

TrainingSummary
SummariseTraining(const RunResult& result)
{
    TrainingSummary summary;
    for (const auto& training : result.trainings)
    {
        summary.iterations += static_cast<uint32_t>(training.iterations.size());
    }
    const auto average = [&result](Time RankTime::*time) {
        return AverageIterations(result, [time](const auto& of) { return AverageRanks(of, time); });
    };
    summary.iterationPs = AverageIterations(result, [](const auto& of) {
        return (of.span.end - of.span.start).GetPicoSeconds();
    });
    summary.computationPs = average(&RankTime::computation);
    summary.hiddenPs = average(&RankTime::hidden);
    summary.exposedPs = average(&RankTime::exposed);
    // What is left: rounding goes to where it is seen least.
    summary.bubblePs = summary.iterationPs - summary.computationPs - summary.exposedPs;
    SummariseFigures(result, summary);
    summary.criticalPath = SumCriticalPaths(result);
    return summary;
}

std::vector<std::string>
DescribeTraining(const TrainingSummary& summary)
{
    if (summary.iterationPs == 0)
    {
        return {};
    }
    const auto percent = [&summary](int64_t picoseconds) {
        return 100.0 * static_cast<double>(picoseconds) / static_cast<double>(summary.iterationPs);
    };
    auto parts = fmt::format("computation {:.1f} %, exposed communication {:.1f} %, bubble "
                             "{:.1f} %; hidden communication {:.1f} %",
                             percent(summary.computationPs),
                             percent(summary.exposedPs),
                             percent(summary.bubblePs),
                             percent(summary.hiddenPs));
    if (summary.mfu > 0.0)
    {
        parts += fmt::format("; MFU {:.1f} %", 100.0 * summary.mfu);
    }
    if (summary.tokensPerSecond > 0.0)
    {
        parts += fmt::format("; {:.6g} tokens/s", summary.tokensPerSecond);
    }
    return {std::move(parts), "critical path: " + DescribeShares(summary.criticalPath)};
}

} // namespace ns3::gradsync
