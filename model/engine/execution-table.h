// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EXECUTION_TABLE_H
#define GRADSYNC_EXECUTION_TABLE_H

#include "ns3/nstime.h"
#include "ns3/operation.h"
#include "ns3/running-numbers.h"

#include <cstdint>
#include <string>
#include <unordered_map>

namespace ns3::gradsync
{

/// What happens to an operation at a rank that another process simulates.
struct OperationNews
{
    bool isDelivered{false}; //!< its sender may have one more under way
    bool isDone{false};      //!< those that wait for it may go on
};

/// Hears from the ranks what becomes of the operations that they were given.
class OperationObserver
{
  public:
    /// The transfer is at its receiver, or the sum at this rank of an aggregation.
    virtual void OnDelivered(OperationId id) = 0;

    /// Another process, which simulates its sender, has sent the transfer.
    virtual void OnSentElsewhere(OperationId /* id */, const Time& /* at */)
    {
    }

    /// The transfer will be at its receiver at `at`, in the EventOrder `order`. Only where
    /// DividedTransport::Announce asks for it.
    virtual void OnArriving(OperationId /* id */, const Time& /* at */, uint32_t /* order */)
    {
    }

    /// The process that simulates its receiver has told ahead what happens now.
    virtual void OnTold(OperationId /* id */, OperationNews /* news */)
    {
    }

    /// The time is over that the rank was to wait for (ExchangeApplication::Delay).
    virtual void OnDelayed(OperationId /* id */)
    {
    }

    /// What the rank had to compute for it is done.
    virtual void OnComputed(OperationId id) = 0;
    /// A rank (of the job) has computed its gradient.
    virtual void OnTrained(OperationId id, uint32_t rank, const Time& since) = 0;
    /// It will not be: the rank has a later gradient to compute.
    virtual void OnSkipped(OperationId id) = 0;
    virtual void OnFailed(OperationId id, const std::string& reason) = 0;
    virtual void OnWrongSum(OperationId id, const std::string& reason) = 0;

  protected:
    ~OperationObserver() = default;
};

/// Makes an execution that ranks of another process have begun before those of this one.
class ExecutionSource
{
  public:
    /// Something is heard of a number that nobody has. Adds it, unless it is over.
    virtual void Provide(uint32_t number) = 0;

  protected:
    ~ExecutionSource() = default;
};

/**
 * Numbers the executions that run at once on the ranks of a job, so that none hears of what belongs
 * to another, or to one that is over: a number is given again after 2^32 others only, and never
 * while somebody is found under it.
 *
 * Messages and computations are named by tags: the number in the upper half, the operation in the
 * lower one.
 */
class ExecutionTable
{
  public:
    /// \param first the number to begin with
    explicit ExecutionTable(uint32_t first = 0)
        : m_numbers(uint64_t{1} << 32, first)
    {
    }

    static uint64_t MakeTag(uint32_t number, OperationId id)
    {
        return uint64_t{number} << 32 | id;
    }

    /// \returns the number under which the observer is found from now on
    uint32_t Add(OperationObserver& observer);

    /// Likewise under a number of the caller's, which nobody has. \returns it
    uint32_t Add(OperationObserver& observer, uint32_t number);

    /// Who is asked for numbers that nobody has; nullptr: nobody. It outlives its place here.
    void SetSource(ExecutionSource* source)
    {
        m_source = source;
    }

    /// Somebody else goes on under that number.
    void Replace(uint32_t number, OperationObserver& observer);

    void Remove(uint32_t number);

    /// Of a tag; nullptr for what is over.
    OperationObserver* Find(uint64_t tag) const
    {
        const auto number = static_cast<uint32_t>(tag >> 32);
        if (m_lastFound == nullptr || number != m_lastNumber)
        {
            m_lastFound = Look(number);
            m_lastNumber = number;
        }
        return m_lastFound;
    }

  private:
    OperationObserver* Look(uint32_t number) const;

    std::unordered_map<uint32_t, OperationObserver*> m_observers;
    RunningNumbers m_numbers;
    ExecutionSource* m_source{nullptr};
    // Most jobs run one at a time.
    mutable uint32_t m_lastNumber{0};
    mutable OperationObserver* m_lastFound{nullptr};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_EXECUTION_TABLE_H
