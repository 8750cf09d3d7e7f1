// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/dctcp-control.h"

#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(DctcpControl);

TypeId
DctcpControl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::DctcpControl")
            .SetParent<CongestionControl>()
            .SetGroupName("GradSync")
            .AddConstructor<DctcpControl>()
            .AddAttribute("AlphaGain",
                          "g of equation 1: weight of the newest window in alpha.",
                          DoubleValue(1.0 / 16),
                          MakeDoubleAccessor(&DctcpControl::m_alphaGain),
                          MakeDoubleChecker<double>(1e-9, 1.0))
            .AddAttribute("InitialWindowPackets",
                          "Window of a new flow; 0: what fills the line for a round trip through "
                          "an empty network, so that flows start at line rate as RDMA does.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&DctcpControl::m_initialWindowPackets),
                          MakeUintegerChecker<uint32_t>());
    return tid;
}

std::string
DctcpControl::GetSummary() const
{
    return "ECN marks, windows (SIGCOMM 2010)";
}

CongestionSignals
DctcpControl::GetSignals() const
{
    CongestionSignals signals;
    signals.ecn = true;
    signals.path = true;
    signals.ackEvery = 1;
    return signals;
}

void
DctcpControl::Open(CongestionFlow& flow)
{
    auto& state = MakeState(flow);
    state.window = m_initialWindowPackets != 0 ? m_initialWindowPackets : GetFullWindow(flow);
    state.alpha = 1.0; // RFC 8257, section 4.2: the first mark halves
    SetWindow(flow, state.window);
}

void
DctcpControl::Resume(CongestionFlow& flow, TimeStepCount /* now */)
{
    auto& state = GetState(flow);
    state.windowEnd = 0;
    state.ackedPackets = 0;
    state.markedPackets = 0;
}

void
DctcpControl::OnAcknowledgement(CongestionFlow& flow,
                                const CongestionFeedback& feedback,
                                TimeStepCount /* now */)
{
    auto& state = GetState(flow);
    state.ackedPackets += feedback.newPackets;
    state.markedPackets += feedback.markedPackets;
    if (feedback.markedPackets == 0)
    {
        // As TCP: a packet more each window.
        state.window += feedback.newPackets / state.window;
    }
    if (feedback.ackedPsn > state.windowEnd)
    {
        // Equation 1: alpha <- (1 - g) alpha + g F, F the marked share of the last window.
        const auto acked = std::max(state.ackedPackets, 1U);
        const auto share = std::min(1.0, static_cast<double>(state.markedPackets) / acked);
        state.alpha += m_alphaGain * (share - state.alpha);
        if (state.markedPackets > 0)
        {
            state.window *= 1.0 - state.alpha / 2.0; // equation 2
        }
        state.windowEnd = feedback.nextPsn;
        state.ackedPackets = 0;
        state.markedPackets = 0;
    }
    state.window = std::clamp(state.window, 1.0, static_cast<double>(flow.windowLimit));
    SetWindow(flow, state.window);
}

void
DctcpControl::OnLoss(CongestionFlow& flow, bool isTimeout, TimeStepCount /* now */)
{
    auto& state = GetState(flow);
    state.window = isTimeout ? 1.0 : std::max(state.window / 2.0, 1.0);
    SetWindow(flow, state.window);
}

void
DctcpControl::AddState(const CongestionFlow& flow, uint32_t ackedPsn, StateWords& words) const
{
    const auto& state = GetState(flow);
    words.Add(state.window);
    words.Add(state.alpha);
    words.Add(state.windowEnd - ackedPsn);
    words.Add(state.ackedPackets);
    words.Add(state.markedPackets);
}

} // namespace ns3::gradsync
