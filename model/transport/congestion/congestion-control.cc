// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/congestion-control.h"

#include "ns3/nstime.h"

#include <algorithm>

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(CongestionControl);

TypeId
CongestionControl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::CongestionControl").SetParent<Object>().SetGroupName("GradSync");
    return tid;
}

std::string
CongestionControl::GetSummary() const
{
    return {};
}

std::string
CongestionControl::FindConcern(const CongestionPath& /* path */) const
{
    return {};
}

void
CongestionControl::Install()
{
    m_stepsPerSecond = static_cast<double>(Seconds(1).GetTimeStep());
    DoInstall();
}

void
CongestionControl::DoInstall()
{
}

CongestionSignals
CongestionControl::GetSignals() const
{
    return {};
}

void
CongestionControl::Close(CongestionFlow& /* flow */)
{
}

void
CongestionControl::Resume(CongestionFlow& /* flow */, TimeStepCount /* now */)
{
}

void
CongestionControl::OnSent(CongestionFlow& /* flow */,
                          uint32_t /* wireBytes */,
                          TimeStepCount /* start */)
{
}

void
CongestionControl::OnNotification(CongestionFlow& /* flow */, TimeStepCount /* now */)
{
}

void
CongestionControl::OnAcknowledgement(CongestionFlow& /* flow */,
                                     const CongestionFeedback& /* feedback */,
                                     TimeStepCount /* now */)
{
}

void
CongestionControl::OnLoss(CongestionFlow& /* flow */, bool /* isTimeout */, TimeStepCount /* now */)
{
}

void
CongestionControl::AddState(const CongestionFlow& /* flow */,
                            uint32_t /* ackedPsn */,
                            StateWords& words) const
{
    words.Refuse("congestion control does not tell its state");
}

void
CongestionControl::SetRate(CongestionFlow& flow, double rate) const
{
    flow.stepsPerByte = rate < flow.lineRate ? 8.0 * m_stepsPerSecond / rate : 0.0;
}

double
CongestionControl::GetFullWindow(const CongestionFlow& flow) const
{
    const auto seconds = static_cast<double>(flow.baseRtt) / m_stepsPerSecond;
    return std::max(flow.lineRate * seconds / (8.0 * flow.packetWireBytes), 1.0);
}

void
CongestionControl::SetWindow(CongestionFlow& flow, double packets)
{
    const auto limit = static_cast<double>(flow.windowLimit);
    flow.windowPackets = static_cast<uint32_t>(std::clamp(packets, 1.0, limit));
}

} // namespace ns3::gradsync
