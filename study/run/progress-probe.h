// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PROGRESS_PROBE_H
#define GRADSYNC_PROGRESS_PROBE_H

#include "ns3/exchange-engine.h"
#include "ns3/scenario-runner.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace ns3::gradsync
{

/// Reports progress by the wall clock, which never touches the simulation.
class ProgressProbe
{
  public:
    ProgressProbe(const Ptr<ExchangeEngine>& engine, const ProgressCallback& progress)
        : m_engine(engine),
          m_progress(progress)
    {
        if (m_progress)
        {
            m_engine->TraceConnectWithoutContext("Delivery",
                                                 MakeCallback(&ProgressProbe::OnDelivery, this));
        }
    }

    ~ProgressProbe()
    {
        if (m_progress)
        {
            m_engine->TraceDisconnectWithoutContext("Delivery",
                                                    MakeCallback(&ProgressProbe::OnDelivery, this));
        }
    }

    ProgressProbe(const ProgressProbe&) = delete;
    ProgressProbe& operator=(const ProgressProbe&) = delete;

  private:
    using Clock = std::chrono::steady_clock;

    void OnDelivery(uint64_t /* bytes */)
    {
        if (--m_unseen == 0)
        {
            Look();
        }
    }

    /// A look at the clock takes as long as several short messages: where they are many, most pass
    /// without one.
    void Look()
    {
        constexpr uint32_t MOST = 64;
        const auto now = Clock::now();
        const bool isSoon = now - m_look < std::chrono::milliseconds(10);
        m_stride = isSoon ? std::min(2 * m_stride, MOST) : 1;
        m_unseen = m_stride;
        m_look = now;
        if (now - m_told >= std::chrono::milliseconds(200))
        {
            m_told = now;
            m_progress(m_engine->GetDeliveredBytes());
        }
    }

    Ptr<ExchangeEngine> m_engine;
    const ProgressCallback& m_progress;
    Clock::time_point m_look{Clock::now()};
    Clock::time_point m_told{m_look};
    uint32_t m_stride{1}; //!< deliveries from one look to the next
    uint32_t m_unseen{1}; //!< until then
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PROGRESS_PROBE_H
