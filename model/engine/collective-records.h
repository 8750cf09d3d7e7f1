// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_COLLECTIVE_RECORDS_H
#define GRADSYNC_COLLECTIVE_RECORDS_H

#include "ns3/channel-timing.h"
#include "ns3/network-part.h"
#include "ns3/recorded-channel.h"
#include "ns3/twin-planes.h"
#include "ns3/workload.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * Collectives of a workload that are not simulated, as equal ones are: those of groups that have
 * their links to themselves, see RecordedChannel, and of others those of planes of the network, see
 * TwinPlanes. Executions go on as always; what they do, and all that is counted, is
 * what it would have been, to the last event.
 *
 * The workload must be all that uses the network, and its ranks must add in no time.
 */
class CollectiveRecords
{
  public:
    /// \param workload and `parts` outlive it \param endpoints [rank]
    /// \param mayHaveTwins planes of the network may stand for each other
    CollectiveRecords(const Workload& workload,
                      std::span<const uint32_t> endpoints,
                      TransportParts& parts,
                      bool mayHaveTwins);

    /// For an execution; nullptr: it is simulated, and nobody looks on.
    std::unique_ptr<TransferCarrier> MakeCarrier(CommunicationId id);

    /// A rank is done with its part of a communication.
    void OnRankEnded(CommunicationId id);
    /// All ranks are.
    void OnEnded(CommunicationId id);

    /// The workload is done; it may run again.
    void EndRun();

    /// Communications that were not simulated.
    uint64_t GetCount() const
    {
        return m_counts.taken + (m_twins ? m_twins->GetCount() : 0);
    }

    /// Null: no plane of the network stands for another.
    const TwinPlanes* GetTwins() const
    {
        return m_twins.get();
    }

  private:
    static constexpr uint32_t NONE = UINT32_MAX;

    struct Place
    {
        uint32_t channel{NONE};
        uint32_t place{0};
    };

    void AddChannel(const ChannelPlaces& channel, ChannelTiming& timing, TransportParts& parts);
    std::vector<ChannelChain> MakeChains(std::span<const ChannelUse> uses,
                                         const std::vector<uint64_t>& shape);
    void FindTwins(std::vector<ChannelGroup> groups, TransportParts& parts);
    ChainKind* FindKind(std::span<const ChannelUse> chain, const std::vector<uint64_t>& shape);

    /// Shape of the network, plans.
    using KindName = std::pair<std::vector<uint64_t>, std::vector<const Plan*>>;

    const Workload& m_workload;
    std::map<KindName, ChainKind> m_kinds;
    std::vector<std::unique_ptr<RecordedChannel>> m_channels;
    std::vector<Place> m_places; //!< [communication]
    RecordCounts m_counts;
    std::unique_ptr<TwinPlanes> m_twins; //!< null: no plane stands for another
};

} // namespace ns3::gradsync

#endif // GRADSYNC_COLLECTIVE_RECORDS_H
