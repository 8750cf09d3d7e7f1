// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/recorded-channel.h"

#include "ns3/simulator.h"
#include "ns3/time-range.h"

#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

/// What an execution has of its channel.
class RecordedChannel::Carrier final : public TransferCarrier
{
  public:
    Carrier(RecordedChannel& channel, uint32_t place)
        : m_channel(channel),
          m_place(place)
    {
    }

    void Begin(bool isTogether) override
    {
        m_channel.Begin(m_place, isTogether);
    }

    bool Take(const Message& message) override
    {
        return m_channel.Take(m_place, message);
    }

    void OnDelivered(OperationId id) override
    {
        m_channel.OnDelivered(m_place, id);
    }

  private:
    RecordedChannel& m_channel;
    uint32_t m_place;
};

RecordedChannel::RecordedChannel(std::unique_ptr<NetworkPart> part,
                                 std::vector<ChannelChain> chains,
                                 RecordCounts& counts)
    : m_part(std::move(part)),
      m_chains(std::move(chains)),
      m_counts(counts)
{
    for (uint32_t chain = 0; chain < m_chains.size(); ++chain)
    {
        m_chainAt.push_back(chain);
        m_chainAt.resize(m_chainAt.size() + m_chains[chain].count - 1, UINT32_MAX);
    }
}

std::unique_ptr<TransferCarrier>
RecordedChannel::MakeCarrier(uint32_t place)
{
    return std::make_unique<Carrier>(*this, place);
}

int64_t
RecordedChannel::GetElapsed() const
{
    return Simulator::Now().GetTimeStep() - m_since;
}

void
RecordedChannel::Begin(uint32_t place, bool isTogether)
{
    if (m_chainAt[place] == UINT32_MAX && IsInHand(place))
    {
        return;
    }
    LeaveChain();
    if (m_chainAt[place] == UINT32_MAX)
    {
        return; // what comes before it has not sent anything yet
    }
    const auto& chain = m_chains[m_chainAt[place]];
    m_first = place;
    m_end = place + chain.count;
    m_since = Simulator::Now().GetTimeStep();
    if (!chain.kind)
    {
        return;
    }
    if (!isTogether || !m_part->IsAtRest())
    {
        ++(isTogether ? m_counts.busy : m_counts.apart);
        return;
    }
    auto& kind = *chain.kind;
    if (kind.record || (kind.recorder && kind.recorder->FinishRecord()))
    {
        if (MayReplay(chain))
        {
            Replay(chain);
        }
        else
        {
            ++m_counts.brief;
        }
    }
    else if (!kind.recorder)
    {
        BeginRecord(kind);
    }
}

bool
RecordedChannel::IsInHand(uint32_t place) const
{
    return place >= m_first && place < m_end;
}

/// Whether the network would be at rest before anything else begins.
bool
RecordedChannel::MayReplay(const ChannelChain& chain) const
{
    const auto& record = *chain.kind->record;
    return AddTimeSteps(record.leastEnd, chain.idle) > record.rest &&
           AddTimeSteps(m_since, record.rest) < LAST_TIME_STEP / 2;
}

void
RecordedChannel::BeginRecord(ChainKind& kind)
{
    m_mode = Mode::Records;
    m_kind = &kind;
    m_ended = 0;
    kind.recorder = this;
    m_record = {};
    for (const auto& plan : kind.plans)
    {
        const std::vector<int64_t> none(plan->GetOperations().size(), -1);
        m_record.executions.push_back({none, none});
    }
    m_part->BeginMeasuring();
}

void
RecordedChannel::Replay(const ChannelChain& chain)
{
    m_mode = Mode::Replays;
    m_kind = chain.kind;
    m_counts.taken += chain.count;
    // At once: nobody looks before the network would be at rest again.
    m_part->Add(m_kind->record->traffic);
}

bool
RecordedChannel::Take(uint32_t place, const Message& message)
{
    const auto id = static_cast<OperationId>(message.tag);
    switch (m_mode)
    {
    case Mode::Simulates:
        break;
    case Mode::Records:
        GetTimes(place).left[id] = GetElapsed();
        break;
    case Mode::Replays: {
        const auto& times = m_kind->record->executions.at(place - m_first);
        if (times.left[id] != GetElapsed())
        {
            throw std::logic_error("a collective is not the same as the one that was recorded");
        }
        m_part->DeliverLater(message, times.arrived[id] - times.left[id]);
        return true;
    }
    }
    return false;
}

void
RecordedChannel::OnDelivered(uint32_t place, OperationId id)
{
    if (m_mode == Mode::Records)
    {
        GetTimes(place).arrived[id] = GetElapsed();
    }
}

void
RecordedChannel::OnRankEnded(uint32_t place)
{
    if (m_mode == Mode::Records && m_record.leastEnd < 0 && place + 1 == m_end)
    {
        m_record.leastEnd = GetElapsed();
    }
}

void
RecordedChannel::OnEnded(uint32_t place)
{
    m_ended += IsInHand(place) ? 1 : 0;
}

bool
RecordedChannel::FinishRecord()
{
    if (m_mode != Mode::Records || m_ended < m_record.executions.size() || !m_part->IsAtRest())
    {
        return false;
    }
    m_record.rest = m_part->GetRestTime() - m_since;
    m_record.traffic = m_part->Measure();
    m_kind->record = std::exchange(m_record, {});
    m_kind->recorder = nullptr;
    m_mode = Mode::Simulates;
    ++m_counts.recorded;
    return true;
}

/// It is over; its record is not made where the network is not at rest.
void
RecordedChannel::LeaveChain()
{
    if (m_mode == Mode::Records && !FinishRecord())
    {
        m_kind->recorder = nullptr;
    }
    if (m_mode == Mode::Replays && GetElapsed() <= m_kind->record->rest)
    {
        throw std::logic_error("a collective began before one that was recorded was over");
    }
    m_mode = Mode::Simulates;
    m_kind = nullptr;
    m_first = 0;
    m_end = 0;
}

void
RecordedChannel::EndRun()
{
    LeaveChain();
}

} // namespace ns3::gradsync
