// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_WORKER_H
#define GRADSYNC_SLOT_WORKER_H

#include "ns3/aggregation-worker.h"
#include "ns3/slot-format.h"
#include "ns3/slot-header.h"
#include "ns3/slot-message-receiver.h"
#include "ns3/switchml-backoff.h"

#include <cstdint>
#include <set>
#include <vector>

namespace ns3::gradsync
{

/**
 * The end of the slot protocol at a worker: sends packet i by slot i mod N when the result of
 * packet i - N is there, and sends again what has no result in time. In RoCEv2 (SlotWire) this is
 * so with messages of several packets, and there are as many queue pairs as messages fit the slots.
 */
class SlotWorker final : public AggregationWorker
{
  public:
    /// What the workers of a job have in common beyond all protocols.
    struct Settings
    {
        uint32_t slots;
        SlotWire wire;
        SwitchMlBackoff::Config backoff; //!< the timeout; the rest is of SwitchML's formats
        std::set<uint64_t> done;         //!< messages after the first of a restart that all have
    };

    SlotWorker(const AggregationJob& job,
               const Settings& settings,
               uint16_t rank,
               uint32_t endpoint,
               FabricPort& port);

    void OnResult(const AggregationPacket& packet, AggregationStatistics& statistics) override;

    // Messages, which are packets but in RoCEv2, are numbered as packets are.

    /// All messages before it have their results.
    uint64_t GetFirstMissing() const;
    /// No message from here on has its result.
    uint64_t GetEnd() const;
    /// Whether a message has its result.
    bool Has(uint64_t message) const;

    /// Whether it has stopped.
    bool IsHalted() const
    {
        return m_halted;
    }

    /**
     * Other switches aggregate, or other slots, which know of nothing yet: goes on by the settings
     * as they are now, with all messages from `first` on but those that all have. \param had those
     * that this worker has and another one lacks
     */
    void Restart(uint64_t first, std::set<uint64_t> had);

  private:
    /// What one message is under way in.
    struct Slot
    {
        uint64_t message{0};  //!< the one that is under way, or the next one
        uint64_t previous{0}; //!< the one before, or `message`
        uint16_t epoch{0};    //!< modulo 2^16
        bool isBusy{false};
        uint32_t timeouts{0}; //!< in a row
        Time due;             //!< when to send again
        uint32_t sequence{0}; //!< of the next packet of a queue pair
        SlotMessageReceiver receiver{};
    };

    using Pieces = std::vector<SlotMessageReceiver::Piece>;

    void SendFrom(uint64_t first) override;
    uint64_t GetFirstNeeded() const override;
    void Halt() override;
    uint64_t SkipDone(uint64_t message) const;
    uint64_t GetFirstPacket(uint64_t message) const;
    bool KnowsExponent(uint64_t message);
    void ResetSlots(uint64_t first);
    void SendIfIdle(uint64_t message);
    void SendNext(uint32_t slot);
    void Send(uint32_t slot);
    void SendPacket(uint32_t slot, uint32_t place);
    uint32_t GetTag(uint64_t packet);
    Time GetTimeout(const Slot& slot) const;
    bool IsExpected(const SlotHeader& header, const Slot& slot);
    void FinishMessage(uint64_t message, const Pieces& pieces, AggregationStatistics& statistics);
    void OnTimer() override;
    bool OnTimeout(uint32_t slot);

    const Settings& m_settings;
    SwitchMlBackoff m_backoff;
    std::vector<Slot> m_slots;
    std::set<uint64_t> m_had; //!< that are sent once more for the sake of others
    uint32_t m_busySlots{0};
    bool m_halted{false};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_WORKER_H
