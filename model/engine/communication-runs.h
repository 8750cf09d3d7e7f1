// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_COMMUNICATION_RUNS_H
#define GRADSYNC_COMMUNICATION_RUNS_H

#include "ns3/plan-execution.h"
#include "ns3/transfer-carrier.h"
#include "ns3/workload-aggregations.h"
#include "ns3/workload-parts.h"
#include "ns3/workload.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3::gradsync
{

class CollectiveRecords;

/**
 * The communications of a workload that are under way.
 *
 * Each is a PlanExecution that is made when its first rank comes to it, starts at each rank when
 * that rank is ready, ends at each when its own part is done, and is freed when all of it is: no
 * barrier that the workload does not draw, and no memory for what has not begun.
 *
 * Where several processes simulate the ranks, one that they have in common has the same number in
 * all of them, and is also made when something is heard of it from ranks elsewhere that began it.
 */
class CommunicationRuns final : private PlanExecution::Listener, private ExecutionSource
{
  public:
    /// Is told how they go on. May start any communication from each of these calls.
    class Owner
    {
      public:
        /// The part of one rank is done.
        virtual void OnPartEnded(TaskId part) = 0;
        /// All of a communication is; it is gone.
        virtual void OnCommunicationEnded() = 0;
        /// A message has arrived.
        virtual void OnDelivered(uint64_t bytes) = 0;
        /// \param reason one line for the user \param isOfNetwork the network does not aggregate
        virtual void OnCommunicationFailed(const std::string& reason, bool isOfNetwork) = 0;

      protected:
        ~Owner() = default;
    };

    /**
     * \param executions of the ranks; outlives this, as does all else
     * \param aggregations open for the workload
     * \param records of the workload; nullptr: all is simulated
     * \param share of the workload; nullptr: all ranks are simulated here
     * \throws std::invalid_argument see NumberChannels
     */
    CommunicationRuns(ExecutionTable& executions,
                      WorkloadAggregations& aggregations,
                      Owner& owner,
                      const Workload& workload,
                      const std::vector<ExchangeApplication*>& ranks,
                      CollectiveRecords* records,
                      const WorkloadShare* share);
    ~CommunicationRuns();
    CommunicationRuns(const CommunicationRuns&) = delete;
    CommunicationRuns& operator=(const CommunicationRuns&) = delete;

    /// A member begins its part.
    void Start(CommunicationId id, uint32_t member);
    /// All members do.
    void StartTogether(CommunicationId id);
    /// Nothing is sent any more.
    void Halt();

    size_t CountRunning() const
    {
        return m_running.size();
    }

  private:
    struct Running
    {
        CommunicationId communication;
        std::unique_ptr<TransferCarrier> carrier; //!< may be null
        std::unique_ptr<PlanExecution> execution;
    };

    // PlanExecution::Listener
    void OnRankEnded(PlanExecution& execution, uint32_t member) override;
    void OnEnded(PlanExecution& execution) override;
    void OnTransferDelivered(PlanExecution& execution, OperationId id, uint64_t bytes) override;
    void OnTransferFailed(PlanExecution& execution,
                          OperationId id,
                          const std::string& reason) override;
    void OnSumWrong(PlanExecution& execution, OperationId id, const std::string& reason) override;

    // ExecutionSource
    void Provide(uint32_t number) override;

    PlanExecution& Find(CommunicationId id);
    void Share(CommunicationId id, PlanExecution::Setup& setup) const;
    std::string DescribeFailure(const PlanExecution& execution,
                                OperationId id,
                                const std::string& reason) const;

    ExecutionTable& m_executions;
    WorkloadAggregations& m_aggregations;
    Owner& m_owner;
    const Workload& m_workload;
    const std::vector<ExchangeApplication*>& m_ranks;
    CollectiveRecords* m_records;
    const WorkloadShare* m_share;
    bool m_ordersSends;         //!< by communications, where no switch meets what was ready first
    std::vector<bool> m_isOver; //!< [communication], with a share
    std::vector<uint32_t> m_firstStreams;           //!< [communication] of the transport
    std::map<uint32_t, Running> m_running;          //!< by number of the execution
    std::map<CommunicationId, uint32_t> m_numberOf; //!< of those that run
};

} // namespace ns3::gradsync

#endif // GRADSYNC_COMMUNICATION_RUNS_H
