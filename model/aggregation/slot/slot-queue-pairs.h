// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_QUEUE_PAIRS_H
#define GRADSYNC_SLOT_QUEUE_PAIRS_H

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace ns3::gradsync
{

/**
 * The queue pairs of a job at SwitchML's switch. Only the first packet of a message says its slot;
 * those that follow take the next ones, as long as their sequence numbers follow each other. After
 * a gap all are dropped up to the next first one: were a later packet taken, it would be added in
 * the slot of an earlier one (p4lang/p4app-switchML, dev_root/p4/rdma_receiver.p4). Results are
 * numbered for each queue pair of a worker, whether they go to all or to it alone
 * (rdma_sender.p4).
 */
class SlotQueuePairs
{
  public:
    struct Arrival
    {
        uint32_t worker;
        uint32_t queuePair; //!< index
        uint32_t sequence;
        bool isFirst;
        uint32_t pool; //!< of a first packet: twice its slot, plus the set
    };

    /// \returns twice the slot of a packet, plus the set; nothing for one that is dropped
    std::optional<uint32_t> Receive(const Arrival& packet);

    /// Of the next result.
    uint32_t TakeSequence(uint32_t worker, uint32_t queuePair);

    /// Packets that did not follow those before.
    uint64_t GetViolations() const
    {
        return m_violations;
    }

  private:
    struct Receiver
    {
        uint32_t next{0}; //!< sequence number
        std::optional<uint32_t> pool;
    };

    using Key = std::pair<uint32_t, uint32_t>; //!< worker and index

    std::map<Key, Receiver> m_receivers;
    std::map<Key, uint32_t> m_sequences;
    uint64_t m_violations{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_QUEUE_PAIRS_H
