// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EXCHANGE_ENGINE_H
#define GRADSYNC_EXCHANGE_ENGINE_H

#include "ns3/job.h"
#include "ns3/object.h"
#include "ns3/plan.h"
#include "ns3/traced-callback.h"
#include "ns3/transport.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
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

/// A plan as a job ran it: of all its ranks, or of those that were left.
struct ExecutedPlan
{
    std::shared_ptr<const Plan> plan;
    std::vector<uint32_t> ranks; //!< [rank of the plan] -> rank of the job
    bool isWhole{false};         //!< of a whole gradient, not of what was missing of one
    /// Of what is left of another plan: the index of that one, which transfers name.
    std::optional<uint32_t> whole{};
    std::vector<OperationId> operations{}; //!< likewise: [operation] -> of that one
};

/// Why a run could not be finished.
struct ExchangeFailure
{
    std::string reason; //!< one line for the user: job, iteration, what and why
    uint32_t job;
    uint32_t iteration;
    /// Operations of that job's current iteration not done, ascending.
    std::vector<OperationId> unfinished;
    std::vector<OperationId> inNetwork; //!< of these, transfers under way
    uint32_t plan{0};                   //!< index of their plan, see ExchangeEngine::GetPlans
};

/// An iteration as the trace source reports it.
struct IterationRecord
{
    uint32_t job;
    uint32_t iteration;  //!< from 0
    Time start;          //!< the workers begin to compute
    Time exchangeStart;  //!< the first worker begins to exchange
    Time end;            //!< the last operation of the plan is done
    Time compress;       //!< compression of the rank that has the most of it
    Time decompress;     //!< likewise
    Time network;        //!< at least one transfer was on its way; 0 when not compressed
    uint32_t plan{0};    //!< index of the plan that ended it, see ExchangeEngine::GetPlans
    Time training;       //!< of plans in which workers are told to compute: the longest
    uint32_t replies{0}; //!< of plans with a gate: answers that counted
    uint32_t late{0};    //!< answers to it or earlier iterations that were dropped meanwhile
};

/// A transfer as the trace source reports it.
struct TransferRecord
{
    uint32_t job;
    uint32_t iteration;
    OperationId operation;
    uint32_t plan; //!< index of its plan, see ExchangeEngine::GetPlans
    Time start;    //!< handed to the transport
    Time end;      //!< delivered (before the receiver's reduce time)
};

/// A computation of a rank before its exchange, as the trace source reports it.
struct ComputeRecord
{
    uint32_t job;
    uint32_t iteration;
    uint32_t rank;
    Time start;
    Time end;
};

/// To what a job reacts, and how.
enum class ReactionKind : uint8_t
{
    Replan,   //!< a rank is lost, and the others have a new plan
    Fallback, //!< the network does not add up any more, and workers do so themselves
    Rebuild   //!< other switches, or other slots of them, add up; the plan is the same
};

/// As results have it: "replan".
const char* ToString(ReactionKind kind);

/// A job goes on in another way, as the trace source reports it.
struct ReactionRecord
{
    static constexpr uint32_t NO_RANK = UINT32_MAX;

    Time time;
    uint32_t job;
    uint32_t iteration;
    uint32_t plan;      //!< that is abandoned
    uint32_t rank;      //!< that is lost, or NO_RANK
    uint32_t survivors; //!< ranks that go on
    uint64_t bytes;     //!< of the gradient that are exchanged anew
    ReactionKind kind{ReactionKind::Replan};
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
    /// plan; std::runtime_error with a text for the user when the network cannot add up as it asks
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

    /// The plans that a job has run: first that of all its ranks, then those of survivors.
    std::span<const ExecutedPlan> GetPlans(uint32_t job) const;

    /*
     * A host crashes: its ranks lose all they have, its connections end. Jobs learn of it by
     * NoticeCrash and then go on with the survivors, or fail (Job::planSurvivors). A rank that is
     * back takes part from its job's next iteration on.
     */
    void CrashEndpoint(uint32_t endpoint);
    void RestartEndpoint(uint32_t endpoint);
    void NoticeCrash(uint32_t endpoint);

    /// True when every iteration of every job is done.
    bool IsFinished() const;

    /// True when every job is finished or has failed: nothing can disturb or help it any more.
    bool IsSettled() const;

    /// After Simulator::Run: empty when finished, else what is missing ("stalled": nothing left to
    /// happen).
    std::optional<ExchangeFailure> GetFailure() const;

    uint64_t CountDoneOperations() const; //!< of all jobs, so far
    uint64_t GetTotalBytes() const;       //!< bytes that all transfers of all iterations move
    uint64_t GetDeliveredBytes() const;   //!< of these, delivered so far

    /// Signatures of the trace sources.
    using IterationCallback = void (*)(const IterationRecord& record);
    using TransferCallback = void (*)(const TransferRecord& record);
    using ComputeCallback = void (*)(const ComputeRecord& record);
    using ReactionCallback = void (*)(const ReactionRecord& record);

  protected:
    void DoDispose() override;

  private:
    friend class JobExecution;

    Ptr<ExchangeApplication> MakeApplication(const Job& job, uint32_t rank);
    // Called by the executions of the jobs.
    void StartReady(uint32_t job);
    void OnTimeout(uint32_t job);
    void OnLost(uint32_t job, uint32_t rank);
    void OnUnreachable(uint32_t job, uint32_t rank);
    void OnAggregationLost(uint32_t job, uint32_t attempt);
    void OnRebuilt(uint32_t group);
    void OnGateTimeout(uint32_t job);
    void CloseGate(uint32_t job);
    void OnFinished();
    void StopIfSettled();
    /// Forgets the messages of these applications that are under way.
    void Abandon(std::span<const Ptr<ExchangeApplication>> receivers);
    uint32_t OpenAggregation(const AggregationGroup& group);
    void CloseAggregation(uint32_t group);
    Time StretchCompute(uint32_t endpoint, const Time& duration);
    void AddDelivered(uint64_t bytes);
    bool IsTransferTraced() const;
    void TraceIteration(const IterationRecord& record);
    void TraceTransfer(const TransferRecord& record);
    void TraceReaction(const ReactionRecord& record);
    void TraceCompute(const ComputeRecord& record);

    Ptr<Transport> m_transport;
    std::vector<std::unique_ptr<JobExecution>> m_jobs;
    std::map<uint32_t, Ptr<Node>> m_nodes;                   //!< by endpoint
    std::map<uint32_t, std::function<double()>> m_slowdowns; //!< by endpoint
    uint64_t m_totalBytes{0};
    uint64_t m_deliveredBytes{0};
    TracedCallback<const IterationRecord&> m_iterationTrace; //!< trace source "Iteration"
    TracedCallback<const TransferRecord&> m_transferTrace;   //!< trace source "Transfer"
    TracedCallback<const ReactionRecord&> m_reactionTrace;   //!< trace source "Reaction"
    TracedCallback<const ComputeRecord&> m_computeTrace;     //!< trace source "Compute"
};

} // namespace ns3::gradsync

#endif // GRADSYNC_EXCHANGE_ENGINE_H
