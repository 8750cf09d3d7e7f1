// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/timely-control.h"

#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(TimelyControl);

TypeId
TimelyControl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::TimelyControl")
            .SetParent<CongestionControl>()
            .SetGroupName("GradSync")
            .AddConstructor<TimelyControl>()
            .AddAttribute("EwmaWeight",
                          "alpha: weight of the newest difference of round-trip times. Default "
                          "here and below: table 1 of \"ECN or delay\", CoNEXT 2016.",
                          DoubleValue(0.875),
                          MakeDoubleAccessor(&TimelyControl::m_ewmaWeight),
                          MakeDoubleChecker<double>(1e-9, 1.0))
            .AddAttribute("Decrease",
                          "beta: multiplicative decrease.",
                          DoubleValue(0.8),
                          MakeDoubleAccessor(&TimelyControl::m_decrease),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("AdditiveStep",
                          "delta: additive increase, at each acknowledgement.",
                          DataRateValue(DataRate("10Mbps")),
                          MakeDataRateAccessor(&TimelyControl::m_additiveStep),
                          MakeDataRateChecker())
            .AddAttribute("LowThreshold",
                          "T_low: below this round-trip time the rate grows.",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&TimelyControl::m_lowThreshold),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("HighThreshold",
                          "T_high: above this round-trip time the rate shrinks.",
                          TimeValue(MicroSeconds(500)),
                          MakeTimeAccessor(&TimelyControl::m_highThreshold),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("MinRtt",
                          "D_minRTT, which normalises the gradient; 0: the round trip through the "
                          "empty network.",
                          TimeValue(MicroSeconds(20)),
                          MakeTimeAccessor(&TimelyControl::m_minRtt),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("HyperEvents",
                          "After so many acknowledgements in a row without a rising round-trip "
                          "time the rate grows by five steps at once (hyperactive increase), but "
                          "by one where that time is below LowThreshold.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&TimelyControl::m_hyperEvents),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("SegmentPackets",
                          "Packets of a segment, each of which is acknowledged and timed; "
                          "AckEvery of the transport if that is less.",
                          UintegerValue(16),
                          MakeUintegerAccessor(&TimelyControl::m_segmentPackets),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("MinRate",
                          "No flow is slower.",
                          DataRateValue(DataRate("10Mbps")),
                          MakeDataRateAccessor(&TimelyControl::m_minRate),
                          MakeDataRateChecker());
    return tid;
}

std::string
TimelyControl::GetSummary() const
{
    return "delay gradient, rates (SIGCOMM 2015)";
}

CongestionSignals
TimelyControl::GetSignals() const
{
    CongestionSignals signals;
    signals.delay = true;
    signals.path = true;
    signals.ackEvery = m_segmentPackets;
    return signals;
}

void
TimelyControl::Open(CongestionFlow& flow)
{
    MakeState(flow).rate = flow.lineRate;
}

double
TimelyControl::ComputeRate(TimelyState& state, double rtt, double baseRtt) const
{
    // Algorithm 1.
    const auto difference = rtt - state.previousRtt;
    state.previousRtt = rtt;
    state.rttDifference += m_ewmaWeight * (difference - state.rttDifference);
    const auto gradient = state.rttDifference / baseRtt;
    const auto step = static_cast<double>(m_additiveStep.GetBitRate());
    const auto low = static_cast<double>(m_lowThreshold.GetTimeStep());
    const auto high = static_cast<double>(m_highThreshold.GetTimeStep());
    if (rtt < low)
    {
        return state.rate + step;
    }
    if (rtt > high)
    {
        state.calmEvents = 0;
        return state.rate * (1.0 - m_decrease * (1.0 - high / rtt));
    }
    if (gradient <= 0.0)
    {
        ++state.calmEvents;
        return state.rate + (state.calmEvents >= m_hyperEvents ? 5.0 : 1.0) * step;
    }
    state.calmEvents = 0;
    return state.rate * (1.0 - m_decrease * std::min(gradient, 1.0));
}

void
TimelyControl::OnAcknowledgement(CongestionFlow& flow,
                                 const CongestionFeedback& feedback,
                                 TimeStepCount /* now */)
{
    auto& state = GetState(flow);
    const auto rtt = static_cast<double>(feedback.roundTrip);
    if (state.previousRtt == 0.0)
    {
        state.previousRtt = rtt;
        return;
    }
    const auto minRtt = m_minRtt.IsZero() ? flow.baseRtt : m_minRtt.GetTimeStep();
    state.rate = std::clamp(ComputeRate(state, rtt, static_cast<double>(minRtt)),
                            static_cast<double>(m_minRate.GetBitRate()),
                            flow.lineRate);
    SetRate(flow, state.rate);
}

} // namespace ns3::gradsync
