// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROUND_COUNTER_H
#define GRADSYNC_ROUND_COUNTER_H

#include "ns3/aggregation-gate.h"
#include "ns3/plan.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/**
 * Counts the transfers of a plan by their depth: the most transfers on a path that leads to them.
 *
 * Walks along the edges, the lowest id first, and remembers of operations what it needs in pages
 * that are neither untouched nor passed: of a plan that proceeds in the order of its operations,
 * such as a ring's, that is few, however long the plan. Of copies it counts one.
 */
class RoundCounter
{
  public:
    /// \param plan must outlive the counter
    explicit RoundCounter(const Plan& plan);

    /// Once. \returns [round] -> transfers
    std::vector<uint64_t> Count();

    /// The most pages, of PAGE_SIZE operations each, that it held at once.
    size_t GetMostPages() const
    {
        return m_mostPages;
    }

  private:
    static constexpr uint32_t PAGE_SIZE = 4096;

    /// What is kept of an operation; of plans in order the first alone.
    enum State : uint8_t
    {
        DEPTH,     //!< transfers on the longest path to it, of those passed
        WAITS_FOR, //!< operations before it that were not passed
        STATES
    };

    using States = std::unique_ptr<uint32_t[]>;

    struct Page
    {
        States states{}; //!< those of each operation together; null: none touched, or all done
        uint32_t left;   //!< not passed
    };

    void Reach(OperationId id);
    void JoinMembers(OperationId id);
    void TakeTurn(OperationId id,
                  const Operation& operation,
                  std::span<const OperationId> successors);
    template <typename Successors>
    void Pass(OperationId id, const Operation& operation, const Successors& successors);
    bool IsReady(OperationId id) const;
    void Open(Page& page, OperationId first);

    /// \returns its States
    uint32_t* Touch(OperationId id)
    {
        auto& page = m_pages[id / PAGE_SIZE];
        if (!page.states) [[unlikely]]
        {
            Open(page, id / PAGE_SIZE * PAGE_SIZE);
        }
        return &page.states[id % PAGE_SIZE * m_stateCount];
    }

    void Forget(OperationId id);

    const Plan& m_plan;
    AggregationGate m_gate;
    bool m_isInOrder;      //!< each operation comes after all before it
    uint32_t m_stateCount; //!< kept of each operation
    std::vector<Page> m_pages;
    std::vector<States> m_unused; //!< of pages that are done
    size_t m_pageCount{0};
    size_t m_mostPages{0};
    std::priority_queue<OperationId, std::vector<OperationId>, std::greater<>> m_ready;
    OperationId m_next{0}; //!< those before it that wait for none are reached
    std::vector<uint64_t> m_transfersPerRound;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ROUND_COUNTER_H
