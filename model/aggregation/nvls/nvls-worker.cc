// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/nvls-worker.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

NvlsWorker::NvlsWorker(const AggregationJob& job,
                       const Settings& settings,
                       uint16_t rank,
                       uint32_t endpoint,
                       FabricPort& port)
    : ResendingWorker(job, settings.timeout, rank, endpoint, port),
      m_settings(settings)
{
}

void
NvlsWorker::SendFrom(uint64_t /* first */)
{
    if (IsRoot())
    {
        Ask();
    }
    AnswerKept();
}

/// For as many packets as may be under way.
void
NvlsWorker::Ask()
{
    while (!IsHalted() && m_next < GetPacketCount() && GetUnderWay().size() < m_settings.window)
    {
        Launch(m_next++);
    }
}

/// A request.
void
NvlsWorker::Send(uint64_t number)
{
    Dispatch(IsReduce() ? MakeEmptyPacket() : MakePacket(number), number, NvlsStage::Request);
}

/// A packet is as long as what is in it, as those of NVLink are.
void
NvlsWorker::Dispatch(FabricPacket* packet, uint64_t number, NvlsStage stage)
{
    packet->wireBytes = static_cast<uint16_t>(m_settings.headerBytes + packet->payloadBytes);
    m_job.contents->Get(*packet).As<NvlsHeader>() = {.sequence = number,
                                                     .job = m_job.number,
                                                     .member = m_rank,
                                                     .stage = stage};
    Transmit(packet);
}

void
NvlsWorker::OnResult(const AggregationPacket& packet, AggregationStatistics& /* statistics */)
{
    if (IsHalted())
    {
        return;
    }
    if (packet.As<NvlsHeader>().stage == NvlsStage::Request)
    {
        OnRequest(packet);
    }
    else
    {
        OnAllAnswered(packet);
    }
}

void
NvlsWorker::OnRequest(const AggregationPacket& packet)
{
    const auto number = packet.As<NvlsHeader>().sequence;
    m_asked = std::max(m_asked, number + 1);
    if (number >= GetPacketCount())
    {
        m_kept.insert_or_assign(number, packet.values); // until it has come so far
        return;
    }
    Answer(number, packet.values);
}

void
NvlsWorker::AnswerKept()
{
    // Each answer may end its aggregation, and so bring about more of them.
    while (!m_kept.empty() && m_kept.begin()->first < GetPacketCount())
    {
        const auto kept = m_kept.extract(m_kept.begin());
        Answer(kept.key(), kept.mapped());
    }
}

void
NvlsWorker::Answer(uint64_t number, const std::vector<int32_t>& values)
{
    if (IsReduce())
    {
        AnswerRead(number);
    }
    else
    {
        AnswerWrite(number, values);
    }
}

/// Its part in an aggregation is over when the last answer is in its port; the root waits for sums.
void
NvlsWorker::AnswerRead(uint64_t number)
{
    if (!Knows(number))
    {
        return; // of a sum that the root has
    }
    Dispatch(MakePacket(number), number, NvlsStage::Answer);
    if (m_answered.Take(number) && !IsRoot())
    {
        Complete(number);
    }
}

void
NvlsWorker::AnswerWrite(uint64_t number, const std::vector<int32_t>& values)
{
    Dispatch(MakeEmptyPacket(), number, NvlsStage::Answer);
    if (!m_answered.Take(number))
    {
        return; // it came again
    }
    if (IsRoot())
    {
        m_own.emplace(number, values);
        return;
    }
    Finish(number, {.values = values}, *m_settings.statistics);
}

void
NvlsWorker::OnAllAnswered(const AggregationPacket& packet)
{
    const auto& header = packet.As<NvlsHeader>();
    if (!TakeAnswer(header.sequence))
    {
        return; // it came again
    }
    Ask();
    Settle();
    if (IsReduce())
    {
        Finish(header.sequence,
               {.values = packet.values, .hasOverflowed = header.hasOverflowed},
               *m_settings.statistics);
        return;
    }
    const auto own = m_own.extract(header.sequence);
    Finish(header.sequence, {.values = own.mapped()}, *m_settings.statistics);
}

std::string
NvlsWorker::DescribeSilence() const
{
    return "members or the switch do not answer NVLS";
}

void
NvlsWorker::Restart()
{
    if (IsHalted())
    {
        return;
    }
    m_kept.clear(); // asked by the job's old number
    for (const auto number : GetUnderWay())
    {
        Send(number);
    }
}

/// A root without the sum may ask again: it has at most a window under way.
uint64_t
NvlsWorker::GetFirstNeeded() const
{
    return IsReduce() ? m_asked - std::min<uint64_t>(m_asked, m_settings.window)
                      : ResendingWorker::GetFirstNeeded();
}

void
NvlsWorker::Halt()
{
    ResendingWorker::Halt();
    m_kept.clear();
}

} // namespace ns3::gradsync
