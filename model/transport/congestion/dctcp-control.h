// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_DCTCP_CONTROL_H
#define GRADSYNC_DCTCP_CONTROL_H

#include "ns3/congestion-control.h"

#include <cstdint>

namespace ns3::gradsync
{

/// What DCTCP remembers of a flow.
struct DctcpState : CongestionState
{
    DctcpState* next;
    double window; //!< packets
    double alpha;
    uint32_t windowEnd;     //!< first packet after the window that is being observed
    uint32_t ackedPackets;  //!< of that window
    uint32_t markedPackets; //!< of that window
};

/**
 * A window in the manner of DCTCP (Alizadeh et al., "Data center TCP (DCTCP)", SIGCOMM 2010,
 * section 3.1): it shrinks once a window in proportion to the share of marked packets.
 *
 * Switches should mark by a step: fabric.ecnMinBytes = ecnMaxBytes = K, K > C RTT / 7 (equation
 * 13).
 */
class DctcpControl final : public StatefulCongestionControl<DctcpState>
{
  public:
    static TypeId GetTypeId();

    std::string GetSummary() const override;
    CongestionSignals GetSignals() const override;
    void Open(CongestionFlow& flow) override;
    void Resume(CongestionFlow& flow, TimeStepCount now) override;
    void OnAcknowledgement(CongestionFlow& flow,
                           const CongestionFeedback& feedback,
                           TimeStepCount now) override;
    void OnLoss(CongestionFlow& flow, bool isTimeout, TimeStepCount now) override;
    void AddState(const CongestionFlow& flow, uint32_t ackedPsn, StateWords& words) const override;

  private:
    double m_alphaGain;
    uint32_t m_initialWindowPackets;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_DCTCP_CONTROL_H
