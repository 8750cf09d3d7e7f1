// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/part-failures.h"

#include "ns3/failure-text.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

void
Append(ByteBatch& batch, const PartFailure& part)
{
    const auto& failure = part.failure;
    AppendPlain(batch, failure.job);
    AppendPlain(batch, failure.iteration);
    AppendPlain(batch, failure.plan);
    AppendPlain(batch, part.hasFailed);
    AppendList(batch, std::span<const char>(failure.cause));
    AppendList(batch, std::span<const char>(failure.reason));
    AppendList(batch, std::span<const OperationId>(failure.unfinished));
    AppendList(batch, std::span<const OperationId>(failure.inNetwork));
    AppendList(batch, std::span<const OperationId>(failure.arrived));
}

PartFailure
TakeFailure(BatchReader& batch)
{
    PartFailure part{};
    auto& failure = part.failure;
    failure.job = batch.Take<uint32_t>();
    failure.iteration = batch.Take<uint32_t>();
    failure.plan = batch.Take<uint32_t>();
    part.hasFailed = batch.Take<bool>();
    const auto cause = batch.TakeList<char>();
    failure.cause.assign(cause.begin(), cause.end());
    const auto reason = batch.TakeList<char>();
    failure.reason.assign(reason.begin(), reason.end());
    failure.unfinished = batch.TakeList<OperationId>();
    failure.inNetwork = batch.TakeList<OperationId>();
    failure.arrived = batch.TakeList<OperationId>();
    return part;
}

void
Unite(std::vector<OperationId>& ids, const std::vector<OperationId>& more)
{
    std::vector<OperationId> all;
    std::ranges::set_union(ids, more, std::back_inserter(all));
    ids = std::move(all);
}

} // namespace

void
AppendFailures(ByteBatch& batch, std::span<const PartFailure> failures)
{
    AppendPlain(batch, uint64_t{failures.size()});
    for (const auto& failure : failures)
    {
        Append(batch, failure);
    }
}

void
MergedFailures::Take(BatchReader& batch)
{
    for (auto left = batch.Take<uint64_t>(); left > 0; --left)
    {
        auto part = TakeFailure(batch);
        const auto [place, isNew] = m_byJob.emplace(part.failure.job, part);
        if (!isNew)
        {
            auto& whole = place->second.failure;
            Unite(whole.unfinished, part.failure.unfinished);
            Unite(whole.inNetwork, part.failure.inNetwork);
            Unite(whole.arrived, part.failure.arrived);
        }
    }
}

std::optional<ExchangeFailure>
MergedFailures::GetFirst(const RunResult& result) const
{
    const auto first =
        std::ranges::find_if(m_byJob, [](const auto& one) { return one.second.hasFailed; });
    const auto found = first == m_byJob.end() ? m_byJob.begin() : first;
    if (found == m_byJob.end())
    {
        return std::nullopt;
    }
    auto failure = found->second.failure;
    // What was sent, and has not arrived.
    std::vector<OperationId> left;
    std::ranges::set_intersection(failure.inNetwork, failure.unfinished, std::back_inserter(left));
    failure.inNetwork.clear();
    std::ranges::set_difference(left, failure.arrived, std::back_inserter(failure.inNetwork));
    const auto& job = result.jobs[failure.job];
    if (!job.plans.empty())
    {
        failure.reason = FormatFailure(
            *job.plans[failure.plan].plan,
            {job.name, failure.iteration, failure.cause, failure.unfinished, failure.inNetwork});
    }
    return failure;
}

} // namespace ns3::gradsync
