// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_DIVIDED_TRANSPORT_H
#define GRADSYNC_DIVIDED_TRANSPORT_H

#include "ns3/message.h"
#include "ns3/outgoing-batch.h"
#include "ns3/topology-division.h"

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace ns3::gradsync
{

class SwitchRounds;

/// What is asked of the messages that cross.
struct DividedMessages
{
    /// Who is told of messages, and where these go.
    struct Receiver
    {
        MessageHandler* handler;
        uint32_t endpoint;
    };

    /// All of them, in the same order in all processes; asked for at the first message.
    std::function<std::vector<Receiver>()> listReceivers;
    bool tellsTimes{false}; //!< handlers are told when they were sent (OnSentElsewhere)
    /// Calls back at an instant that is not over, after what happens then otherwise; of no event.
    /// Only where times are told.
    std::function<void(const Time& at, std::function<void()> action)> callAt;
};

/// Endpoint at which messages are to be known before they arrive -> whether those from its own
/// process are, too.
using AwaitedEndpoints = std::map<uint32_t, bool>;

/**
 * A transport of which each of several processes simulates some nodes. All of them have the whole
 * network; a message is sent in the process of its source and delivered in that of its destination.
 *
 * What happens in one process reaches another no sooner than the delay of the links between them.
 * So processes that have done all before an instant Depart, then Take and Put what they have for
 * each other, and may go on by that delay from the earliest of all their next events and starts.
 */
class DividedTransport
{
  public:
    /**
     * After Install, before the first message.
     * \throws std::invalid_argument with a text for the user for settings that cannot be divided
     */
    virtual void Divide(const TopologyDivision& division, DividedMessages messages) = 0;

    /**
     * From now on handlers are told ahead of messages to these endpoints that are of this process
     * (MessageHandler::OnArriving): as soon as the last packet leaves for them, which Depart sees
     * to as well. After Divide, before the first message.
     * \returns the least time ahead, for those of all processes
     * \throws std::invalid_argument with a text for the user when it cannot be known
     */
    virtual Time Announce(const AwaitedEndpoints& endpoints) = 0;

    /**
     * From now on switches go on when they are told to (SwitchRounds::RunHeld), ahead of all else
     * in this process, and only they have links to other processes. After Divide, before the first
     * message. \param lookahead that they must have at least, in time steps
     * \returns nullptr where that cannot be: nothing has changed
     */
    virtual SwitchRounds* HoldSwitches(int64_t lookahead) = 0;

    /// Nothing is simulated at this time or later, in time steps: what others send may still arrive
    /// there.
    virtual void SetBound(int64_t bound) = 0;

    /// Lets leave what is to leave this process up to `now`, in time steps.
    virtual void Depart(int64_t now) = 0;

    /// When the first of what has left and is not taken arrives; INT64_MAX: there is none. After
    /// Depart, before Take.
    virtual int64_t GetFirstArrival() const = 0;

    /// When the next packet leaves that waits to, on a way to others or to an endpoint of Announce,
    /// if nothing happens before; INT64_MAX: there is none that is sure to. After Depart.
    virtual int64_t GetNextStart() const = 0;

    /// Moves what is for a process to the end of a batch, which refers to it until the next call.
    virtual void Take(uint32_t part, OutgoingBatch& batch) = 0;

    /// Takes what a process had for this one.
    virtual void Put(BatchReader& batch) = 0;

  protected:
    ~DividedTransport() = default;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_DIVIDED_TRANSPORT_H
