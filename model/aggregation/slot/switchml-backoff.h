// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SWITCHML_BACKOFF_H
#define GRADSYNC_SWITCHML_BACKOFF_H

#include "ns3/nstime.h"

#include <cstdint>

namespace ns3::gradsync
{

/**
 * How long SwitchML's client waits for a result: one time for all that is under way, which is
 * doubled whenever so many timeouts have been, and each time it takes more of them
 * (p4lang/p4app-switchML, dev_root/client_lib/src/configs/timeouts.cfg,
 * dpdk_worker_thread_utils.inc, rdma_timeout_queue.cc). Over UDP it begins anew with each
 * aggregation; over RoCEv2 it stays.
 */
class SwitchMlBackoff
{
  public:
    struct Config
    {
        Time timeout;
        uint32_t threshold;
        uint32_t increment;
    };

    explicit SwitchMlBackoff(const Config& config)
        : m_config(config),
          m_timeout(config.timeout),
          m_threshold(config.threshold)
    {
    }

    Time GetTimeout() const
    {
        return m_timeout;
    }

    void OnTimeout()
    {
        if (++m_count >= m_threshold)
        {
            m_count = 0;
            m_threshold += m_config.increment;
            m_timeout = m_doublings < MAX_DOUBLINGS ? m_timeout * 2 : m_timeout;
            ++m_doublings;
        }
    }

    /// The time as it was first; what was counted stays.
    void Reset()
    {
        m_timeout = m_config.timeout;
        m_doublings = 0;
    }

  private:
    /// The client knows no end; this is 2^20 times the timeout, hours of the 10 ms that it has.
    static constexpr uint32_t MAX_DOUBLINGS = 20;

    Config m_config;
    Time m_timeout;
    uint64_t m_threshold;
    uint64_t m_count{0};
    uint32_t m_doublings{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SWITCHML_BACKOFF_H
