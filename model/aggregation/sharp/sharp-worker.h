// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SHARP_WORKER_H
#define GRADSYNC_SHARP_WORKER_H

#include "ns3/aggregation-worker.h"
#include "ns3/packet-tally.h"

#include <cstdint>
#include <set>

namespace ns3::gradsync
{

/**
 * A worker of SHARP: has so many transactions under way as it has credits, in a window that moves
 * on with the oldest one. InfiniBand loses nothing; where links or switches fail, a worker that has
 * no result for a timeout sends all that is under way again.
 */
class SharpWorker final : public AggregationWorker
{
  public:
    /// What the workers of a group have in common.
    struct Settings
    {
        uint32_t credits;     //!< transactions under way
        uint32_t headerBytes; //!< of every packet
        Time timeout;
    };

    /// \param job,settings,port must outlive the worker
    SharpWorker(const AggregationJob& job,
                const Settings& settings,
                uint16_t rank,
                uint32_t endpoint,
                FabricPort& port);

    void OnResult(const AggregationPacket& packet, AggregationStatistics& statistics) override;

    /// The first transaction whose result it has not.
    uint64_t GetFirstMissing() const
    {
        return m_taken.GetFirstMissing();
    }

    bool IsHalted() const
    {
        return m_halted;
    }

    /// Other switches aggregate, which know of nothing yet: goes back to a transaction.
    void Restart(uint64_t first);

  private:
    void SendFrom(uint64_t first) override;
    void Halt() override;
    uint64_t GetFirstNeeded() const override;
    void OnTimer() override;

    void Send(uint64_t number);
    Time GetPatience() const;

    const Settings& m_settings;
    bool m_halted{false};
    uint64_t m_next{0};            //!< the first that was not sent
    std::set<uint64_t> m_underWay; //!< without result, since the last restart
    PacketTally m_taken;           //!< results that it has
    Time m_progress;               //!< when the last result came, or the first packet left
    uint32_t m_timeouts{0};        //!< since then
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SHARP_WORKER_H
