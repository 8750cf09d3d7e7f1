// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EXCHANGE_ENGINE_H
#define GRADSYNC_EXCHANGE_ENGINE_H

#include "ns3/differential-transmission.h"
#include "ns3/engine-hosts.h"
#include "ns3/engine-jobs.h"
#include "ns3/exchange-records.h"
#include "ns3/host-slowdowns.h"
#include "ns3/job-listener.h"
#include "ns3/job.h"
#include "ns3/object.h"
#include "ns3/sending-turns.h"
#include "ns3/state-words.h"
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

/**
 * Executes the plans of all jobs on a transport.
 *
 * Bulk-synchronous: an iteration of a job starts when its previous one is done at every rank. Every
 * rank is an ExchangeApplication installed on an ns-3 Node. Operations that become ready together
 * start in ascending id.
 */
class ExchangeEngine : public Object, private JobListener
{
  public:
    static TypeId GetTypeId();

    ExchangeEngine();
    ~ExchangeEngine() override;

    /// Must be called before AddJob. The transport must be installed.
    void SetTransport(const Ptr<Transport>& transport);

    /**
     * Other processes simulate the same jobs on the same network, each some of the ranks: for jobs
     * whose plans have no gate and no aggregations. Before AddJob. \param share outlives the jobs
     */
    void SetShare(RankShare* share);

    /// \returns the index of the job. \throws std::invalid_argument when the ranks do not fit the
    /// plan; std::runtime_error with a text for the user when the network cannot aggregate as it
    /// asks
    uint32_t AddJob(Job job);

    /// Likewise of a job whose workers do not wait for each other.
    uint32_t AddAsynchronous(AsynchronousJob job);

    /// Likewise of a job that runs whole training iterations.
    uint32_t AddTraining(TrainingJob job);

    const std::string& GetJobName(uint32_t job) const;
    uint32_t GetJobCount() const;

    /// The ns-3 Node at an endpoint; made when a job first uses it or somebody asks for it to be
    /// made, nullptr before.
    Ptr<Node> GetNode(uint32_t endpoint) const;
    Ptr<Node> MakeNode(uint32_t endpoint);
    /// One that the program has made itself. Before a job uses the endpoint.
    void SetNode(uint32_t endpoint, const Ptr<Node>& node);

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

    /**
     * Is called between the iterations of jobs that run the same plan in each, and may look at
     * everything. \returns how many of the iterations that are left are left out
     */
    using BoundaryHandler = std::function<uint32_t(const IterationBoundary& boundary)>;
    void SetBoundaryHandler(BoundaryHandler handler);

    /// What decides how the jobs go on, at an IterationBoundary; several refuse.
    void AddState(StateWords& words) const;

    /// True when every iteration of every job is done.
    bool IsFinished() const;

    /// True when every job is finished or has failed: nothing can disturb or help it any more.
    bool IsSettled() const;

    /// After Simulator::Run: empty when finished, else what is missing ("stalled": nothing left to
    /// happen).
    std::optional<ExchangeFailure> GetFailure() const;

    /// Likewise of one job; whether it has failed, or only not finished.
    std::optional<ExchangeFailure> GetFailure(uint32_t job) const;
    bool HasFailed(uint32_t job) const;

    uint64_t CountDoneOperations() const;      //!< of all jobs, so far
    uint64_t CountRecordedCollectives() const; //!< of these, not simulated

    /// With the Attribute TwinPlanes, when the simulation is over: why it must be repeated without,
    /// one line; empty: it need not.
    std::string FindTwinDifference() const;
    uint64_t GetTotalBytes() const;     //!< bytes that all transfers of all iterations move
    uint64_t GetDeliveredBytes() const; //!< of these, delivered so far

    /// Signatures of the trace sources.
    using IterationCallback = void (*)(const IterationRecord& record);
    using TransferCallback = void (*)(const TransferRecord& record);
    using DeliveryCallback = void (*)(uint64_t bytes);
    using WorkCallback = void (*)(const WorkRecord& record);
    using ComputeCallback = void (*)(const ComputeRecord& record);
    using UpdateCallback = void (*)(const UpdateRecord& record);
    using WorkerStepCallback = void (*)(const WorkerStepRecord& record);
    using TrainingCallback = void (*)(const TrainingRecord& record);
    using ReactionCallback = void (*)(const ReactionRecord& record);

  protected:
    void DoDispose() override;

  private:
    // JobListener
    bool IsTransferTraced() const override;
    void OnTransfer(const TransferRecord& record) override;
    void OnDelivered(uint64_t bytes) override;
    bool IsWorkTraced() const override;
    void OnWork(const WorkRecord& record) override;
    void OnComputation(const ComputeRecord& record) override;
    void OnReaction(const ReactionRecord& record) override;
    void OnIteration(const IterationRecord& record) override;
    bool WatchesBoundaries() const override;
    uint32_t OnBoundary(const IterationBoundary& boundary) override;
    void OnTraining(const TrainingRecord& record) override;
    void OnUpdate(const UpdateRecord& record) override;
    void OnWorkerStep(const WorkerStepRecord& record) override;
    void OnJobFinished() override;
    void OnJobFailed() override;

    template <typename AnyJob>
    uint32_t Prepare(const AnyJob& job);
    JobSite GetSite();
    void HeedTimeout(const Time& timeout);
    void StopIfSettled();

    Ptr<Transport> m_transport;
    SendingTurns m_turns; //!< of all jobs, which it outlives
    EngineJobs m_jobs;
    EngineHosts m_hosts;
    RankShare* m_share{nullptr}; //!< null: all ranks are simulated here
    HostSlowdowns m_slowdowns;
    BoundaryHandler m_boundaryHandler; //!< may be empty
    bool m_stopsSimulator;
    bool m_recordsCollectives;
    bool m_hasTwinPlanes;
    uint64_t m_deliveredBytes{0};
    TracedCallback<const IterationRecord&> m_iterationTrace; //!< trace source "Iteration"
    TracedCallback<const TransferRecord&> m_transferTrace;   //!< trace source "Transfer"
    TracedCallback<const WorkRecord&> m_workTrace;           //!< trace source "Work"
    TracedCallback<uint64_t> m_deliveryTrace;                //!< trace source "Delivery"
    TracedCallback<const ReactionRecord&> m_reactionTrace;   //!< trace source "Reaction"
    TracedCallback<const ComputeRecord&> m_computeTrace;     //!< trace source "Compute"
    TracedCallback<const TrainingRecord&> m_trainingTrace;   //!< trace source "Training"
    TracedCallback<const UpdateRecord&> m_updateTrace;       //!< trace source "Update"
    TracedCallback<const WorkerStepRecord&> m_stepTrace;     //!< trace source "WorkerStep"
};

} // namespace ns3::gradsync

#endif // GRADSYNC_EXCHANGE_ENGINE_H
