// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RENO_CONTROL_H
#define GRADSYNC_RENO_CONTROL_H

#include "ns3/congestion-control.h"

#include <cstdint>

namespace ns3::gradsync
{

/// What Reno remembers of a flow.
struct RenoState : CongestionState
{
    RenoState* next;
    double window;      //!< packets
    uint32_t windowEnd; //!< first packet after the window that was cut
};

/**
 * A window in the manner of TCP Reno with ECN: a packet more each round trip (RFC 5681, section
 * 3.1), half of it on a mark or a loss, at most once a window (RFC 3168, section 6.1.2).
 */
class RenoControl final : public StatefulCongestionControl<RenoState>
{
  public:
    static TypeId GetTypeId();

    std::string GetSummary() const override;
    CongestionSignals GetSignals() const override;
    void Open(CongestionFlow& flow) override;
    void OnAcknowledgement(CongestionFlow& flow,
                           const CongestionFeedback& feedback,
                           TimeStepCount now) override;
    void OnLoss(CongestionFlow& flow, bool isTimeout, TimeStepCount now) override;

  private:
    double m_decrease;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_RENO_CONTROL_H
