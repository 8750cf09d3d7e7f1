// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EXCHANGE_ENGINE_H
#define GRADSYNC_EXCHANGE_ENGINE_H

#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/plan.h"
#include "ns3/traced-callback.h"
#include "ns3/transport.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{
class Node;
}

namespace ns3::gradsync
{

class ExchangeApplication;
class JobExecution;

/// One training job: a plan that is executed once per iteration.
struct Job
{
    std::string name;
    std::shared_ptr<const Plan> plan;
    std::vector<uint32_t> endpointOf; //!< [rank] -> endpoint index; distinct
    uint32_t iterations{1};
    Time start;   //!< when the first iteration starts
    Time compute; //!< forward and backward pass of every worker, before its exchange starts
    /// Time that a receiver needs to add one byte of a TransferReduce (serial per rank), in
    /// seconds; 0: free.
    double reduceSecondsPerByte{0.0};
    Time timeout; //!< an iteration that takes longer has failed; 0: no limit
};

/// Why a run could not be finished.
struct ExchangeFailure
{
    std::string reason; //!< one line for the user: job, iteration, what and why
    uint32_t job;
    uint32_t iteration;
    std::vector<OperationId>
        unfinished; //!< operations of that job's current iteration not done, ascending
};

/// An iteration as the trace source reports it.
struct IterationRecord
{
    uint32_t job;
    uint32_t iteration; //!< from 0
    Time start;         //!< the workers begin to compute
    Time exchangeStart; //!< the first worker begins to exchange
    Time end;           //!< the last operation of the plan is done
    Time compress;      //!< compression of the rank that has the most of it
    Time decompress;    //!< likewise
    Time network;       //!< at least one transfer was on its way; 0 when not compressed
};

/// A transfer as the trace source reports it.
struct TransferRecord
{
    uint32_t job;
    uint32_t iteration;
    OperationId operation;
    Time start; //!< handed to the transport
    Time end;   //!< delivered (before the receiver's reduce time)
};

/**
 * Executes the plans of all jobs on a transport.
 *
 * Bulk-synchronous: an iteration of a job starts when its previous one is done at every rank. Every
 * rank is an ExchangeApplication installed on an ns-3 Node. Operations that become ready together
 * start in ascending id.
 */
class ExchangeEngine : public Object
{
  public:
    static TypeId GetTypeId();

    ExchangeEngine();
    ~ExchangeEngine() override;

    /// Must be called before AddJob. The transport must be installed.
    void SetTransport(const Ptr<Transport>& transport);

    /// \returns the index of the job. \throws std::invalid_argument when the ranks do not fit the
    /// plan
    uint32_t AddJob(Job job);

    const Job& GetJob(uint32_t job) const;
    uint32_t GetJobCount() const;

    /// The ns-3 Node at an endpoint; made when a job first uses it, nullptr before.
    Ptr<Node> GetNode(uint32_t endpoint) const;

    /// The application of one rank: its start and stop times and Attributes may be changed before
    /// they count.
    Ptr<ExchangeApplication> GetApplication(uint32_t job, uint32_t rank) const;

    /**
     * Computations of the ranks at an endpoint that begin from now on take factor() times as long.
     * \param factor called once a computation; empty: 1
     */
    void SetSlowdown(uint32_t endpoint, std::function<double()> factor);

    /// True when every iteration of every job is done.
    bool IsFinished() const;

    /// True when every job is finished or has failed: nothing can disturb or help it any more.
    bool IsSettled() const;

    /// After Simulator::Run: empty when finished, else what is missing ("stalled": nothing left to
    /// happen).
    std::optional<ExchangeFailure> GetFailure() const;

    uint64_t GetTotalBytes() const;     //!< bytes that all transfers of all iterations move
    uint64_t GetDeliveredBytes() const; //!< of these, delivered so far

    /// Signatures of the trace sources.
    using IterationCallback = void (*)(const IterationRecord& record);
    using TransferCallback = void (*)(const TransferRecord& record);

  protected:
    void DoDispose() override;

  private:
    friend class JobExecution;

    Ptr<ExchangeApplication> MakeApplication(const Job& job, uint32_t rank);
    // Called by the executions of the jobs.
    void StartReady(uint32_t job);
    void OnTimeout(uint32_t job);
    Time StretchCompute(uint32_t endpoint, const Time& duration);
    void AddDelivered(uint64_t bytes);
    bool IsTransferTraced() const;
    void TraceIteration(const IterationRecord& record);
    void TraceTransfer(const TransferRecord& record);

    Ptr<Transport> m_transport;
    std::vector<std::unique_ptr<JobExecution>> m_jobs;
    std::map<uint32_t, Ptr<Node>> m_nodes;                   //!< by endpoint
    std::map<uint32_t, std::function<double()>> m_slowdowns; //!< by endpoint
    uint64_t m_totalBytes{0};
    uint64_t m_deliveredBytes{0};
    TracedCallback<const IterationRecord&> m_iterationTrace; //!< trace source "Iteration"
    TracedCallback<const TransferRecord&> m_transferTrace;   //!< trace source "Transfer"
};

} // namespace ns3::gradsync

#endif // GRADSYNC_EXCHANGE_ENGINE_H
