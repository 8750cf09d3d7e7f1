// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRANSFER_CARRIER_H
#define GRADSYNC_TRANSFER_CARRIER_H

#include "ns3/message.h"
#include "ns3/operation.h"

namespace ns3::gradsync
{

/// Looks on as an execution sends, or delivers its messages in place of the network.
class TransferCarrier
{
  public:
    virtual ~TransferCarrier() = default;

    /// The first message is about to leave. \param isTogether all ranks have begun at this instant
    virtual void Begin(bool isTogether) = 0;

    /// A message leaves. \returns whether it is seen to, and the network has nothing to do with it
    virtual bool Take(const Message& message) = 0;

    /// It is at its receiver.
    virtual void OnDelivered(OperationId id) = 0;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TRANSFER_CARRIER_H
