// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_WORKLOAD_EXECUTION_H
#define GRADSYNC_WORKLOAD_EXECUTION_H

#include "ns3/communication-runs.h"
#include "ns3/execution-table.h"
#include "ns3/scoped-event.h"
#include "ns3/task-log.h"
#include "ns3/task-stream.h"
#include "ns3/workload.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * One run of one workload on given ranks.
 *
 * Streams decide when tasks begin; CommunicationRuns are what they begin of communications.
 */
class WorkloadExecution final : private OperationObserver, private CommunicationRuns::Owner
{
  public:
    /// Is told how it goes on.
    class Owner
    {
      public:
        /// All tasks that this process simulates are done. The last call; the execution may be
        /// destroyed in it.
        virtual void OnWorkloadEnded(WorkloadExecution& execution) = 0;

        /// A message of one of its communications has arrived.
        virtual void OnWorkloadDelivered(WorkloadExecution& /* execution */, uint64_t /* bytes */)
        {
        }

        /// Nothing more will happen. \param reason one line for the user
        /// \param isOfNetwork the network does not aggregate any more
        virtual void OnWorkloadFailed(WorkloadExecution& execution,
                                      const std::string& reason,
                                      bool isOfNetwork) = 0;

      protected:
        ~Owner() = default;
    };

    /**
     * \param executions of the ranks; outlives the execution, as do owner and ranks
     * \param ranks [rank]
     * \param aggregations open for the workload; outlive the execution
     * \param records of the workload, likewise; nullptr: all is simulated
     * \param share of the workload, likewise: ranks that other processes simulate are not started
     * here, and it ends when those of this one are done; nullptr: all are simulated here
     * \throws std::invalid_argument when a plan has a gate, which workloads do not have
     */
    WorkloadExecution(ExecutionTable& executions,
                      WorkloadAggregations& aggregations,
                      Owner& owner,
                      std::shared_ptr<const Workload> workload,
                      std::vector<ExchangeApplication*> ranks,
                      CollectiveRecords* records = nullptr,
                      const WorkloadShare* share = nullptr);
    ~WorkloadExecution();
    WorkloadExecution(const WorkloadExecution&) = delete;
    WorkloadExecution& operator=(const WorkloadExecution&) = delete;

    /// A rank begins what waits for nothing.
    void Start(uint32_t rank);

    /// Nothing is begun any more.
    void Halt();

    const Workload& GetWorkload() const
    {
        return *m_workload;
    }

    /// Of the tasks that this process simulates.
    const TaskLog& GetLog() const
    {
        return m_log;
    }

    /// Tasks of this process that are not done.
    uint32_t GetLeft() const
    {
        return m_left;
    }

    /// Communications that have begun and not ended.
    size_t CountRunning() const
    {
        return m_runs.CountRunning();
    }

  private:
    // OperationObserver: computations
    void OnDelivered(OperationId id) override;
    void OnComputed(OperationId id) override;
    void OnTrained(OperationId id, uint32_t rank, const Time& since) override;
    void OnSkipped(OperationId id) override;
    void OnFailed(OperationId id, const std::string& reason) override;
    void OnWrongSum(OperationId id, const std::string& reason) override;

    // CommunicationRuns::Owner
    void OnPartEnded(TaskId part) override;
    void OnCommunicationEnded() override;
    void OnDelivered(uint64_t bytes) override;
    void OnCommunicationFailed(const std::string& reason, bool isOfNetwork) override;

    TaskStream& GetStream(const WorkloadTask& task);
    uint64_t GetBytes(const WorkloadTask& task) const;
    bool IsHere(const WorkloadTask& task) const;
    bool HasRoom(TaskId id);
    void Reach(TaskId id, TaskId cause);
    void Agree(TaskId id);
    void Serve(uint32_t rank, uint32_t stream);
    void ServeInOrder(TaskStream& stream);
    void ServeByPolicy(TaskStream& stream);
    void ServeLater(const WorkloadTask& task);
    void OnInstantOver();
    void Begin(TaskId id);
    void BeginTogether(CommunicationId id);
    void Finish(TaskId id);
    void Work();
    void Leave(TaskId id);

    ExecutionTable& m_executions;
    Owner& m_owner;
    const WorkloadShare* m_share;
    std::shared_ptr<const Workload> m_workload;
    std::vector<ExchangeApplication*> m_ranks;
    uint32_t m_number;
    CommunicationRuns m_runs;
    std::vector<TaskStream> m_streams; //!< [rank * streams + stream]
    std::vector<uint32_t> m_waiting;   //!< [task] predecessors that are not done
    std::vector<uint32_t> m_absent;    //!< [communication] members that are not ready for it
    TaskLog m_log;
    uint32_t m_left;

    std::vector<TaskId> m_finished;                   //!< whose successors are not told
    std::vector<std::pair<uint32_t, uint32_t>> m_due; //!< streams to serve when the instant is over
    ScopedEvent m_serveEvent;
    bool m_isWorking{false};
    bool m_isHalted{false};
    bool m_hasEnded{false};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_WORKLOAD_EXECUTION_H
