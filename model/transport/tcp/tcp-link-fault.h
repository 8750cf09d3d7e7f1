// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TCP_LINK_FAULT_H
#define GRADSYNC_TCP_LINK_FAULT_H

#include "ns3/error-model.h"
#include "ns3/link-state.h"
#include "ns3/random-variable-stream.h"

namespace ns3::gradsync
{

/// What arrives by one direction of a link that a fault has touched: nothing while it is dead, else
/// what a LossModel leaves.
class TcpLinkFault : public ErrorModel
{
  public:
    static TypeId GetTypeId();
    TcpLinkFault();

    /// \param base loss that the link has without any fault; may be nullptr. \param stream random
    /// number stream
    void Install(const Ptr<ErrorModel>& base, int64_t stream);

    void SetState(const LinkState& state);

    /// Nothing arrives while any of the two ends neither sends nor receives.
    void SetMuted(bool muted);

  private:
    bool DoCorrupt(Ptr<Packet> packet) override;
    void DoReset() override;

    Ptr<ErrorModel> m_base;
    LinkState m_state;
    uint32_t m_mutes{0};    //!< ends that are muted
    bool m_hasFlood{false}; //!< there was one; its packets are thrown away
    Ptr<UniformRandomVariable> m_random;
    bool m_bad{false}; //!< state of the Markov chain
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TCP_LINK_FAULT_H
