// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SWIFT_CONTROL_H
#define GRADSYNC_SWIFT_CONTROL_H

#include "ns3/congestion-control.h"
#include "ns3/nstime.h"

#include <cstdint>

namespace ns3::gradsync
{

/// What Swift remembers of a flow.
struct SwiftState : CongestionState
{
    SwiftState* next;
    double window; //!< packets, may be below 1
    TimeStepCount lastDecrease;
    TimeStepCount roundTrip; //!< the newest
    uint32_t timeouts;       //!< in a row
};

/**
 * Swift (Kumar et al., "Swift: delay is simple and effective for congestion control in the
 * datacenter", SIGCOMM 2020, algorithm 1 and section 3.5): a window that keeps the round-trip time
 * at a target; below one packet it becomes a pace.
 *
 * Hosts here take no time, so there is the fabric's window only, not the endpoint's.
 */
class SwiftControl final : public StatefulCongestionControl<SwiftState>
{
  public:
    static TypeId GetTypeId();

    std::string GetSummary() const override;
    CongestionSignals GetSignals() const override;
    std::string FindConcern(const CongestionPath& path) const override;
    void Open(CongestionFlow& flow) override;
    void OnAcknowledgement(CongestionFlow& flow,
                           const CongestionFeedback& feedback,
                           TimeStepCount now) override;
    void OnLoss(CongestionFlow& flow, bool isTimeout, TimeStepCount now) override;

    /// Target delay of a flow with this window. \returns time steps
    double GetTarget(const CongestionFlow& flow, double windowPackets) const;

  private:
    void Decrease(SwiftState& state, double factor, TimeStepCount now) const;
    void Apply(CongestionFlow& flow, SwiftState& state) const;

    Time m_baseTarget;
    Time m_hopTarget;
    Time m_flowScalingRange;
    double m_flowScalingMinWindow;
    double m_flowScalingMaxWindow;
    double m_additiveIncrease;
    double m_decrease;
    double m_maxDecrease;
    double m_minWindow;
    double m_maxWindow;
    uint32_t m_resetTimeouts;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SWIFT_CONTROL_H
