// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/swift-control.h"

#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(SwiftControl);

TypeId
SwiftControl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::SwiftControl")
            .SetParent<CongestionControl>()
            .SetGroupName("GradSync")
            .AddConstructor<SwiftControl>()
            .AddAttribute("BaseTarget",
                          "Target round-trip time before the scalings (section 3.5); must exceed "
                          "the round trip through the empty network.",
                          TimeValue(MicroSeconds(25)),
                          MakeTimeAccessor(&SwiftControl::m_baseTarget),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("HopTarget",
                          "h: more target for each link of the path (topology-based scaling).",
                          TimeValue(MicroSeconds(1)),
                          MakeTimeAccessor(&SwiftControl::m_hopTarget),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("FlowScalingRange",
                          "fs_range: most that flow-based scaling adds to the target; 0: none.",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&SwiftControl::m_flowScalingRange),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("FlowScalingMinWindow",
                          "fs_min_cwnd, packets: the whole range is added at this window.",
                          DoubleValue(0.1),
                          MakeDoubleAccessor(&SwiftControl::m_flowScalingMinWindow),
                          MakeDoubleChecker<double>(1e-6))
            .AddAttribute("FlowScalingMaxWindow",
                          "fs_max_cwnd, packets: nothing is added from this window on.",
                          DoubleValue(100.0),
                          MakeDoubleAccessor(&SwiftControl::m_flowScalingMaxWindow),
                          MakeDoubleChecker<double>(1e-6))
            .AddAttribute("AdditiveIncrease",
                          "ai: packets a round trip below the target.",
                          DoubleValue(1.0),
                          MakeDoubleAccessor(&SwiftControl::m_additiveIncrease),
                          MakeDoubleChecker<double>(0.0))
            .AddAttribute("Decrease",
                          "beta: multiplicative decrease.",
                          DoubleValue(0.8),
                          MakeDoubleAccessor(&SwiftControl::m_decrease),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("MaxDecrease",
                          "max_mdf: no single decrease takes more of the window.",
                          DoubleValue(0.5),
                          MakeDoubleAccessor(&SwiftControl::m_maxDecrease),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("MinWindow",
                          "Packets; below 1 the flow is paced.",
                          DoubleValue(0.01),
                          MakeDoubleAccessor(&SwiftControl::m_minWindow),
                          MakeDoubleChecker<double>(1e-6))
            .AddAttribute("MaxWindow",
                          "Packets.",
                          DoubleValue(10000.0),
                          MakeDoubleAccessor(&SwiftControl::m_maxWindow),
                          MakeDoubleChecker<double>(1.0))
            .AddAttribute("ResetTimeouts",
                          "RETX_RESET_THRESHOLD: the window falls to its minimum after so many "
                          "timeouts in a row.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&SwiftControl::m_resetTimeouts),
                          MakeUintegerChecker<uint32_t>(1));
    return tid;
}

std::string
SwiftControl::GetSummary() const
{
    return "target delay, windows (SIGCOMM 2020)";
}

CongestionSignals
SwiftControl::GetSignals() const
{
    CongestionSignals signals;
    signals.delay = true;
    signals.path = true;
    signals.ackEvery = 1;
    return signals;
}

std::string
SwiftControl::FindConcern(const CongestionPath& path) const
{
    const auto target = m_baseTarget + path.hops * m_hopTarget;
    if (path.baseRtt < target)
    {
        return {};
    }
    return fmt::format(
        "swift's target of {:g} us over {} links is no more than the round trip of {:g} us "
        "through the empty network: windows shrink though nothing waits (baseTarget)",
        target.ToDouble(Time::US),
        path.hops,
        path.baseRtt.ToDouble(Time::US));
}

void
SwiftControl::Open(CongestionFlow& flow)
{
    auto& state = MakeState(flow);
    state.window = GetFullWindow(flow);
    state.roundTrip = flow.baseRtt;
    Apply(flow, state);
}

double
SwiftControl::GetTarget(const CongestionFlow& flow, double windowPackets) const
{
    // Section 3.5: base + hops h + max(0, min(a / sqrt(cwnd) + b, fs_range)).
    const auto range = static_cast<double>(m_flowScalingRange.GetTimeStep());
    const auto atMax = 1.0 / std::sqrt(m_flowScalingMaxWindow);
    const auto slope = range / (1.0 / std::sqrt(m_flowScalingMinWindow) - atMax);
    const auto scaling = std::clamp(slope * (1.0 / std::sqrt(windowPackets) - atMax), 0.0, range);
    return static_cast<double>(m_baseTarget.GetTimeStep()) +
           flow.hops * static_cast<double>(m_hopTarget.GetTimeStep()) + scaling;
}

void
SwiftControl::OnAcknowledgement(CongestionFlow& flow,
                                const CongestionFeedback& feedback,
                                TimeStepCount now)
{
    // Algorithm 1, on receiving an acknowledgement.
    auto& state = GetState(flow);
    state.roundTrip = feedback.roundTrip;
    state.timeouts = 0;
    const auto delay = static_cast<double>(feedback.roundTrip);
    const auto target = GetTarget(flow, state.window);
    if (delay < target)
    {
        const auto gain = m_additiveIncrease * feedback.newPackets;
        state.window += state.window >= 1.0 ? gain / state.window : gain;
    }
    else
    {
        Decrease(state, m_decrease * (delay - target) / delay, now);
    }
    Apply(flow, state);
}

void
SwiftControl::OnLoss(CongestionFlow& flow, bool isTimeout, TimeStepCount now)
{
    auto& state = GetState(flow);
    if (isTimeout && ++state.timeouts >= m_resetTimeouts)
    {
        state.window = m_minWindow;
    }
    else
    {
        Decrease(state, m_maxDecrease, now);
    }
    Apply(flow, state);
}

void
SwiftControl::Decrease(SwiftState& state, double share, TimeStepCount now) const
{
    if (now - state.lastDecrease >= state.roundTrip) // at most once a round trip
    {
        state.window *= 1.0 - std::min(share, m_maxDecrease);
        state.lastDecrease = now;
    }
}

void
SwiftControl::Apply(CongestionFlow& flow, SwiftState& state) const
{
    state.window = std::clamp(state.window, m_minWindow, m_maxWindow);
    SetWindow(flow, state.window);
    // Below one packet: one packet every rtt / cwnd.
    const auto gap = static_cast<double>(state.roundTrip) / state.window;
    flow.stepsPerByte = state.window < 1.0 ? gap / flow.packetWireBytes : 0.0;
}

} // namespace ns3::gradsync
