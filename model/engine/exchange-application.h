// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EXCHANGE_APPLICATION_H
#define GRADSYNC_EXCHANGE_APPLICATION_H

#include "ns3/application.h"
#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/plan.h"
#include "ns3/traced-callback.h"
#include "ns3/transport.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <vector>

namespace ns3::gradsync
{

class JobExecution;

/**
 * One rank of one job on its ns-3 Node.
 *
 * It computes, then sends what the plan asks of its rank, and adds up what it receives. Before its
 * start time it receives but does not compute or send; after its stop time it does nothing any
 * more, and the job stalls.
 */
class ExchangeApplication : public Application, public MessageHandler
{
  public:
    static TypeId GetTypeId();

    ExchangeApplication();
    ~ExchangeApplication() override;

    /// Makes this application rank `rank` of a job, at the given endpoint of the transport.
    void Attach(JobExecution* job,
                uint32_t rank,
                uint32_t endpoint,
                const Ptr<Transport>& transport);

    /// Forgets the job: whatever arrives from now on is ignored.
    void Detach();

    uint32_t GetRank() const;
    bool IsStopped() const;

    /// The host crashes: all that this rank has is lost, until a later iteration begins.
    void Crash();
    /// The host is back; the rank waits for an iteration to begin.
    void Restart();
    bool IsCrashed() const;

    /// Has been there since the iteration began: it holds its gradient.
    bool HasBegun() const;

    /// The job abandons a plan: what this rank was about to do for it is not done.
    void AbandonPlan();

    /// What was kept for this rank is not done.
    void DropDeferred();

    /// The job begins an iteration. This rank computes first, if it has started and contributes.
    void BeginIteration();

    /// True while this rank may run operations of the current iteration.
    bool IsExchanging() const;

    /// Keeps an operation until the rank is exchanging. Called in ascending order of ids at first.
    void Defer(OperationId operation);

    /// Whether this rank may have one more transfer under way.
    bool MayIssue() const
    {
        return m_maxOutstanding == 0 || m_outstanding < m_maxOutstanding;
    }

    /// Keeps a transfer that may start until another one of this rank is delivered.
    void Hold(OperationId operation);

    /// One more transfer is under way for which the limit counts.
    void CountSend()
    {
        ++m_outstanding;
    }

    /// A transfer that counted is delivered, or waited for no more. \returns the one that may start
    /// in its place
    std::optional<OperationId> OnSent();

    /// A transfer that was kept and may start now, if there is one.
    std::optional<OperationId> TakeHeld();

    /**
     * Sends a transfer of this rank to the endpoint of its receiver, whose application is told.
     * \param tag as JobExecution::MakeTag makes them; likewise below
     */
    void Issue(uint64_t tag, const Operation& operation, uint64_t bytes, ExchangeApplication& to);

    /// Takes part in an aggregation of the network. \param message all but tag and handler
    void Aggregate(OperationId id, AggregationMessage message);

    /**
     * Adds that many bytes, after what is in hand, and tells the job when the operation is done.
     * \returns false when that takes no time: nothing was begun
     */
    bool StartReduce(uint64_t tag, uint64_t bytes);

    /// Computes for that long, after what that processor of the rank has in hand, and tells the job
    /// when the operation is done. The first processor trains and adds what is reduced, too.
    void StartCompute(uint64_t tag, const Time& duration, uint32_t processor = 0);

    /**
     * Computes the gradient, after what is in hand, and tells the job. One that is told to while it
     * still computes an earlier one does so afterwards; of several only the last.
     */
    void StartTraining(uint64_t tag);

    // MessageHandler; tags as JobExecution::MakeTag makes them
    void OnDelivered(uint64_t tag) override;
    void OnFailed(uint64_t tag, const std::string& reason) override;
    void OnWrongSum(uint64_t tag, const std::string& reason) override;

    /// Signature of the trace sources "Send" and "Receive": rank, operation, bytes.
    using TransferCallback = void (*)(uint32_t rank, OperationId operation, uint64_t bytes);

  protected:
    void DoDispose() override;

  private:
    enum class Phase : uint8_t
    {
        Waiting, //!< for the start time, or for the next iteration
        Computing,
        Exchanging,
        Crashed,
        Stopped
    };

    void StartApplication() override;
    void StopApplication() override;
    void BeginCompute();
    void BeginExchange();
    void FinishCompute(uint64_t tag, uint32_t life);
    void FinishTraining(uint64_t tag, uint32_t life, const Time& since);

    JobExecution* m_job{nullptr};
    Ptr<Transport> m_transport;
    uint32_t m_rank{0};
    uint32_t m_endpoint{0};
    Phase m_phase{Phase::Waiting};
    bool m_started{false};
    bool m_begun{false};
    uint32_t m_life{0};             //!< crashes so far: reductions of an earlier life never end
    bool m_iterationPending{false}; //!< an iteration began that this rank has not taken up
    std::vector<OperationId> m_deferred;
    /// Transfers that wait for one under way to be delivered, the lowest id on top.
    std::priority_queue<OperationId, std::vector<OperationId>, std::greater<>> m_held;
    uint32_t m_outstanding{0};            //!< transfers under way
    uint32_t m_maxOutstanding{0};         //!< attribute MaxOutstandingSends
    std::map<uint32_t, Time> m_busyUntil; //!< [processor] end of the computing in hand
    EventId m_exchangeEvent;
    std::optional<uint64_t> m_nextTraining; //!< to begin when the one in hand is done
    bool m_isTraining{false};
    Time m_computedSince;
    Time m_computeTime;            //!< attribute ComputeTime
    double m_reduceSecondsPerByte; //!< attribute ReduceSecondsPerByte
    TracedCallback<uint32_t, OperationId, uint64_t> m_sendTrace;
    TracedCallback<uint32_t, OperationId, uint64_t> m_receiveTrace;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_EXCHANGE_APPLICATION_H
