// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EXCHANGE_APPLICATION_H
#define GRADSYNC_EXCHANGE_APPLICATION_H

#include "ns3/application.h"
#include "ns3/event-impl.h"
#include "ns3/execution-table.h"
#include "ns3/nstime.h"
#include "ns3/plan.h"
#include "ns3/state-words.h"
#include "ns3/traced-callback.h"
#include "ns3/transport.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace ns3::gradsync
{

class HostSlowdowns;
class TransferCarrier;

/// Whose iterations a rank takes part in.
class RankOwner
{
  public:
    /// The start time of the rank has come.
    virtual void OnRankStarted() = 0;
    /// Whether ranks compute before they exchange; else a plan tells them when to.
    virtual bool ComputesFirst() const = 0;
    /// \param computedSince when its computation began
    virtual void OnRankExchanging(uint32_t rank, const Time& computedSince) = 0;

  protected:
    ~RankOwner() = default;
};

/**
 * One rank of one job on its ns-3 Node.
 *
 * For its job it computes, once an iteration. For the executions of plans that it is a rank of it
 * sends, and computes and adds one thing after the other. Before its start time it receives but
 * does not compute or send; after its stop time it does nothing any more, and the job stalls.
 */
class ExchangeApplication : public Application, public MessageHandler
{
  public:
    static TypeId GetTypeId();

    ExchangeApplication();
    ~ExchangeApplication() override;

    /// What a rank works with.
    struct Place
    {
        uint32_t rank;
        uint32_t endpoint; //!< of the transport
        Ptr<Transport> transport;
        const ExecutionTable* executions; //!< of the job
        const HostSlowdowns* slowdowns;   //!< nullptr: there are none
    };

    /// Makes this application a rank. \param owner nullptr: it takes part in no iterations
    void Attach(const Place& place, RankOwner* owner);

    /// Forgets job and executions: whatever arrives from now on is ignored.
    void Detach();

    uint32_t GetRank() const;

    uint32_t GetEndpoint() const
    {
        return m_place.endpoint;
    }

    bool IsStopped() const;
    /// Stopped or crashed: it does nothing.
    bool IsHalted() const;

    /// The host crashes: all that this rank has is lost, until a later iteration begins.
    void Crash();
    /// The host is back; the rank waits for an iteration to begin.
    void Restart();
    bool IsCrashed() const;

    /// Has been there since the iteration began: it holds its gradient.
    bool HasBegun() const;

    /// What this rank has in hand is not waited for by what it begins next.
    void DropWork();

    /// The job begins an iteration. This rank computes first, if it has started and contributes.
    void BeginIteration();

    /// It has computed in this iteration.
    bool IsExchanging() const;

    /// Transfers that each execution has under way at this rank at once; 0: no limit.
    uint32_t GetMaxOutstandingSends() const
    {
        return m_maxOutstanding;
    }

    /// A message of this rank.
    struct Transfer
    {
        uint64_t tag; //!< as ExecutionTable::MakeTag makes them
        uint32_t stream;
        uint64_t bytes;
        bool isAdded; //!< by the receiver, to what it has: DGT may lose some of it
    };

    /// Sends a transfer to the endpoint of its receiver, whose application is told.
    /// \param carrier may see to it in place of the transport; nullptr: there is none
    void Issue(const Transfer& transfer, ExchangeApplication& to, TransferCarrier* carrier);

    /// Fetches what Issue will look for in the transport, some transfers ahead.
    void PrefetchIssue(uint32_t stream, const ExchangeApplication& to) const;

    /// Takes part in an aggregation of the network. \param message all but tag and handler \param
    /// tag as of Transfer; likewise below
    void Aggregate(uint64_t tag, AggregationMessage message);

    /// A transfer has arrived.
    void TraceReceive(OperationId id, uint64_t bytes);

    /// That it takes to add so many bytes.
    Time GetReduceTime(uint64_t bytes) const;

    /// Likewise of any rank that takes so long for a byte.
    static Time GetReduceTime(uint64_t bytes, double secondsPerByte);

    /**
     * Adds that many bytes, after what is in hand, and tells the execution when that is done.
     * \returns false when that takes no time: nothing was begun
     */
    bool StartReduce(uint64_t tag, uint64_t bytes);

    /// Computes for that long, after what that processor of the rank has in hand, and tells the
    /// execution when that is done. The first processor trains and adds what is reduced, too.
    void StartCompute(uint64_t tag, const Time& duration, uint32_t processor = 0);

    /// Likewise for what slowdowns of the host make longer.
    void StartTask(uint64_t tag, const Time& duration, uint32_t processor);

    /// When a processor of the rank has done what it has in hand.
    Time GetBusyUntil(uint32_t processor) const
    {
        return m_busyUntil.at(processor);
    }

    /// The EventOrder of its events.
    uint32_t GetOrder() const;

    /// Tells the execution when that time is over, whatever else the rank does meanwhile.
    void Delay(uint64_t tag, const Time& latency);

    /**
     * Computes the gradient, after what is in hand, and tells the execution. One that is told to
     * while it still computes an earlier one does so afterwards; of several only the last.
     */
    void StartTraining(uint64_t tag);

    /// What decides how it goes on, at an IterationBoundary of its job.
    void AddState(StateWords& words) const;

    // MessageHandler
    void OnDelivered(uint64_t tag) override;
    void OnSentElsewhere(uint64_t tag, const Time& at) override;
    void OnArriving(uint64_t tag, const Time& at, uint32_t order) override;
    void OnFailed(uint64_t tag, const std::string& reason) override;
    void OnWrongSum(uint64_t tag, const std::string& reason) override;

    /// What another process, which simulates this rank, has told happens to an operation now.
    void OnTold(uint64_t tag, OperationNews news);

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
    void FinishDelay(uint64_t tag, uint32_t life);
    void FinishTraining(uint64_t tag, uint32_t life, const Time& since);
    ByteRange FindDroppable(uint64_t bytes) const;
    void CancelExchange();
    Time Stretch(const Time& duration) const;
    OperationObserver* FindObserver(uint64_t tag) const;

    // What a delivery touches: MessageHandler::DELIVERY_BYTES, with its head before.
    Place m_place{};
    Phase m_phase{Phase::Waiting};
    bool m_started{false};
    bool m_begun{false};
    bool m_iterationPending{false}; //!< an iteration began that this rank has not taken up
    uint32_t m_maxOutstanding{0};   //!< attribute MaxOutstandingSends
    double m_reduceSecondsPerByte;  //!< attribute ReduceSecondsPerByte
    TracedCallback<uint32_t, OperationId, uint64_t> m_receiveTrace;

    RankOwner* m_owner{nullptr};
    uint32_t m_life{0}; //!< crashes so far: reductions of an earlier life never end
    std::map<uint32_t, Time> m_busyUntil;   //!< [processor] end of the computing in hand
    Ptr<EventImpl> m_exchangeEvent;         //!< null before the first iteration
    std::optional<uint64_t> m_nextTraining; //!< to begin when the one in hand is done
    bool m_isTraining{false};
    Time m_computedSince;
    Time m_computeTime;     //!< attribute ComputeTime
    double m_reliableShare; //!< attribute ReliableShare
    uint64_t m_blockBytes;  //!< attribute BlockBytes
    TracedCallback<uint32_t, OperationId, uint64_t> m_sendTrace;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_EXCHANGE_APPLICATION_H
