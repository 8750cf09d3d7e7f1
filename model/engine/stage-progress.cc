// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/stage-progress.h"

#include <algorithm>

namespace ns3::gradsync
{

StageProgress::StageProgress(const AsynchronousJob& job)
    : m_job(job),
      m_workers(job.workers)
{
}

bool
StageProgress::IsFinished() const
{
    return m_number == m_job.stages.size();
}

uint32_t
StageProgress::GetNumber() const
{
    return m_number;
}

const AsynchronousStage&
StageProgress::GetStage() const
{
    return m_job.stages[m_number];
}

uint32_t
StageProgress::GetStepsBefore() const
{
    return m_stepsBefore;
}

const std::vector<uint32_t>&
StageProgress::GetActive() const
{
    return m_active;
}

uint32_t
StageProgress::GetStep(uint32_t worker) const
{
    return m_workers[worker].step;
}

bool
StageProgress::IsWorking(uint32_t worker) const
{
    return m_workers[worker].isWorking;
}

bool
StageProgress::IsLost(uint32_t worker) const
{
    return m_workers[worker].isLost;
}

void
StageProgress::Begin()
{
    m_active.clear();
    for (uint32_t worker = 0; worker < GetStage().workers; ++worker)
    {
        auto& of = m_workers[worker];
        if (!of.isLost)
        {
            of = {0, 0, true, false};
            m_active.push_back(worker);
        }
    }
}

uint32_t
StageProgress::CountStep(uint32_t worker)
{
    return ++m_workers[worker].step;
}

void
StageProgress::Complete(uint32_t worker)
{
    auto& of = m_workers[worker];
    of.completed = of.step;
    of.isWorking = of.step < GetStage().steps;
}

void
StageProgress::Lose(uint32_t worker)
{
    m_workers[worker].isLost = true;
    m_workers[worker].isWorking = false;
    std::erase(m_active, worker);
}

bool
StageProgress::IsDone() const
{
    return std::ranges::none_of(m_active,
                                [this](uint32_t worker) { return m_workers[worker].isWorking; });
}

uint32_t
StageProgress::CountCompleted() const
{
    auto completed = GetStage().steps - 1;
    for (const auto worker : m_active)
    {
        completed = std::min(completed, m_workers[worker].completed);
    }
    return completed;
}

void
StageProgress::End()
{
    m_stepsBefore += GetStage().steps;
    ++m_number;
}

} // namespace ns3::gradsync
