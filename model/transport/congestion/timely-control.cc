// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/timely-control.h"

#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/ns3-interfaces.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

constexpr double TIMELY_PAPER_RATE = 10e9; //!< of "ECN or delay"'s links, bits per second

} // namespace

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
            .AddAttribute("Profile",
                          "Links for which the steps and the lowest rate hold: paper, as they "
                          "are given; link, in proportion to the rate of each NIC; 100G and the "
                          "like, in proportion to that. They are given for 10 Gb/s.",
                          EnumValue(PROFILE_LINK),
                          MakeAccessorOfEnum(&TimelyControl::m_profile),
                          MakeRateProfileChecker())
            .AddAttribute("Updates",
                          "When the rate changes: acknowledgement, at each one, as algorithm 1 "
                          "says; round-trip, at the first one of a packet that was sent after "
                          "the last change, so that one queue is not answered several times.",
                          EnumValue(TIMELY_EACH_ACKNOWLEDGEMENT),
                          MakeAccessorOfEnum(&TimelyControl::m_updates),
                          MakeEnumChecker(TIMELY_EACH_ACKNOWLEDGEMENT,
                                          "acknowledgement",
                                          TIMELY_EACH_ROUND_TRIP,
                                          "round-trip"))
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

std::string
TimelyControl::FindConcern(const CongestionPath& path) const
{
    if (path.baseRtt >= m_lowThreshold)
    {
        return fmt::format(
            "timely's lower threshold of {:g} us is no more than the round trip of {:g} us "
            "through the empty network: rates follow noise (lowThreshold)",
            m_lowThreshold.ToDouble(Time::US),
            path.baseRtt.ToDouble(Time::US));
    }
    if (m_updates == TIMELY_EACH_ACKNOWLEDGEMENT && 2 * path.lowestRate <= path.lineRate)
    {
        return fmt::format(
            "timely is known to collapse where a flow of {:g} Gb/s meets a link of {:g}: "
            "each acknowledgement of one queue cuts the rate again (updates)",
            path.lineRate / 1e9,
            path.lowestRate / 1e9);
    }
    return DescribeSmallSteps("timely", m_profile, path.lineRate, TIMELY_PAPER_RATE);
}

void
TimelyControl::Open(CongestionFlow& flow)
{
    MakeState(flow).rate = flow.lineRate;
}

void
TimelyControl::Resume(CongestionFlow& flow, TimeStepCount /* now */)
{
    GetState(flow).lastUpdatePsn = 0;
}

double
TimelyControl::Scale(const CongestionFlow& flow, const DataRate& rate) const
{
    return static_cast<double>(rate.GetBitRate()) *
           GetRateScale(m_profile, flow.lineRate, TIMELY_PAPER_RATE);
}

double
TimelyControl::ComputeRate(TimelyState& state, double rtt, double baseRtt, double step) const
{
    // Algorithm 1.
    const auto difference = rtt - state.previousRtt;
    state.previousRtt = rtt;
    state.rttDifference += m_ewmaWeight * (difference - state.rttDifference);
    const auto gradient = state.rttDifference / baseRtt;
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
    if (m_updates == TIMELY_EACH_ROUND_TRIP)
    {
        if (feedback.ackedPsn <= state.lastUpdatePsn)
        {
            return;
        }
        state.lastUpdatePsn = feedback.nextPsn;
    }
    const auto rtt = static_cast<double>(feedback.roundTrip);
    if (state.previousRtt == 0.0)
    {
        state.previousRtt = rtt;
        return;
    }
    const auto minRtt = m_minRtt.IsZero() ? flow.baseRtt : m_minRtt.GetTimeStep();
    const auto rate =
        ComputeRate(state, rtt, static_cast<double>(minRtt), Scale(flow, m_additiveStep));
    state.rate = std::clamp(rate, Scale(flow, m_minRate), flow.lineRate);
    SetRate(flow, state.rate);
}

void
TimelyControl::AddState(const CongestionFlow& flow, uint32_t ackedPsn, StateWords& words) const
{
    const auto& state = GetState(flow);
    words.Add(state.rate);
    words.Add(state.previousRtt);
    words.Add(state.rttDifference);
    words.Add(state.calmEvents);
    words.Add(state.lastUpdatePsn - ackedPsn);
}

} // namespace ns3::gradsync
