// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ASYNCHRONOUS_TRANSFERS_H
#define GRADSYNC_ASYNCHRONOUS_TRANSFERS_H

#include "ns3/asynchronous-job.h"
#include "ns3/exchange-application.h"
#include "ns3/execution-table.h"
#include "ns3/fetch-queues.h"
#include "ns3/plan-execution.h"
#include "ns3/shard-plans.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What a worker and all servers of an asynchronous job have to do with each other.
enum class ShardTransferKind : uint8_t
{
    Push,
    Pull,
    Request
};

/// One of these that is under way.
struct ShardTransfer
{
    ShardTransferKind kind;
    uint32_t worker;
    uint32_t clock;               //!< of the worker, with what it pushes
    std::optional<uint32_t> asks; //!< number of the pull that a server may then answer
    std::shared_ptr<const OthersUpdates> others{}; //!< of a push: what it was computed with
    uint32_t staleness{0}; //!< likewise: the most of the shards that have applied it
    uint32_t applied{0};   //!< likewise, so many
};

/// The messages between workers and servers: a PlanExecution for each ShardTransfer. Where a worker
/// serves a shard itself, that one has what it pushes, and answers it, at once.
class AsynchronousTransfers final : private PlanExecution::Listener
{
  public:
    /// Is told how they go on, and may begin others from each of these calls.
    class Observer
    {
      public:
        /// The server of a shard has added what was pushed, or has the request.
        virtual void OnArrived(ShardTransfer& transfer, uint32_t shard) = 0;
        /// All of it is done, and it is not there any more.
        virtual void OnDone(const ShardTransfer& transfer) = 0;
        virtual void OnMessage(uint64_t bytes) = 0;
        virtual void OnLost(uint32_t worker, uint32_t server, const std::string& reason) = 0;

      protected:
        ~Observer() = default;
    };

    /// \param applications [rank]; they outlive it, as do the table and the observer
    AsynchronousTransfers(const AsynchronousJob& job,
                          std::span<const Ptr<ExchangeApplication>> applications,
                          ExecutionTable& executions,
                          Observer& observer);

    /// A push or a request begins at the worker.
    void Send(const ShardTransfer& transfer);

    /// A worker waits for all shards. \returns its number
    uint32_t OpenPull(uint32_t worker, uint32_t clock);

    /// The server of a shard answers.
    void Answer(uint32_t pull, uint32_t shard);

    /// Nothing of that worker is waited for any more.
    void Drop(uint32_t worker);

    /// No message is sent any more.
    void Halt();

    bool IsIdle() const;

    /// Messages so far.
    uint64_t CountMessages() const;

  private:
    struct Run
    {
        ShardTransfer transfer;
        std::unique_ptr<PlanExecution> execution;
        bool isDelivered{false};
        bool hasOwn{false}; //!< of a pull: the shard that its worker serves has answered
    };

    // PlanExecution::Listener
    void OnRankEnded(PlanExecution& execution, uint32_t member) override;
    void OnEnded(PlanExecution& execution) override;
    void OnTransferDelivered(PlanExecution& execution, OperationId id, uint64_t bytes) override;
    void OnTransferFailed(PlanExecution& execution,
                          OperationId id,
                          const std::string& reason) override;
    void OnSumWrong(PlanExecution& execution, OperationId id, const std::string& reason) override;

    PlanExecution& Add(const ShardTransfer& transfer);
    void EndIfDone(uint32_t number);

    ShardPlans m_plans;
    std::span<const Ptr<ExchangeApplication>> m_applications;
    ExecutionTable& m_executions;
    Observer& m_observer;
    std::map<uint32_t, Run> m_runs; //!< by number of the execution
    uint64_t m_messages{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ASYNCHRONOUS_TRANSFERS_H
