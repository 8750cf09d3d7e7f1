// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_LINK_FAULT_H
#define GRADSYNC_LINK_FAULT_H

#include "ns3/link-state.h"
#include "ns3/packet-loss.h"

#include <cstdint>
#include <deque>

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
    /// at the far end: up to there all are lost; packets arrive in the order of these times. -1:
    /// Expect says what is on it
    void SetUp(TimeStepCount lastArrival);

    /// How often it has worked again.
    uint32_t CountReturns() const
    {
        return m_returns;
    }

    /// Packets come from another process, which knows when they started. \param returns as it
    /// counted them when this one did \param arrival of the first one with so many; ascending
    void Expect(uint32_t returns, TimeStepCount arrival);

    void SetLoss(const LossModel& loss);

    bool IsLost(const FabricPacket& packet) override;

  private:
    bool StartedBefore(const FabricPacket& packet);
    bool DrawLoss();

    /// From an arrival on packets started when the wire had worked again so often.
    struct Since
    {
        TimeStepCount arrival;
        uint32_t returns;
    };

    PacketLoss* m_base;
    LossModel m_loss;
    Ptr<UniformRandomVariable> m_random;
    TimeStepCount m_lostThrough{-1};
    uint32_t m_returns{0};
    std::deque<Since> m_expected; //!< ascending; empty: of its own process, or none has returned
    bool m_down{false};
    bool m_bad{false}; //!< state of the Markov chain
};

} // namespace ns3::gradsync

#endif // GRADSYNC_LINK_FAULT_H
