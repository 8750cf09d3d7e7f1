// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_HPCC_CONTROL_H
#define GRADSYNC_HPCC_CONTROL_H

#include "ns3/congestion-control.h"
#include "ns3/nstime.h"
#include "ns3/telemetry-record.h"

#include <cstdint>

namespace ns3::gradsync
{

/// What HPCC remembers of a flow. Windows in bytes on the wire.
struct HpccState : CongestionState
{
    HpccState* next;
    double window;          //!< W
    double referenceWindow; //!< W^c
    double utilisation;     //!< U, averaged
    uint32_t stage;         //!< incStage
    uint32_t lastUpdatePsn; //!< lastUpdateSeq
    TelemetryRecord last;   //!< L
};

/**
 * HPCC (Li et al., "HPCC: high precision congestion control", SIGCOMM 2019, algorithm 1): switches
 * write queue and traffic into the packets, senders keep every link a little below its rate.
 */
class HpccControl final : public StatefulCongestionControl<HpccState>
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

  private:
    double GetBaseRtt(const CongestionFlow& flow) const;
    double GetFullBytes(const CongestionFlow& flow) const;
    void MeasureInflight(HpccState& state, const TelemetryRecord& seen, double baseRtt) const;
    double ComputeWindow(const CongestionFlow& flow, HpccState& state, bool updates) const;
    void Apply(CongestionFlow& flow, HpccState& state) const;

    double m_targetUtilisation;
    uint32_t m_maxStage;
    uint32_t m_expectedFlows;
    Time m_baseRtt;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_HPCC_CONTROL_H
