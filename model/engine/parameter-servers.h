// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PARAMETER_SERVERS_H
#define GRADSYNC_PARAMETER_SERVERS_H

#include "ns3/asynchronous-job.h"
#include "ns3/asynchronous-transfers.h"
#include "ns3/fetch-queues.h"
#include "ns3/parameter-clocks.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/**
 * What the servers of an asynchronous job do: they apply updates, and answer fetches in the order
 * of the workers as soon as they are asked and the bound allows.
 */
class ParameterServers
{
  public:
    /// Is told of it; an answer may have any consequence.
    class Observer
    {
      public:
        /// All shards have it. \param slowest clock of a worker, as the last one knows
        virtual void OnApplied(const ShardTransfer& push, uint32_t slowest) = 0;
        /// A shard answers.
        virtual void OnAnswer(uint32_t pull, uint32_t shard) = 0;

      protected:
        ~Observer() = default;
    };

    /// \param job outlives it, as does the observer
    ParameterServers(const AsynchronousJob& job, Observer& observer);

    /// A stage of these workers begins.
    void Begin(std::vector<uint32_t> workers);

    /// What a worker will ask for.
    struct Wish
    {
        uint32_t pull;
        uint32_t step; //!< that it has computed
        bool blocks;   //!< it waits for it, so that the bound is kept
    };

    void Expect(uint32_t worker, const Wish& wish);

    /// Whether a fetch is under way.
    bool IsAsked(uint32_t worker) const;

    /// A push or a request is at the server of a shard.
    void Take(ShardTransfer& transfer, uint32_t shard);

    /// A fetch is at its worker.
    ParameterFetch Close(uint32_t worker);

    /// A worker is not waited for any more; AnswerAll then answers those that did.
    void Drop(uint32_t worker);
    void AnswerAll();

  private:
    void Apply(ShardTransfer& push, uint32_t shard);
    void Answer(uint32_t shard);

    const AsynchronousJob& m_job;
    Observer& m_observer;
    uint32_t m_shards;
    ParameterClocks m_clocks;
    FetchQueues m_fetches;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PARAMETER_SERVERS_H
