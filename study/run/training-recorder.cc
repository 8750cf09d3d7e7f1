// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/training-recorder.h"

#include "ns3/callback.h"
#include "ns3/critical-path.h"
#include "ns3/iteration-breakdown.h"
#include "ns3/task-log.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Of data-parallel ranks, which all do as much.
TrainingFigures
KeepRanks(const TrainingFigures& all, const std::vector<uint32_t>& ranks)
{
    const auto count = static_cast<double>(all.inFlight.size());
    const auto share = count > 0.0 ? static_cast<double>(ranks.size()) / count : 0.0;
    TrainingFigures figures;
    figures.modelFlops = all.modelFlops * share;
    figures.peakFlopsPerSecond = all.peakFlopsPerSecond * share;
    figures.samples = static_cast<uint64_t>(std::llround(static_cast<double>(all.samples) * share));
    figures.tokens = static_cast<uint64_t>(std::llround(static_cast<double>(all.tokens) * share));
    for (const auto rank : ranks)
    {
        if (rank < all.memoryBytes.size())
        {
            figures.memoryBytes.push_back(all.memoryBytes[rank]);
        }
        if (rank < all.inFlight.size())
        {
            figures.inFlight.push_back(all.inFlight[rank]);
        }
    }
    return figures;
}

TrainingResult&
FindResult(const TrainingRecord& record, std::vector<TrainingResult>& trainings)
{
    const auto isOfJob = [&record](const auto& training) { return training.job == record.job; };
    const auto first = std::ranges::find_if(trainings, isOfJob);
    const auto end = std::find_if_not(first, trainings.end(), isOfJob);
    const auto found = std::find_if(first, end, [&record](const auto& training) {
        return training.workload == record.workload;
    });
    if (found != end)
    {
        return *found;
    }
    TrainingResult survivors;
    survivors.job = record.job;
    survivors.workload = record.workload;
    survivors.figures = KeepRanks(first->figures, record.ranks);
    survivors.ranks = record.ranks;
    return *trainings.insert(end, std::move(survivors));
}

} // namespace

void
AddTraining(const TrainingRecord& record, bool keepsTasks, std::vector<TrainingResult>& trainings)
{
    auto& training = FindResult(record, trainings);
    // What was done before is lost: nothing of it is known.
    const IterationSpan run{record.resumed, record.end};
    auto spans = SplitIterations(*record.workload, *record.log, run);
    auto ranks = BreakDownIterations(*record.workload, *record.log, spans);
    const auto lost = record.resumed - record.start;
    spans.front().start = record.start;
    for (uint32_t i = 0; i < spans.size(); ++i)
    {
        training.iterations.push_back(
            {record.iteration + i, spans[i], i == 0 ? lost : Time(), std::move(ranks[i])});
    }
    training.runs.push_back({record.iteration,
                             run,
                             FindCriticalPath(*record.workload, *record.log),
                             keepsTasks ? std::optional(*record.log) : std::nullopt});
    training.collectives.Add(*record.workload, *record.log);
}

TrainingRecorder::TrainingRecorder(const Ptr<ExchangeEngine>& engine,
                                   std::vector<TrainingResult>& trainings,
                                   bool keepsTasks)
    : m_engine(engine),
      m_trainings(trainings),
      m_keepsTasks(keepsTasks)
{
    m_engine->TraceConnectWithoutContext("Training",
                                         MakeCallback(&TrainingRecorder::OnTraining, this));
}

TrainingRecorder::~TrainingRecorder()
{
    m_engine->TraceDisconnectWithoutContext("Training",
                                            MakeCallback(&TrainingRecorder::OnTraining, this));
}

void
TrainingRecorder::OnTraining(const TrainingRecord& record)
{
    ++m_runCount;
    if (m_keepsRuns)
    {
        m_kept.push_back({record, *record.log});
        if (m_kept.size() > MAX_KEPT)
        {
            m_kept.pop_front();
        }
    }
    AddLater(record, *record.log);
}

void
TrainingRecorder::Repeat(size_t begin, uint32_t count, const Time& length, uint32_t iterations)
{
    const std::vector<KeptRun> period(m_kept.end() -
                                          static_cast<std::ptrdiff_t>(m_runCount - begin),
                                      m_kept.end());
    m_kept.clear();
    m_keepsRuns = false;
    for (uint32_t copy = 0; copy < count; ++copy)
    {
        m_later += length;
        m_laterIterations += iterations;
        for (const auto& [record, log] : period)
        {
            AddLater(record, log);
        }
    }
}

/// As much later as what is recorded now.
void
TrainingRecorder::AddLater(TrainingRecord record, const TaskLog& log)
{
    if (m_laterIterations == 0)
    {
        AddTraining(record, m_keepsTasks, m_trainings);
        return;
    }
    const auto later = log.GetLater(m_later);
    record.start += m_later;
    record.end += m_later;
    record.resumed += m_later;
    record.iteration += m_laterIterations;
    record.log = &later;
    AddTraining(record, m_keepsTasks, m_trainings);
}

} // namespace ns3::gradsync
