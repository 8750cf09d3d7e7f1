// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/part-iterations.h"

#include <algorithm>
#include <tuple>

namespace ns3::gradsync
{

namespace
{

PackedIteration
PackIteration(const IterationRecord& record, uint64_t order)
{
    return {.order = order,
            .job = record.job,
            .iteration = record.iteration,
            .start = record.start.GetTimeStep(),
            .exchangeStart = record.exchangeStart.GetTimeStep(),
            .end = record.end.GetTimeStep(),
            .compress = record.compress.GetTimeStep(),
            .decompress = record.decompress.GetTimeStep(),
            .training = record.training.GetTimeStep()};
}

void
CompleteIteration(PackedIteration& record, const PackedIteration& own)
{
    // Of a process without a worker it is before the iteration: there is none.
    if (own.exchangeStart >= record.start &&
        (record.exchangeStart < record.start || own.exchangeStart < record.exchangeStart))
    {
        record.exchangeStart = own.exchangeStart;
    }
    record.training = std::max(record.training, own.training);
}

} // namespace

void
AppendIterations(ByteBatch& batch,
                 std::span<const IterationRecord> iterations,
                 std::span<const std::vector<uint64_t>> orders)
{
    std::vector<PackedIteration> packed;
    packed.reserve(iterations.size());
    std::vector<size_t> counts(orders.size()); // [job]
    for (const auto& iteration : iterations)
    {
        const auto job = iteration.job;
        packed.push_back(PackIteration(iteration, orders[job][counts[job]++]));
    }
    AppendList(batch, std::span<const PackedIteration>(packed));
}

void
MergedIterations::Take(BatchReader& batch)
{
    for (const auto& own : batch.TakeList<PackedIteration>())
    {
        const auto [place, isNew] = m_byJob.emplace(std::pair(own.job, own.iteration), own);
        if (!isNew)
        {
            CompleteIteration(place->second, own);
        }
    }
}

std::vector<uint64_t>
MergedIterations::PutInOrder(std::vector<IterationRecord>& records) const
{
    std::vector<PackedIteration> packed;
    for (const auto& [key, iteration] : m_byJob)
    {
        packed.push_back(iteration);
    }
    std::ranges::sort(packed, [](const auto& one, const auto& other) {
        return std::tie(one.end, one.order) < std::tie(other.end, other.order);
    });
    records.clear();
    std::vector<uint64_t> orders;
    orders.reserve(packed.size());
    for (const auto& own : packed)
    {
        orders.push_back(own.order);
        IterationRecord record{};
        record.job = own.job;
        record.iteration = own.iteration;
        record.start = TimeStep(own.start);
        record.exchangeStart = TimeStep(own.exchangeStart);
        record.end = TimeStep(own.end);
        record.compress = TimeStep(own.compress);
        record.decompress = TimeStep(own.decompress);
        record.training = TimeStep(own.training);
        records.push_back(record);
    }
    return orders;
}

void
TimeNetwork(uint32_t job,
            std::vector<WindowProtocol::UnderWay>& underWay,
            std::vector<IterationRecord>& iterations)
{
    std::ranges::sort(underWay, {}, &WindowProtocol::UnderWay::at);
    int64_t count = 0;
    auto record = iterations.begin();
    for (size_t i = 0; i + 1 < underWay.size(); ++i)
    {
        count += underWay[i].change;
        const Time since = TimeStep(underWay[i].at);
        const Time until = TimeStep(underWay[i + 1].at);
        if (count > 0)
        {
            record = std::find_if(record, iterations.end(), [job, until](const auto& one) {
                return one.job == job && until <= one.end;
            });
            if (record == iterations.end())
            {
                return;
            }
            record->network += until - since;
        }
    }
}

} // namespace ns3::gradsync
