// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_LINK_FAULT_H
#define GRADSYNC_LINK_FAULT_H

#include "ns3/link-state.h"
#include "ns3/packet-loss.h"

namespace ns3::gradsync
{

/// One direction of a link that a fault has ever touched: dead, or losing packets in bursts.
class LinkFault final : public PacketLoss
{
  public:
    /// \param base loss that the link has without any fault; may be nullptr. \param stream random
    /// number stream
    LinkFault(PacketLoss* base, int64_t stream, PacketPool& pool);

    void SetDown();

    /// The wire works again. \param lastArrival when the last packet that is on it by now would be
    /// at the far end: up to there all are lost; packets arrive in the order of these times
    void SetUp(TimeStepCount lastArrival);

    void SetLoss(const LossModel& loss);

    bool IsLost(const FabricPacket& packet) override;

  private:
    bool DrawLoss();

    PacketLoss* m_base;
    LossModel m_loss;
    Ptr<UniformRandomVariable> m_random;
    TimeStepCount m_lostThrough{-1};
    bool m_down{false};
    bool m_bad{false}; //!< state of the Markov chain
};

} // namespace ns3::gradsync

#endif // GRADSYNC_LINK_FAULT_H
