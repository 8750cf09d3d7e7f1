// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_WORKER_H
#define GRADSYNC_SLOT_WORKER_H

#include "ns3/aggregation-worker.h"
#include "ns3/event-id.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/**
 * The end of the slot protocol at a worker: sends packet i by slot i mod N when the result of
 * packet i - N is there, and sends again what has no result in time.
 */
class SlotWorker final : public AggregationWorker
{
  public:
    /// What the workers of a job have in common beyond all protocols.
    struct Settings
    {
        uint32_t slots;
        Time timeout;
    };

    SlotWorker(const AggregationJob& job,
               const Settings& settings,
               uint16_t rank,
               uint32_t endpoint,
               FabricPort& port);
    ~SlotWorker() override;

    void OnResult(const SlotPacket& packet, AggregationStatistics& statistics) override;

    /// The packet that a slot is at: all before it have their results.
    uint64_t GetPacket(uint32_t slot) const
    {
        return m_slots[slot].packet;
    }

    /// Whether it has stopped.
    bool IsHalted() const
    {
        return m_halted;
    }

    /**
     * Other switches add up, which know of nothing yet: goes back to these packets. Another worker
     * may lack a result that this one has, of at most one packet a slot.
     * \param first [slot] the earliest that any worker is at
     */
    void Restart(const std::vector<uint64_t>& first);

  private:
    struct Slot
    {
        uint64_t packet{0}; //!< the one that is under way, or the next one
        bool isBusy{false};
        bool hadResult{false}; //!< it is sent once more for the sake of others
        uint32_t timeouts{0};  //!< in a row
        Time due;              //!< when to send again
    };

    void SendFrom(uint64_t first) override;
    void Halt() override;
    void SendNext(uint32_t slot);
    void Send(uint32_t slot);
    void SetTimer(const Time& due);
    void CancelTimer();
    void OnTimer();
    bool OnTimeout(uint32_t slot);

    const Settings& m_settings;
    std::vector<Slot> m_slots;
    uint32_t m_busySlots{0};
    bool m_halted{false};
    EventId m_timer;
    Time m_timerDue{Time::Max()}; //!< Time::Max(): it is not pending
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_WORKER_H
