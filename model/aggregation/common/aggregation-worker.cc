// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/aggregation-worker.h"

#include "ns3/event-order.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace ns3::gradsync
{

AggregationWorker::AggregationWorker(const AggregationJob& job,
                                     uint16_t rank,
                                     uint32_t endpoint,
                                     FabricPort& port)
    : m_job(job),
      m_rank(rank),
      m_endpoint(endpoint),
      m_port(&port),
      m_packetCount(job.firstPacket)
{
}

AggregationWorker::~AggregationWorker()
{
    CancelTimer();
}

void
AggregationWorker::SetTimer(const Time& due)
{
    if (due < m_timerDue)
    {
        CancelTimer();
        m_timerDue = due;
        m_timer = ScheduleInOrder(EventOrder::OfTimeout(m_port->GetIndex()),
                                  due - Simulator::Now(),
                                  &AggregationWorker::OnDue,
                                  this);
    }
}

void
AggregationWorker::CancelTimer()
{
    if (m_timer)
    {
        m_timer->Cancel();
    }
    m_timerDue = Time::Max();
}

void
AggregationWorker::OnDue()
{
    m_timerDue = Time::Max();
    OnTimer();
}

/// Of a protocol that sets none.
void
AggregationWorker::OnTimer()
{
}

void
AggregationWorker::Contribute(const AggregationMessage& message)
{
    m_ahead.emplace(message.index, message);
    const auto first = m_packetCount;
    while (!m_ahead.empty() && m_ahead.begin()->first == m_nextIndex)
    {
        Append(m_ahead.begin()->second);
        m_ahead.erase(m_ahead.begin());
        ++m_nextIndex;
    }
    SendFrom(first);
}

void
AggregationWorker::Append(const AggregationMessage& message)
{
    const auto blocks = (CountPackets(message.bytes) + m_job.unit - 1) / m_job.unit * m_job.unit;
    const auto batch = std::min<uint64_t>(m_job.batch, blocks);
    const auto count = batch + blocks;
    m_messages.push_back({message, m_packetCount, count, count, batch});
    m_packetCount += count;
}

/// Of its message.
size_t
AggregationWorker::FindIndex(uint64_t packet) const
{
    const auto after = std::ranges::upper_bound(m_messages, packet, {}, &Message::firstPacket);
    return static_cast<size_t>(after - m_messages.begin()) - 1;
}

AggregationWorker::Message&
AggregationWorker::FindMessage(uint64_t packet)
{
    return m_messages[FindIndex(packet)];
}

uint64_t
AggregationWorker::GetPlace(uint64_t packet)
{
    return packet - FindMessage(packet).firstPacket;
}

uint64_t
AggregationWorker::GetAggregation(uint64_t packet)
{
    return FindMessage(packet).request.index;
}

uint64_t
AggregationWorker::GetFirstValue(uint64_t packet)
{
    const auto& message = FindMessage(packet);
    const auto place = packet - message.firstPacket;
    return (message.IsExponents(packet) ? place : place - message.batch) * m_job.valueCount;
}

int8_t
AggregationWorker::GetExponent(uint64_t packet)
{
    constexpr int8_t NONE = 0;
    return m_job.floats && FindMessage(packet).HasExponent(packet)
               ? m_job.floats->GetExponent(m_rank, packet)
               : NONE;
}

std::optional<uint64_t>
AggregationWorker::FindExponent(uint64_t packet)
{
    const auto& message = FindMessage(packet);
    return message.batch == 0 || message.IsExponents(packet)
               ? std::nullopt
               : std::optional(packet - message.batch);
}

std::optional<uint64_t>
AggregationWorker::FindFollower(uint64_t packet)
{
    const auto& message = FindMessage(packet);
    return message.HasExponent(packet) ? std::optional(packet + message.batch) : std::nullopt;
}

uint64_t
AggregationWorker::GetAggregationEnd(uint64_t packet)
{
    const auto& message = FindMessage(packet);
    return message.firstPacket + message.packetCount;
}

uint64_t
AggregationWorker::CountPackets(uint64_t bytes) const
{
    const uint64_t packetBytes = uint64_t{BYTES_PER_VALUE} * m_job.valueCount;
    const auto bytesPerHeader = m_job.headerEvery * packetBytes - m_job.headerBytes;
    const auto rest = bytes % bytesPerHeader;
    const auto last = rest == 0 ? 0 : (rest + m_job.headerBytes + packetBytes - 1) / packetBytes;
    // An empty contribution still costs one packet.
    return std::max<uint64_t>(bytes / bytesPerHeader * m_job.headerEvery + last, 1);
}

/// Data of an aggregation before a packet.
uint64_t
AggregationWorker::GetOffset(uint64_t place) const
{
    const auto headers = (place + m_job.headerEvery - 1) / m_job.headerEvery;
    return place * BYTES_PER_VALUE * m_job.valueCount - headers * m_job.headerBytes;
}

/// Of a message in one of its packets; the last may have fewer, and those behind it none.
uint32_t
AggregationWorker::GetBytes(const Message& message, uint64_t packet) const
{
    if (message.IsExponents(packet))
    {
        return 0;
    }
    const auto place = packet - message.firstPacket - message.batch;
    return static_cast<uint32_t>(std::min(message.request.bytes, GetOffset(place + 1)) -
                                 std::min(message.request.bytes, GetOffset(place)));
}

uint64_t
AggregationWorker::GetBytes(uint64_t first, uint64_t last)
{
    const auto& message = FindMessage(first);
    return std::min(message.request.bytes, GetOffset(last - message.firstPacket)) -
           GetOffset(first - message.firstPacket);
}

void
AggregationWorker::FillValues(uint64_t packet, std::vector<int32_t>& values) const
{
    values.clear();
    if (!m_job.tensor)
    {
        return;
    }
    const auto& message = m_messages[FindIndex(packet)];
    if (message.IsExponents(packet))
    {
        values.resize(m_job.valueCount);
        return;
    }
    m_job.tensor->Fill(m_job.isMulticast ? 0 : m_rank, packet - message.batch, values);
}

FabricPacket*
AggregationWorker::MakePacket(uint64_t packet)
{
    auto* made = MakeEmptyPacket();
    FillValues(packet, m_job.contents->Get(*made).values);
    made->payloadBytes = static_cast<uint16_t>(GetBytes(FindMessage(packet), packet));
    return made;
}

FabricPacket*
AggregationWorker::MakeEmptyPacket()
{
    auto* made = m_job.pool->Take();
    auto& content = m_job.contents->Attach(*made);
    content.driver = m_job.driver;
    content.values.clear();
    made->connection = UINT32_MAX;
    made->generation = 0;
    made->psn = 0;
    made->destination = UINT32_MAX;
    made->flowHash = m_job.number;
    made->payloadBytes = 0;
    made->wireBytes = static_cast<uint16_t>(m_job.wireBytes);
    made->kind = PacketKind::Data;
    return made;
}

void
AggregationWorker::Transmit(FabricPacket* packet)
{
    m_port->SendData(packet, Simulator::Now().GetTimeStep());
}

void
AggregationWorker::CountRetransmission(uint64_t packet)
{
    ++m_retransmissions;
    m_retransmittedBytes += GetBytes(FindMessage(packet), packet);
}

bool
AggregationWorker::IsWaiting()
{
    m_port->Sync(Simulator::Now().GetTimeStep());
    return m_port->GetQueueBytes() > 0;
}

/// Stops, and tells why. \returns false
bool
AggregationWorker::Refuse(uint64_t packet, const std::string& reason)
{
    const auto request = FindMessage(packet).request;
    Stop();
    request.handler->OnWrongSum(request.tag, reason);
    return false;
}

/// False when the exponent is not the largest of all, and somebody was told.
bool
AggregationWorker::CheckExponent(uint64_t packet,
                                 const AggregationResult& result,
                                 AggregationStatistics& statistics)
{
    if (!m_job.floats || !FindMessage(packet).HasExponent(packet) ||
        result.exponent == m_job.floats->GetLargestExponent(packet))
    {
        return true;
    }
    ++statistics.wrongSums;
    return Refuse(packet,
                  fmt::format("wrong exponent at worker {}: that of packet {} is {}, the largest "
                              "is {}",
                              m_rank,
                              packet,
                              result.exponent,
                              m_job.floats->GetLargestExponent(packet)));
}

SumVerdict
AggregationWorker::Judge(uint64_t block, const AggregationResult& result) const
{
    if (!result.isFloat)
    {
        return m_job.tensor->Check(block, result.values, result.hasOverflowed);
    }
    return m_job.floats->CheckFloats(block, result.values) ? SumVerdict::Exact : SumVerdict::Wrong;
}

/// False when the sums are not what they are to be, and somebody was told.
bool
AggregationWorker::CheckSums(uint64_t packet,
                             const AggregationResult& result,
                             AggregationStatistics& statistics)
{
    const auto& message = FindMessage(packet);
    if (message.IsExponents(packet))
    {
        return true;
    }
    ++statistics.checkedSums;
    const auto block = packet - message.batch;
    const auto verdict = Judge(block, result);
    statistics.overflowedSums += verdict == SumVerdict::Overflowed ? 1 : 0;
    statistics.wrongSums += verdict == SumVerdict::Wrong ? 1 : 0;
    if (verdict == SumVerdict::Wrong ||
        (verdict == SumVerdict::Overflowed && !m_job.expectsOverflow))
    {
        return Refuse(packet,
                      fmt::format("{} at worker {}: {}",
                                  verdict == SumVerdict::Wrong ? "wrong sum" : "sum beyond int32",
                                  m_rank,
                                  m_job.tensor->DescribeDifference(block, result.values)));
    }
    if (m_rank == m_job.measuringRank)
    {
        m_job.tensor->Measure(block, result.values, result.isFloat, statistics);
        statistics.sumPrint += AggregationTensor::GetFingerprint(block, result.values);
    }
    return true;
}

void
AggregationWorker::Finish(uint64_t packet,
                          const AggregationResult& result,
                          AggregationStatistics& statistics)
{
    ++statistics.results;
    if (m_job.tensor &&
        (!CheckExponent(packet, result, statistics) || !CheckSums(packet, result, statistics)))
    {
        return;
    }
    m_resultBytes += m_job.countsBytes ? GetBytes(FindMessage(packet), packet) : 0;
    Complete(packet);
}

void
AggregationWorker::Complete(uint64_t packet)
{
    auto& message = FindMessage(packet);
    if (--message.missing > 0)
    {
        return;
    }
    const auto request = message.request;
    ForgetFinished();
    request.handler->OnDelivered(request.tag); // last: it may contribute, and so change everything
}

/// But for those that this worker may have to contribute to once more.
void
AggregationWorker::ForgetFinished()
{
    const auto first = GetFirstNeeded();
    while (!m_messages.empty() && m_messages.front().missing == 0 &&
           m_messages.front().firstPacket + m_messages.front().packetCount <= first)
    {
        m_messages.pop_front();
    }
}

void
AggregationWorker::GiveUp(const std::string& reason)
{
    const auto open = std::ranges::find_if(m_messages, [](const Message& message) {
        return message.missing > 0;
    });
    const auto request =
        open == m_messages.end() ? std::nullopt : std::make_optional(open->request);
    Stop();
    if (request)
    {
        request->handler->OnFailed(request->tag, reason);
    }
}

void
AggregationWorker::Fail(uint64_t packet, const std::string& reason)
{
    const auto& message = FindMessage(packet);
    const auto request = message.request;
    const bool isDone = message.missing == 0; // sent once more, for the sake of others
    Stop();
    if (!isDone)
    {
        request.handler->OnFailed(request.tag, reason);
    }
}

void
AggregationWorker::Stop()
{
    Halt();
    m_messages.clear();
    m_ahead.clear();
}

Time
AggregationWorker::BackOff(const Time& timeout, uint32_t timeouts)
{
    constexpr uint32_t MAX_DOUBLINGS = 6;
    return timeout * (int64_t{1} << std::min(timeouts, MAX_DOUBLINGS));
}

bool
AggregationWorker::IsMeant(const Transport::MessageFilter& isMeant) const
{
    const bool isIdle = m_ahead.empty() && std::ranges::all_of(m_messages, [](const auto& message) {
                            return message.missing == 0;
                        });
    return !isIdle && std::ranges::all_of(m_messages, [&](const Message& message) {
        return message.missing == 0 || isMeant(m_endpoint, m_endpoint, message.request.handler);
    });
}

} // namespace ns3::gradsync
