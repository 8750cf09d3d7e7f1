// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PROGRESS_PROBE_H
#define GRADSYNC_PROGRESS_PROBE_H

#include "ns3/exchange-engine.h"
#include "ns3/scenario-runner.h"

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
        const auto now = Clock::now();
        if (now - m_last >= std::chrono::milliseconds(200))
        {
            m_last = now;
            m_progress(m_engine->GetDeliveredBytes());
        }
    }

    Ptr<ExchangeEngine> m_engine;
    const ProgressCallback& m_progress;
    Clock::time_point m_last{Clock::now()};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PROGRESS_PROBE_H
