// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/engine-jobs.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

void
EngineJobs::Add(std::shared_ptr<EngineJob> job, std::function<uint64_t()> countBytes)
{
    m_jobs.push_back(std::move(job));
    m_byteCounts.push_back(std::move(countBytes));
}

void
EngineJobs::Clear()
{
    m_jobs.clear();
    m_byteCounts.clear();
}

bool
EngineJobs::AreFinished() const
{
    return std::ranges::all_of(m_jobs, [](const auto& job) { return job->IsFinished(); });
}

bool
EngineJobs::AreSettled() const
{
    return std::ranges::all_of(m_jobs, [](const auto& job) {
        return job->IsFinished() || job->HasFailed();
    });
}

bool
EngineJobs::HaveLateOperations() const
{
    return std::ranges::any_of(m_jobs, [](const auto& job) { return job->HasLateOperations(); });
}

void
EngineJobs::AddState(StateWords& words) const
{
    for (const auto& job : m_jobs)
    {
        job->AddState(words);
    }
}

std::optional<ExchangeFailure>
EngineJobs::GetFailure() const
{
    for (const bool failed : {true, false})
    {
        for (const auto& job : m_jobs)
        {
            if (!job->IsFinished() && job->HasFailed() == failed)
            {
                return job->DescribeFailure();
            }
        }
    }
    return std::nullopt;
}

uint64_t
EngineJobs::Sum(uint64_t (EngineJob::*count)() const) const
{
    uint64_t sum = 0;
    for (const auto& job : m_jobs)
    {
        sum += ((*job).*count)();
    }
    return sum;
}

uint64_t
EngineJobs::CountDoneOperations() const
{
    return Sum(&EngineJob::CountDoneOperations);
}

uint64_t
EngineJobs::CountRecordedCollectives() const
{
    return Sum(&EngineJob::CountRecordedCollectives);
}

uint64_t
EngineJobs::CountTransferBytes() const
{
    uint64_t bytes = 0;
    for (const auto& count : m_byteCounts)
    {
        bytes += count();
    }
    return bytes;
}

std::string
EngineJobs::FindTwinDifference() const
{
    for (const auto& job : m_jobs)
    {
        if (auto difference = job->FindTwinDifference(); !difference.empty())
        {
            return difference;
        }
    }
    return {};
}

void
EngineJobs::OnCrash(uint32_t endpoint) const
{
    for (const auto& job : m_jobs)
    {
        job->OnCrash(endpoint);
    }
}

void
EngineJobs::OnRestart(uint32_t endpoint) const
{
    for (const auto& job : m_jobs)
    {
        job->OnRestart(endpoint);
    }
}

void
EngineJobs::OnNotice(uint32_t endpoint) const
{
    for (const auto& job : m_jobs)
    {
        if (const auto rank = job->FindRank(endpoint))
        {
            job->OnNotice(*rank);
        }
    }
}

void
EngineJobs::OnRebuilt(uint32_t group) const
{
    for (const auto& job : m_jobs)
    {
        job->OnRebuilt(group);
    }
}

} // namespace ns3::gradsync
