// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RESENDING_WORKER_H
#define GRADSYNC_RESENDING_WORKER_H

#include "ns3/aggregation-worker.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <set>
#include <string>

namespace ns3::gradsync
{

/**
 * A worker that gets an answer to each packet that it sends. One that has got none for a timeout
 * sends all that is under way again; the timeout is doubled with each time in a row, up to 64
 * times, and after so many as the job says it gives up.
 */
class ResendingWorker : public AggregationWorker
{
  public:
    /// \param job,timeout,port must outlive the worker
    ResendingWorker(const AggregationJob& job,
                    const Time& timeout,
                    uint16_t rank,
                    uint32_t endpoint,
                    FabricPort& port);

    bool IsHalted() const
    {
        return m_halted;
    }

  protected:
    /// Packets without answer.
    const std::set<uint64_t>& GetUnderWay() const
    {
        return m_underWay;
    }

    /// A packet leaves for the first time.
    void Launch(uint64_t number);
    /// \returns false for the answer to a packet that is not under way: it came twice
    bool TakeAnswer(uint64_t number);
    /// After all that follows from an answer: with nothing under way, nothing is waited for.
    void Settle();
    /// What is under way is of no use any more.
    void ForgetUnderWay();

    void Halt() override;

  private:
    /// Makes a packet and transmits it, for the first time or again.
    virtual void Send(uint64_t number) = 0;
    /// Why it gives up, for the user.
    virtual std::string DescribeSilence() const = 0;

    void OnTimer() override;
    Time GetPatience() const;

    const Time& m_timeout;
    bool m_halted{false};
    std::set<uint64_t> m_underWay;
    Time m_progress;        //!< when the last answer came, or the first packet left
    uint32_t m_timeouts{0}; //!< since then
};

} // namespace ns3::gradsync

#endif // GRADSYNC_RESENDING_WORKER_H
