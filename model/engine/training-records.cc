// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/training-records.h"

#include "ns3/codec-times.h"
#include "ns3/iteration-breakdown.h"
#include "ns3/task-log.h"

#include <algorithm>
#include <map>

namespace ns3::gradsync
{

namespace
{

/// What ranks compress and decompress, in each iteration.
void
SetCodecTimes(const Workload& workload, std::vector<IterationRecord>& records)
{
    std::map<const Plan*, CodecTimes> ofPlans;
    std::vector<CodecTimes> sums(records.size(), CodecTimes(workload.GetRankCount()));
    for (const auto& task : workload.GetTasks())
    {
        if (!task.IsCompute() && workload.GetPlan(task.communication)->IsCompressed())
        {
            const auto* plan = workload.GetPlan(task.communication).get();
            const auto found = ofPlans.try_emplace(plan, *plan).first;
            sums[task.iteration].Add(task.rank, found->second, task.member);
        }
    }
    for (size_t i = 0; i < records.size(); ++i)
    {
        records[i].compress = sums[i].GetMostEncode();
        records[i].decompress = sums[i].GetMostDecode();
    }
}

} // namespace

std::vector<IterationRecord>
MakeIterationRecords(const TrainingRecord& record)
{
    const auto& log = *record.log;
    const auto& workload = *record.workload;
    std::vector<IterationRecord> records;
    for (const auto& span : SplitIterations(workload, log, {record.start, record.end}))
    {
        IterationRecord iteration{};
        iteration.job = record.job;
        iteration.iteration = record.iteration + static_cast<uint32_t>(records.size());
        iteration.start = span.start;
        iteration.end = span.end;
        iteration.exchangeStart = span.end;
        records.push_back(iteration);
    }
    for (TaskId id = 0; id < workload.GetTasks().size(); ++id)
    {
        const auto& task = workload.GetTasks()[id];
        auto& iteration = records[task.iteration];
        if (!task.IsCompute())
        {
            iteration.exchangeStart =
                std::max(iteration.start, std::min(iteration.exchangeStart, log.GetBegin(id)));
        }
    }
    SetCodecTimes(workload, records);
    return records;
}

} // namespace ns3::gradsync
