// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/dcqcn-control.h"

#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/ns3-interfaces.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(DcqcnControl);

namespace
{

/// R_C halves its distance to the line rate and never quite arrives: this close it has.
constexpr double RELEASE_SHARE = 0.999;

constexpr double DCQCN_PAPER_RATE = 40e9; //!< of its paper's links, bits per second

} // namespace

TypeId
DcqcnControl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::DcqcnControl")
            .SetParent<CongestionControl>()
            .SetGroupName("GradSync")
            .AddConstructor<DcqcnControl>()
            .AddAttribute("CnpInterval",
                          "A receiver sends at most one notification packet a connection in this "
                          "time (section 3.1, NP).",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&DcqcnControl::m_cnpInterval),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("AlphaGain",
                          "g of equations 1 and 2: weight of a notification, or of its absence, in "
                          "alpha.",
                          DoubleValue(1.0 / 256),
                          MakeDoubleAccessor(&DcqcnControl::m_alphaGain),
                          MakeDoubleChecker<double>(1e-9, 1.0))
            .AddAttribute("AlphaTimer",
                          "K of equation 2: alpha decays after each such time without a "
                          "notification.",
                          TimeValue(MicroSeconds(55)),
                          MakeTimeAccessor(&DcqcnControl::m_alphaTimer),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("IncreaseTimer",
                          "The rate grows after each such time without a notification.",
                          TimeValue(MicroSeconds(55)),
                          MakeTimeAccessor(&DcqcnControl::m_increaseTimer),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("ByteCounterBytes",
                          "B: the rate grows after each so many bytes sent, too.",
                          UintegerValue(10'000'000),
                          MakeUintegerAccessor(&DcqcnControl::m_byteCounterBytes),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute("FastRecoverySteps",
                          "F: growth steps of the timer or of the byte counter in fast recovery.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&DcqcnControl::m_fastRecoverySteps),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("AdditiveIncrease",
                          "R_AI: step of the target rate after fast recovery.",
                          DataRateValue(DataRate("40Mbps")),
                          MakeDataRateAccessor(&DcqcnControl::m_additiveIncrease),
                          MakeDataRateChecker())
            .AddAttribute(
                "HyperIncrease",
                "R_HAI: step of the target rate, times the number of the step, when timer "
                "and byte counter both have left fast recovery. The paper gives no "
                "number; the default is 10 R_AI.",
                DataRateValue(DataRate("400Mbps")),
                MakeDataRateAccessor(&DcqcnControl::m_hyperIncrease),
                MakeDataRateChecker())
            .AddAttribute("Profile",
                          "Links for which the steps and the lowest rate hold: paper, as they "
                          "are given; link, in proportion to the rate of each NIC; 100G and the "
                          "like, in proportion to that. They are given for 40 Gb/s.",
                          EnumValue(PROFILE_LINK),
                          MakeAccessorOfEnum(&DcqcnControl::m_profile),
                          MakeRateProfileChecker())
            .AddAttribute("MinRate",
                          "No flow is slower. The paper gives no number.",
                          DataRateValue(DataRate("10Mbps")),
                          MakeDataRateAccessor(&DcqcnControl::m_minRate),
                          MakeDataRateChecker());
    return tid;
}

void
DcqcnControl::DoInstall()
{
    m_alphaSteps = m_alphaTimer.GetTimeStep();
    m_increaseSteps = m_increaseTimer.GetTimeStep();
}

std::string
DcqcnControl::GetSummary() const
{
    return "ECN marks, notification packets, rates (SIGCOMM 2015)";
}

CongestionSignals
DcqcnControl::GetSignals() const
{
    CongestionSignals signals;
    signals.ecn = true;
    signals.cnpInterval = m_cnpInterval.GetTimeStep();
    signals.opensFresh = true;
    return signals;
}

std::string
DcqcnControl::FindConcern(const CongestionPath& path) const
{
    return DescribeSmallSteps("dcqcn", m_profile, path.lineRate, DCQCN_PAPER_RATE);
}

void
DcqcnControl::Open(CongestionFlow& /* flow */)
{
    // A flow starts at the line rate (section 3.3); a state is made by its first notification.
}

void
DcqcnControl::Resume(CongestionFlow& flow, TimeStepCount now)
{
    if (flow.state) // else only losses have met it
    {
        RunTimer(flow, GetState(flow), now);
    }
}

void
DcqcnControl::AddState(const CongestionFlow& flow, uint32_t /* ackedPsn */, StateWords& words) const
{
    words.Add(flow.state != nullptr);
    if (!flow.state)
    {
        return;
    }
    const auto& state = GetState(flow);
    words.Add(state.isThrottled);
    words.Add(state.currentRate);
    words.Add(state.targetRate);
    words.Add(state.alpha);
    words.AddTime(state.alphaSince);
    words.AddTime(state.nextIncrease);
    words.Add(state.bytesSinceIncrease);
    words.Add(state.timerCount);
    words.Add(state.byteCount);
}

double
DcqcnControl::GetRate(const CongestionFlow& flow)
{
    const auto* state = static_cast<const DcqcnState*>(flow.state);
    return state && state->isThrottled ? state->currentRate : flow.lineRate;
}

void
DcqcnControl::OnNotification(CongestionFlow& flow, TimeStepCount now)
{
    if (!flow.state)
    {
        auto& fresh = MakeState(flow);
        fresh.alpha = 1.0; // section 3.1
        fresh.alphaSince = now;
    }
    auto& state = GetState(flow);
    if (!state.isThrottled)
    {
        state.isThrottled = true;
        state.currentRate = flow.lineRate;
        state.nextIncrease = now + m_increaseSteps;
    }
    RunTimer(flow, state, now);
    // Equation 2, for every alpha timer that ran out since: alpha <- (1 - g) alpha.
    const auto decays = (now - state.alphaSince) / m_alphaSteps;
    state.alpha *= std::pow(1.0 - m_alphaGain, static_cast<double>(decays));
    // Equation 1: R_T <- R_C, R_C <- R_C (1 - alpha / 2), alpha <- (1 - g) alpha + g.
    state.targetRate = state.isThrottled ? state.currentRate : flow.lineRate;
    const auto cut = state.targetRate * (1.0 - state.alpha / 2.0);
    state.currentRate = std::max(cut, Scale(flow, m_minRate));
    state.alpha = (1.0 - m_alphaGain) * state.alpha + m_alphaGain;
    state.alphaSince = now;
    // Figure 7: a cut restarts timer and byte counter.
    state.isThrottled = true;
    state.nextIncrease = now + m_increaseSteps;
    state.bytesSinceIncrease = 0;
    state.timerCount = 0;
    state.byteCount = 0;
    SetRate(flow, state.currentRate);
}

void
DcqcnControl::OnSent(CongestionFlow& flow, uint32_t wireBytes, TimeStepCount start)
{
    auto& state = GetState(flow);
    RunTimer(flow, state, start);
    state.bytesSinceIncrease += wireBytes;
    if (state.isThrottled && state.bytesSinceIncrease >= m_byteCounterBytes)
    {
        state.bytesSinceIncrease -= m_byteCounterBytes;
        ++state.byteCount;
        Increase(flow, state);
    }
}

double
DcqcnControl::Scale(const CongestionFlow& flow, const DataRate& rate) const
{
    return static_cast<double>(rate.GetBitRate()) *
           GetRateScale(m_profile, flow.lineRate, DCQCN_PAPER_RATE);
}

void
DcqcnControl::RunTimer(CongestionFlow& flow, DcqcnState& state, TimeStepCount until) const
{
    while (state.isThrottled && state.nextIncrease <= until)
    {
        state.nextIncrease += m_increaseSteps;
        ++state.timerCount;
        Increase(flow, state);
    }
}

void
DcqcnControl::Increase(CongestionFlow& flow, DcqcnState& state) const
{
    // Figure 7 and equations 3 and 4.
    const auto more = std::max(state.timerCount, state.byteCount);
    const auto less = std::min(state.timerCount, state.byteCount);
    if (less > m_fastRecoverySteps)
    {
        const auto step = static_cast<double>(less - m_fastRecoverySteps);
        state.targetRate += step * Scale(flow, m_hyperIncrease);
    }
    else if (more > m_fastRecoverySteps)
    {
        state.targetRate += Scale(flow, m_additiveIncrease);
    }
    state.targetRate = std::min(state.targetRate, flow.lineRate);
    state.currentRate = (state.targetRate + state.currentRate) / 2.0;
    if (state.currentRate >= RELEASE_SHARE * flow.lineRate)
    {
        state.isThrottled = false;
        state.currentRate = flow.lineRate;
    }
    SetRate(flow, state.currentRate);
}

} // namespace ns3::gradsync
