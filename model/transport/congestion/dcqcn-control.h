// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_DCQCN_CONTROL_H
#define GRADSYNC_DCQCN_CONTROL_H

#include "ns3/congestion-control.h"
#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/rate-profile.h"

#include <cstdint>

namespace ns3::gradsync
{

/// What DCQCN's reaction point remembers of a flow. Rates in bits per second.
struct DcqcnState : CongestionState
{
    DcqcnState* next;
    bool isThrottled;
    double currentRate; //!< R_C
    double targetRate;  //!< R_T
    double alpha;
    TimeStepCount alphaSince;    //!< when alpha was last set or decayed
    TimeStepCount nextIncrease;  //!< when the timer runs out
    uint64_t bytesSinceIncrease; //!< byte counter
    uint32_t timerCount;         //!< T: how often the timer ran out since the last cut
    uint32_t byteCount;          //!< BC: how often the byte counter did
};

/**
 * DCQCN (Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015): switches
 * mark by RED, receivers answer marks by notification packets, senders cut and raise a rate.
 *
 * The reaction point's timers cost no events: only the next packet of a flow can tell whether they
 * have run, so they are brought up to date when it leaves. A flow that has come back to the line
 * rate is not paced and costs nothing.
 */
class DcqcnControl final : public StatefulCongestionControl<DcqcnState>
{
  public:
    static TypeId GetTypeId();

    std::string GetSummary() const override;
    CongestionSignals GetSignals() const override;
    std::string FindConcern(const CongestionPath& path) const override;
    void Open(CongestionFlow& flow) override;
    void Resume(CongestionFlow& flow, TimeStepCount now) override;
    void OnSent(CongestionFlow& flow, uint32_t wireBytes, TimeStepCount start) override;
    void OnNotification(CongestionFlow& flow, TimeStepCount now) override;

    void AddState(const CongestionFlow& flow, uint32_t ackedPsn, StateWords& words) const override;

    /// R_C of a flow. \returns bits per second
    static double GetRate(const CongestionFlow& flow);

  private:
    void DoInstall() override;
    /// Bits per second of a step or the lowest rate for a flow.
    double Scale(const CongestionFlow& flow, const DataRate& rate) const;
    void RunTimer(CongestionFlow& flow, DcqcnState& state, TimeStepCount until) const;
    void Increase(CongestionFlow& flow, DcqcnState& state) const;

    Time m_cnpInterval;
    double m_alphaGain;
    Time m_alphaTimer;
    Time m_increaseTimer;
    uint64_t m_byteCounterBytes;
    uint32_t m_fastRecoverySteps;
    DataRate m_additiveIncrease;
    DataRate m_hyperIncrease;
    DataRate m_minRate;
    RateProfile m_profile;

    TimeStepCount m_alphaSteps{0};
    TimeStepCount m_increaseSteps{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_DCQCN_CONTROL_H
