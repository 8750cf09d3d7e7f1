// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/tcp-link-fault.h"

#include "ns3/packet.h"
#include "ns3/tcp-flood.h"

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(TcpLinkFault);

TypeId
TcpLinkFault::GetTypeId()
{
    static TypeId tid = TypeId("ns3::gradsync::TcpLinkFault")
                            .SetParent<ErrorModel>()
                            .SetGroupName("GradSync")
                            .AddConstructor<TcpLinkFault>();
    return tid;
}

TcpLinkFault::TcpLinkFault()
    : m_random(CreateObject<UniformRandomVariable>())
{
}

void
TcpLinkFault::Install(const Ptr<ErrorModel>& base, int64_t stream)
{
    m_base = base;
    m_random->SetStream(stream);
}

void
TcpLinkFault::SetState(const LinkState& state)
{
    m_bad = m_bad && state.loss == m_state.loss;
    m_state = state;
    m_hasFlood = m_hasFlood || state.floodBitRate > 0;
}

void
TcpLinkFault::SetMuted(bool muted)
{
    m_mutes += muted ? 1 : -1;
}

// ns-3's interface fixes the type of this parameter.
bool
TcpLinkFault::DoCorrupt(Ptr<Packet> packet) // NOLINT(performance-unnecessary-value-param)
{
    if (!m_state.up || m_mutes > 0 || (m_hasFlood && TcpFloodTag::IsOn(packet)))
    {
        return true;
    }
    const bool isLostAnyway = m_base && m_base->IsCorrupt(packet);
    const auto& loss = m_state.loss;
    if (!loss.IsLossy())
    {
        return isLostAnyway;
    }
    if (loss.goodToBad > 0.0)
    {
        const auto change = m_bad ? loss.badToGood : loss.goodToBad;
        m_bad = m_bad != (m_random->GetValue() < change);
    }
    return m_random->GetValue() < (m_bad ? loss.lossBad : loss.lossGood) || isLostAnyway;
}

void
TcpLinkFault::DoReset()
{
    m_bad = false;
}

} // namespace ns3::gradsync
