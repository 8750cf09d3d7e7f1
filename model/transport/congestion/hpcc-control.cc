// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/hpcc-control.h"

#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(HpccControl);

TypeId
HpccControl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::HpccControl")
            .SetParent<CongestionControl>()
            .SetGroupName("GradSync")
            .AddConstructor<HpccControl>()
            .AddAttribute("TargetUtilisation",
                          "eta: share of every link's rate that flows aim at.",
                          DoubleValue(0.95),
                          MakeDoubleAccessor(&HpccControl::m_targetUtilisation),
                          MakeDoubleChecker<double>(1e-3, 1.0))
            .AddAttribute("MaxStage",
                          "maxStage: additive steps before a multiplicative one.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&HpccControl::m_maxStage),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("ExpectedFlows",
                          "N of W_AI = W_init (1 - eta) / N: most flows that share a link "
                          "(section 3.3). More: shorter queues, slower convergence.",
                          UintegerValue(100),
                          MakeUintegerAccessor(&HpccControl::m_expectedFlows),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("BaseRtt",
                          "T: round-trip time of the network without queues, the same for all "
                          "flows; 0: of each flow's own path.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&HpccControl::m_baseRtt),
                          MakeTimeChecker(Time(0)));
    return tid;
}

std::string
HpccControl::GetSummary() const
{
    return "in-band telemetry, windows (SIGCOMM 2019)";
}

CongestionSignals
HpccControl::GetSignals() const
{
    CongestionSignals signals;
    signals.telemetry = true;
    signals.path = true;
    signals.ackEvery = 1;
    return signals;
}

double
HpccControl::GetBaseRtt(const CongestionFlow& flow) const
{
    return static_cast<double>(m_baseRtt.IsZero() ? flow.baseRtt : m_baseRtt.GetTimeStep());
}

double
HpccControl::GetFullBytes(const CongestionFlow& flow) const
{
    return flow.lineRate / 8.0 * GetBaseRtt(flow) / GetStepsPerSecond();
}

void
HpccControl::Open(CongestionFlow& flow)
{
    auto& state = MakeState(flow);
    state.window = GetFullBytes(flow); // W_init = B_NIC T (section 3.2)
    state.referenceWindow = state.window;
    state.utilisation = 1.0;
    Apply(flow, state);
}

void
HpccControl::Resume(CongestionFlow& flow, TimeStepCount /* now */)
{
    // Its records of links stay: what has passed them meanwhile is not this flow's.
    GetState(flow).lastUpdatePsn = 0;
}

void
HpccControl::MeasureInflight(HpccState& state, const TelemetryRecord& seen, double baseRtt) const
{
    // Algorithm 1, MeasureInflight.
    double utilisation = 0.0;
    double interval = baseRtt;
    for (uint32_t i = 0; i < seen.hopCount; ++i)
    {
        const auto& hop = seen.hops[i];
        const auto& last = state.last.hops[i];
        const auto elapsed = static_cast<double>(hop.at - last.at);
        if (elapsed <= 0.0)
        {
            continue; // another packet's acknowledgement has told more
        }
        const auto stepRate = hop.bitRate / 8.0 / GetStepsPerSecond(); // bytes a step
        const auto sent = static_cast<double>(hop.sentWireBytes - last.sentWireBytes) / elapsed;
        const auto queue = static_cast<double>(std::min(hop.queueBytes, last.queueBytes));
        const auto share = queue / (stepRate * baseRtt) + sent / stepRate;
        if (share > utilisation)
        {
            utilisation = share;
            interval = elapsed;
        }
    }
    const auto weight = std::min(interval, baseRtt) / baseRtt;
    state.utilisation = (1.0 - weight) * state.utilisation + weight * utilisation;
}

double
HpccControl::ComputeWindow(const CongestionFlow& flow, HpccState& state, bool updates) const
{
    // Algorithm 1, ComputeWind.
    const auto step = GetFullBytes(flow) * (1.0 - m_targetUtilisation) / m_expectedFlows; // W_AI
    const bool scales = state.utilisation >= m_targetUtilisation || state.stage >= m_maxStage;
    auto window = state.referenceWindow + step;
    if (scales)
    {
        window = state.referenceWindow / (state.utilisation / m_targetUtilisation) + step;
    }
    window = std::min(window, GetFullBytes(flow));
    if (updates)
    {
        state.stage = scales ? 0 : state.stage + 1;
        state.referenceWindow = window;
    }
    return window;
}

void
HpccControl::OnAcknowledgement(CongestionFlow& flow,
                               const CongestionFeedback& feedback,
                               TimeStepCount /* now */)
{
    if (!feedback.telemetry)
    {
        return;
    }
    // Algorithm 1, NewAck.
    auto& state = GetState(flow);
    const auto& seen = *feedback.telemetry;
    // After a change of the path the records of the old one say nothing (section 4.1).
    if (state.last.hopCount == seen.hopCount && state.last.path == seen.path)
    {
        MeasureInflight(state, seen, GetBaseRtt(flow));
        const bool updates = feedback.ackedPsn > state.lastUpdatePsn;
        state.window = ComputeWindow(flow, state, updates);
        state.lastUpdatePsn = updates ? feedback.nextPsn : state.lastUpdatePsn;
        Apply(flow, state);
    }
    state.last = seen;
}

void
HpccControl::Apply(CongestionFlow& flow, HpccState& state) const
{
    // R = W / T; the window itself is rounded up to packets, the pace is exact.
    SetWindow(flow, std::ceil(state.window / flow.packetWireBytes));
    SetRate(flow, state.window * 8.0 / GetBaseRtt(flow) * GetStepsPerSecond());
}

} // namespace ns3::gradsync
