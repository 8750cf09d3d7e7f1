// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/link-fault.h"

namespace ns3::gradsync
{

LinkFault::LinkFault(PacketLoss* base, int64_t stream, PacketPool& pool)
    : PacketLoss(pool),
      m_base(base),
      m_random(CreateObject<UniformRandomVariable>())
{
    m_random->SetStream(stream);
}

void
LinkFault::SetDown()
{
    m_down = true;
}

void
LinkFault::SetUp(TimeStepCount lastArrival)
{
    m_down = false;
    m_lostThrough = lastArrival;
    ++m_returns;
}

void
LinkFault::Expect(uint32_t returns, TimeStepCount arrival)
{
    if (m_expected.empty() || m_expected.back().returns != returns)
    {
        m_expected.push_back({arrival, returns});
    }
}

/// Before the wire worked again, as the process says from where it comes.
bool
LinkFault::StartedBefore(const FabricPacket& packet)
{
    while (m_expected.size() > 1 && m_expected[1].arrival <= packet.arrival)
    {
        m_expected.pop_front();
    }
    return !m_expected.empty() && m_expected.front().returns < m_returns;
}

void
LinkFault::SetLoss(const LossModel& loss)
{
    m_loss = loss;
    m_bad = false;
}

bool
LinkFault::IsLost(const FabricPacket& packet)
{
    if (packet.kind == PacketKind::Flood || StartedBefore(packet) || m_down ||
        packet.arrival <= m_lostThrough)
    {
        return true;
    }
    if (IsPfc(packet))
    {
        return false;
    }
    const bool isLostAnyway = m_base && m_base->IsLost(packet);
    return (m_loss.IsLossy() && DrawLoss()) || isLostAnyway;
}

bool
LinkFault::DrawLoss()
{
    if (m_loss.goodToBad > 0.0)
    {
        const auto change = m_bad ? m_loss.badToGood : m_loss.goodToBad;
        m_bad = m_bad != (m_random->GetValue() < change);
    }
    return m_random->GetValue() < (m_bad ? m_loss.lossBad : m_loss.lossGood);
}

} // namespace ns3::gradsync
