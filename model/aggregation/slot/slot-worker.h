// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_WORKER_H
#define GRADSYNC_SLOT_WORKER_H

#include "ns3/aggregation-worker.h"

#include <cstdint>
#include <set>
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
        std::set<uint64_t> done; //!< packets after the first of a restart that all have
    };

    SlotWorker(const AggregationJob& job,
               const Settings& settings,
               uint16_t rank,
               uint32_t endpoint,
               FabricPort& port);

    void OnResult(const AggregationPacket& packet, AggregationStatistics& statistics) override;

    /// All packets before it have their results.
    uint64_t GetFirstMissing() const;
    /// No packet from here on has its result.
    uint64_t GetEnd() const;
    /// Whether a packet has its result.
    bool Has(uint64_t packet) const;

    /// Whether it has stopped.
    bool IsHalted() const
    {
        return m_halted;
    }

    /**
     * Other switches aggregate, or other slots, which know of nothing yet: goes on by the settings
     * as they are now, with all packets from `first` on but those that all have. \param had those
     * that this worker has and another one lacks
     */
    void Restart(uint64_t first, std::set<uint64_t> had);

  private:
    struct Slot
    {
        uint64_t packet{0};   //!< the one that is under way, or the next one
        uint64_t previous{0}; //!< the one before, or `packet`
        uint16_t epoch{0};    //!< modulo 2^16
        bool isBusy{false};
        uint32_t timeouts{0}; //!< in a row
        Time due;             //!< when to send again
    };

    void SendFrom(uint64_t first) override;
    uint64_t GetFirstNeeded() const override;
    void Halt() override;
    uint64_t SkipDone(uint64_t packet) const;
    bool KnowsExponent(uint64_t packet);
    void SendIfIdle(uint64_t packet);
    void SendNext(uint32_t slot);
    void Send(uint32_t slot);
    void OnTimer() override;
    bool OnTimeout(uint32_t slot);

    const Settings& m_settings;
    std::vector<Slot> m_slots;
    std::set<uint64_t> m_had; //!< that are sent once more for the sake of others
    uint32_t m_busySlots{0};
    bool m_halted{false};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_WORKER_H
