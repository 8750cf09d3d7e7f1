// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ATP_WORKER_H
#define GRADSYNC_ATP_WORKER_H

#include "ns3/aggregation-worker.h"

#include <cstdint>
#include <map>

namespace ns3::gradsync
{

/**
 * A worker of ATP (NSDI 2021, sections 3.6 and 3.7): a window of packets from the first that has no
 * answer on, one packet larger with each window of answers and halved when one says that there is
 * congestion; what has no answer in time is sent again, marked as such.
 */
class AtpWorker final : public AggregationWorker
{
  public:
    /// What ATP's workers have in common beyond all protocols.
    struct Settings
    {
        uint32_t server;    //!< endpoint
        uint32_t maxWindow; //!< packets
        Time firstTimeout;  //!< of a packet that was sent once
        Time timeout;       //!< afterwards
    };

    AtpWorker(const AggregationJob& job,
              const Settings& settings,
              uint16_t rank,
              uint32_t endpoint,
              FabricPort& port);

    void OnResult(const AggregationPacket& packet, AggregationStatistics& statistics) override;

  private:
    struct Outstanding
    {
        Time due;
        uint32_t timeouts{0};
        bool isFloat{false}; //!< integers will not do: it goes to the server as floats
    };

    void SendFrom(uint64_t first) override;
    void Halt() override;
    void Send(uint64_t packet, bool isResend);
    Time GetTimeout(uint32_t timeouts) const;
    void OnOverflow(uint64_t number, Outstanding& packet, AggregationStatistics& statistics);
    void OnCongestion();
    void OnTimer() override;

    const Settings& m_settings;
    std::map<uint64_t, Outstanding> m_outstanding; //!< by packet
    uint64_t m_next;
    double m_window;         //!< packets
    uint64_t m_reactFrom{0}; //!< congestion of earlier packets is known
    bool m_halted{false};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ATP_WORKER_H
