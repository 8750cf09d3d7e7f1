// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/exchange-paths.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// The records of an iteration, of all that one table has.
template <typename Record>
class ByIteration
{
  public:
    explicit ByIteration(const std::vector<Record>& records)
    {
        m_order.reserve(records.size());
        for (const auto& record : records)
        {
            m_order.push_back(&record);
        }
        std::ranges::stable_sort(m_order, {}, &ByIteration::GetKey);
    }

    /// Calls back with each that lies within the iteration, in the order of the table.
    template <typename F>
    void ForEach(const IterationRecord& iteration, F action) const
    {
        const std::pair key{iteration.job, iteration.iteration};
        auto found = std::ranges::lower_bound(m_order, key, {}, &ByIteration::GetKey);
        for (; found != m_order.end() && GetKey(*found) == key; ++found)
        {
            if (iteration.start <= (*found)->start && (*found)->end <= iteration.end)
            {
                action(**found);
            }
        }
    }

  private:
    static std::pair<uint32_t, uint32_t> GetKey(const Record* record)
    {
        return {record->job, record->iteration};
    }

    std::vector<const Record*> m_order;
};

} // namespace

std::vector<ExchangePath>
FindExchangePaths(const RunResult& result)
{
    const ByIteration transfers(result.transfers);
    const ByIteration work(result.work);
    const ByIteration computations(result.computations);
    std::vector<ExchangePath> paths;
    for (const auto& iteration : result.iterations)
    {
        const auto& job = result.jobs[iteration.job];
        if (!job.plan)
        {
            continue;
        }
        // What is left of a plan goes on under the numbers of the whole.
        const auto index = job.plans[iteration.plan].whole.value_or(iteration.plan);
        const auto& executed = job.plans[index];
        ExchangeTimes times(*executed.plan, {iteration.start, iteration.end});
        const auto keep = [index](auto& spans) {
            return [&spans, index](const auto& record) {
                if (record.plan == index)
                {
                    spans[record.operation] = {record.start, record.end};
                }
            };
        };
        transfers.ForEach(iteration, keep(times.transfers));
        work.ForEach(iteration, keep(times.work));
        computations.ForEach(iteration, [&](const ComputeRecord& record) {
            const auto found = std::ranges::lower_bound(executed.ranks, record.rank);
            if (found != executed.ranks.end() && *found == record.rank)
            {
                times.computations[found - executed.ranks.begin()] = {record.start, record.end};
            }
        });
        paths.push_back(
            {iteration.job, iteration.iteration, index, FindExchangePath(*executed.plan, times)});
    }
    return paths;
}

} // namespace ns3::gradsync
