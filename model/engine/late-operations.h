// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_LATE_OPERATIONS_H
#define GRADSYNC_LATE_OPERATIONS_H

#include "ns3/nstime.h"
#include "ns3/plan.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace ns3::gradsync
{

/**
 * What the gates of a job's iterations did not wait for, and goes on all the same: a slow client
 * computes to the end and sends its answer, which nobody wants any more.
 *
 * Operations are named by the tags of their messages: the number of the attempt in the upper half.
 */
class LateOperations
{
  public:
    /// One operation that is not done.
    struct Entry
    {
        uint32_t waiting; //!< operations before it that are not done
        bool isSent;      //!< a transfer under way
        Time sentAt;      //!< of that
    };

    /// Those of one iteration.
    struct Batch
    {
        uint32_t iteration;
        uint32_t planIndex; //!< of the job
        std::shared_ptr<const Plan> plan;
        std::map<OperationId, Entry> entries;
    };

    void Add(uint32_t attempt, Batch batch);

    /// The batch with that operation, if it is one of them and not done.
    Batch* Find(uint64_t tag);

    /// It is done. \returns the tags of those that waited for nothing else
    std::vector<uint64_t> Finish(uint64_t tag);

    /// It will never be done, nor what waits for it.
    void Forget(uint64_t tag);

    /// Forgets all that are at, from or to a rank of their plan.
    template <typename Predicate>
    void ForgetIf(Predicate isLost)
    {
        for (auto batch = m_batches.begin(); batch != m_batches.end();)
        {
            std::erase_if(batch->second.entries,
                          [&](const auto& item) { return isLost(batch->second, item.first); });
            batch = batch->second.entries.empty() ? m_batches.erase(batch) : std::next(batch);
        }
    }

    /// What waited for an operation of a batch that is not itself one of them.
    std::vector<uint64_t> Release(uint32_t attempt, OperationId done);

    bool IsEmpty() const
    {
        return m_batches.empty();
    }

  private:
    std::map<uint32_t, Batch> m_batches; //!< by attempt
};

} // namespace ns3::gradsync

#endif // GRADSYNC_LATE_OPERATIONS_H
