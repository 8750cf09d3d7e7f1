// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_MESSAGE_H
#define GRADSYNC_MESSAGE_H

#include "ns3/byte-range.h"
#include "ns3/nstime.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace ns3::gradsync
{

/// Told when a message is through. Called from simulator events.
class MessageHandler
{
  public:
    /// The last byte of the message is at the receiver, all earlier bytes too that may not be lost.
    virtual void OnDelivered(uint64_t tag) = 0;
    /// The transport gave up; `reason` names the connection and the cause.
    virtual void OnFailed(uint64_t tag, const std::string& reason) = 0;

    /// Another process, which simulates the sender, has sent a message for this handler at `at`.
    virtual void OnSentElsewhere(uint64_t /* tag */, const Time& /* at */)
    {
    }

    /// Before OnDelivered, which will be at `at`, in the EventOrder `order`: nothing can change
    /// that any more. Only where DividedTransport::Announce asks for it. May not send.
    virtual void OnArriving(uint64_t /* tag */, const Time& /* at */, uint32_t /* order */)
    {
    }

    /// What was delivered is not what was to be; `reason` says how. Nothing can mend that.
    virtual void OnWrongSum(uint64_t tag, const std::string& reason)
    {
        OnFailed(tag, reason);
    }

    /// From the start of a handler: what lies there is fetched ahead of OnDelivered.
    static constexpr size_t DELIVERY_BYTES = 96;

  protected:
    ~MessageHandler() = default;
};

/// One message between two endpoints.
struct Message
{
    uint32_t src;    //!< endpoint index
    uint32_t dst;    //!< endpoint index, not src
    uint32_t stream; //!< messages with equal (src, dst, stream) are delivered in the order sent
    uint64_t bytes;  //!< 0 is allowed: still costs one packet
    uint64_t tag;    //!< given back to the handler
    MessageHandler* handler;
    /// What may be lost of it: the network may drop packets of these bytes alone, and nobody sends
    /// them again. Ends before the last byte. A transport may deliver them all the same.
    ByteRange droppable{};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_MESSAGE_H
