// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TIMELY_CONTROL_H
#define GRADSYNC_TIMELY_CONTROL_H

#include "ns3/congestion-control.h"
#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/rate-profile.h"

#include <cstdint>

namespace ns3::gradsync
{

/// What TIMELY remembers of a flow.
struct TimelyState : CongestionState
{
    TimelyState* next;
    double rate;            //!< bits per second
    double previousRtt;     //!< time steps; 0: none yet
    double rttDifference;   //!< time steps, averaged
    uint32_t calmEvents;    //!< in a row with a gradient of 0 or less
    uint32_t lastUpdatePsn; //!< first packet that was sent after the last change
};

/// When TIMELY changes a rate.
enum TimelyUpdates
{
    TIMELY_EACH_ACKNOWLEDGEMENT,
    TIMELY_EACH_ROUND_TRIP
};

/**
 * TIMELY (Mittal et al., "TIMELY: RTT-based congestion control for the datacenter", SIGCOMM 2015,
 * algorithm 1): a rate that follows the gradient of the round-trip time.
 */
class TimelyControl final : public StatefulCongestionControl<TimelyState>
{
  public:
    static TypeId GetTypeId();

    std::string GetSummary() const override;
    CongestionSignals GetSignals() const override;
    std::string FindConcern(const CongestionPath& path) const override;
    void Open(CongestionFlow& flow) override;
    void Resume(CongestionFlow& flow, TimeStepCount now) override;
    void OnAcknowledgement(CongestionFlow& flow,
                           const CongestionFeedback& feedback,
                           TimeStepCount now) override;
    void AddState(const CongestionFlow& flow, uint32_t ackedPsn, StateWords& words) const override;

  private:
    /// \param step additive increase, bits per second
    double ComputeRate(TimelyState& state, double rtt, double baseRtt, double step) const;
    /// Bits per second of a step or the lowest rate for a flow.
    double Scale(const CongestionFlow& flow, const DataRate& rate) const;

    double m_ewmaWeight;
    double m_decrease;
    DataRate m_additiveStep;
    Time m_lowThreshold;
    Time m_highThreshold;
    Time m_minRtt;
    uint32_t m_hyperEvents;
    uint32_t m_segmentPackets;
    DataRate m_minRate;
    RateProfile m_profile;
    TimelyUpdates m_updates;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TIMELY_CONTROL_H
