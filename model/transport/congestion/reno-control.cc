// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/reno-control.h"

#include "ns3/double.h"

#include <algorithm>

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(RenoControl);

TypeId
RenoControl::GetTypeId()
{
    static TypeId tid = TypeId("ns3::gradsync::RenoControl")
                            .SetParent<CongestionControl>()
                            .SetGroupName("GradSync")
                            .AddConstructor<RenoControl>()
                            .AddAttribute("Decrease",
                                          "Share of the window that a mark or a loss takes.",
                                          DoubleValue(0.5),
                                          MakeDoubleAccessor(&RenoControl::m_decrease),
                                          MakeDoubleChecker<double>(0.0, 1.0));
    return tid;
}

std::string
RenoControl::GetSummary() const
{
    return "ECN marks, windows that halve (RFC 3168)";
}

CongestionSignals
RenoControl::GetSignals() const
{
    CongestionSignals signals;
    signals.ecn = true;
    signals.path = true;
    signals.ackEvery = 1;
    return signals;
}

void
RenoControl::Open(CongestionFlow& flow)
{
    auto& state = MakeState(flow);
    state.window = GetFullWindow(flow);
    SetWindow(flow, state.window);
}

void
RenoControl::OnAcknowledgement(CongestionFlow& flow,
                               const CongestionFeedback& feedback,
                               TimeStepCount /* now */)
{
    auto& state = GetState(flow);
    if (feedback.markedPackets == 0)
    {
        state.window += feedback.newPackets / state.window;
    }
    else if (feedback.ackedPsn >= state.windowEnd)
    {
        state.window *= 1.0 - m_decrease;
        state.windowEnd = feedback.nextPsn;
    }
    state.window = std::clamp(state.window, 1.0, static_cast<double>(flow.windowLimit));
    SetWindow(flow, state.window);
}

void
RenoControl::OnLoss(CongestionFlow& flow, bool isTimeout, TimeStepCount /* now */)
{
    auto& state = GetState(flow);
    state.window = isTimeout ? 1.0 : std::max(state.window * (1.0 - m_decrease), 1.0);
    SetWindow(flow, state.window);
}

} // namespace ns3::gradsync
