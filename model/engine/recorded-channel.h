// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RECORDED_CHANNEL_H
#define GRADSYNC_RECORDED_CHANNEL_H

#include "ns3/network-part.h"
#include "ns3/plan.h"
#include "ns3/transfer-carrier.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace ns3::gradsync
{

class RecordedChannel;

/// When the messages of an execution left and arrived; time steps since its chain began.
struct MessageTimes
{
    std::vector<int64_t> left; //!< [operation]; -1: no message
    std::vector<int64_t> arrived;
};

/// What communications that followed each other at once did, from a network at rest until that was
/// at rest again.
struct ChainRecord
{
    std::vector<MessageTimes> executions; //!< in their order
    int64_t leastEnd{-1};                 //!< the first rank is done with the last one
    int64_t rest{0};                      //!< the network is at rest
    PartTraffic traffic;
};

/// What is known of all chains of the same plans on networks of the same shape.
struct ChainKind
{
    std::vector<std::shared_ptr<const Plan>> plans;
    std::optional<ChainRecord> record;
    RecordedChannel* recorder{nullptr}; //!< is about to make it
};

/// Communications of a channel that follow each other at once.
struct ChannelChain
{
    uint32_t count;  //!< of them
    int64_t idle;    //!< time steps after the last one in which nothing begins
    ChainKind* kind; //!< nullptr: its network is none that can be left out
};

/// How often.
struct RecordCounts
{
    uint64_t taken{0};    //!< communications that were taken from a record
    uint64_t recorded{0}; //!< chains that were recorded
    uint64_t apart{0};    //!< chains whose ranks began at different times
    uint64_t busy{0};     //!< chains that began while the network was not at rest
    uint64_t brief{0};    //!< chains after which it might not have been in time
};

/**
 * The communications of a group that has its links to itself, one after the other.
 *
 * Where a chain of them begins at all ranks at once, and the network is at rest, all that happens
 * until the network is at rest again follows from the plans and the shape of the network. The first
 * of a kind is simulated and recorded. Of later ones the executions run as always, but their
 * messages are delivered at the recorded times, without packets, and what these would have counted
 * is counted.
 *
 * That nothing begins meanwhile must be known beforehand, as nothing can be undone: ChannelChain.
 */
class RecordedChannel
{
  public:
    /// \param chains in the order in which they begin \param counts outlive it, as do kinds
    RecordedChannel(std::unique_ptr<NetworkPart> part,
                    std::vector<ChannelChain> chains,
                    RecordCounts& counts);

    /// Of the communication at a place of the channel. It must not outlive the channel.
    std::unique_ptr<TransferCarrier> MakeCarrier(uint32_t place);

    /// A rank is done with the communication at a place.
    void OnRankEnded(uint32_t place);
    /// All ranks are.
    void OnEnded(uint32_t place);

    /// The record that it is about to make is made if the network is at rest by now. \returns
    /// whether it was
    bool FinishRecord();

    /// All communications are done: places count from the beginning again.
    void EndRun();

  private:
    class Carrier;

    enum class Mode : uint8_t
    {
        Simulates,
        Records,
        Replays
    };

    void Begin(uint32_t place, bool isTogether);
    bool Take(uint32_t place, const Message& message);
    void OnDelivered(uint32_t place, OperationId id);
    bool IsInHand(uint32_t place) const;
    bool MayReplay(const ChannelChain& chain) const;
    void BeginRecord(ChainKind& kind);
    void Replay(const ChannelChain& chain);
    void LeaveChain();
    int64_t GetElapsed() const;

    /// Of the chain in hand.
    MessageTimes& GetTimes(uint32_t place)
    {
        return m_record.executions[place - m_first];
    }

    std::unique_ptr<NetworkPart> m_part;
    std::vector<ChannelChain> m_chains;
    std::vector<uint32_t> m_chainAt; //!< [place] that begins there; UINT32_MAX: none does
    RecordCounts& m_counts;

    // The chain in hand.
    Mode m_mode{Mode::Simulates};
    ChainKind* m_kind{nullptr};
    uint32_t m_first{0};  //!< place where it begins
    uint32_t m_end{0};    //!< place behind it
    int64_t m_since{0};   //!< time steps
    uint32_t m_ended{0};  //!< of its communications
    ChainRecord m_record; //!< that it makes
};

} // namespace ns3::gradsync

#endif // GRADSYNC_RECORDED_CHANNEL_H
