// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/recorder.h"

#include "ns3/callback.h"

namespace ns3::gradsync
{

Recorder::Recorder(const Ptr<ExchangeEngine>& engine, Detail detail)
    : m_engine(engine),
      m_detail(detail)
{
    m_engine->TraceConnectWithoutContext("Iteration", MakeCallback(&Recorder::OnIteration, this));
    m_engine->TraceConnectWithoutContext("Reaction", MakeCallback(&Recorder::OnReaction, this));
    if (m_detail != Detail::Iterations)
    {
        m_engine->TraceConnectWithoutContext("Compute", MakeCallback(&Recorder::OnCompute, this));
        m_engine->TraceConnectWithoutContext("Transfer", MakeCallback(&Recorder::OnTransfer, this));
    }
    if (m_detail == Detail::Work)
    {
        m_engine->TraceConnectWithoutContext("Work", MakeCallback(&Recorder::OnWork, this));
    }
}

Recorder::~Recorder()
{
    m_engine->TraceDisconnectWithoutContext("Iteration",
                                            MakeCallback(&Recorder::OnIteration, this));
    m_engine->TraceDisconnectWithoutContext("Reaction", MakeCallback(&Recorder::OnReaction, this));
    if (m_detail != Detail::Iterations)
    {
        m_engine->TraceDisconnectWithoutContext("Compute",
                                                MakeCallback(&Recorder::OnCompute, this));
        m_engine->TraceDisconnectWithoutContext("Transfer",
                                                MakeCallback(&Recorder::OnTransfer, this));
    }
    if (m_detail == Detail::Work)
    {
        m_engine->TraceDisconnectWithoutContext("Work", MakeCallback(&Recorder::OnWork, this));
    }
}

std::span<const IterationRecord>
Recorder::GetIterations() const
{
    return m_iterations;
}

std::span<const TransferRecord>
Recorder::GetTransfers() const
{
    return m_transfers;
}

std::span<const ReactionRecord>
Recorder::GetReactions() const
{
    return m_reactions;
}

std::span<const ComputeRecord>
Recorder::GetComputations() const
{
    return m_computations;
}

std::span<const WorkRecord>
Recorder::GetWork() const
{
    return m_work;
}

void
Recorder::OnWork(const WorkRecord& record)
{
    m_work.push_back(record);
}

void
Recorder::OnCompute(const ComputeRecord& record)
{
    m_computations.push_back(record);
}

void
Recorder::OnReaction(const ReactionRecord& record)
{
    m_reactions.push_back(record);
}

void
Recorder::OnIteration(const IterationRecord& record)
{
    m_iterations.push_back(record);
}

void
Recorder::OnTransfer(const TransferRecord& record)
{
    m_transfers.push_back(record);
}

} // namespace ns3::gradsync
