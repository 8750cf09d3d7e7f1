// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_OPERATION_LEDGER_H
#define GRADSYNC_OPERATION_LEDGER_H

#include "ns3/nstime.h"
#include "ns3/plan.h"
#include "ns3/prefetch.h"

#include <array>
#include <boost/container/flat_map.hpp>
#include <cstdint>
#include <memory>
#include <vector>

namespace ns3::gradsync
{

/**
 * Which operations of a plan wait, are under way or are done.
 *
 * A byte per operation, but only in pages of 4,096 that are neither untouched nor all done: of a
 * plan that proceeds in the order of its operations, such as a ring's, that is little. Where it
 * keeps times, eight bytes more for each operation of the pages of which some were sent.
 */
class OperationLedger
{
  public:
    /// \param plan outlives the ledger \param keepsTimes when transfers are sent
    OperationLedger(const Plan& plan, bool keepsTimes);

    uint32_t GetSize() const
    {
        return m_size;
    }

    /// Operations that are not done.
    uint32_t GetLeft() const
    {
        return m_left;
    }

    uint32_t CountDone() const
    {
        return GetSize() - m_left;
    }

    bool IsDone(OperationId id) const
    {
        const auto& page = GetPage(id);
        return page.states ? Look(page, id) == DONE : page.left == 0;
    }

    /// Handed to the transport, which has not delivered it.
    bool IsSent(OperationId id) const
    {
        return Is(SENT, id);
    }

    /// At its receiver, which has not added it.
    bool IsDelivered(OperationId id) const
    {
        return Is(DELIVERED, id);
    }

    /// Operations before it that are not done; 0 as well of what is under way. Not of what is done.
    uint32_t GetWaiting(OperationId id) const;

    /// One operation before it is done. \returns whether that was the last
    bool Release(OperationId id)
    {
        auto& state = Touch(id);
        if (state == MANY) [[unlikely]]
        {
            ReleaseOfMany(id, state);
            return false;
        }
        return state != DONE && --state == 0;
    }

    /// Fetches what it knows of an operation.
    void Prefetch(OperationId id) const
    {
        if (const auto& page = GetPage(id); page.states)
        {
            gradsync::Prefetch(&(*page.states)[id % PAGE_SIZE]);
        }
    }

    void MarkSent(OperationId id);
    void MarkSent(OperationId id, const Time& at);

    /// So many operations are done elsewhere: nobody waits for them here.
    void LeaveToOthers(uint32_t count)
    {
        m_left -= count;
    }

    void MarkDelivered(OperationId id)
    {
        Touch(id) = DELIVERED;
    }

    void MarkDone(OperationId id);

    /// 0 where it keeps no times.
    Time GetSentAt(OperationId id) const;

  private:
    /// Operations before one that are not done, or one of these marks.
    using State = uint8_t;
    static constexpr State DONE = 255;
    static constexpr State SENT = 254;
    static constexpr State DELIVERED = 253;
    static constexpr State MANY = 252; //!< so many or more: see m_many

    static constexpr uint32_t PAGE_SIZE = 4096;

    struct Page
    {
        std::unique_ptr<std::array<State, PAGE_SIZE>> states{}; //!< null: none touched, or all done
        std::unique_ptr<std::array<Time, PAGE_SIZE>> sentAt{};  //!< null: no times, or none sent
        uint32_t left;                                          //!< not done
    };

    const Page& GetPage(OperationId id) const
    {
        return m_pages[id / PAGE_SIZE];
    }

    static State Look(const Page& page, OperationId id)
    {
        return (*page.states)[id % PAGE_SIZE];
    }

    bool Is(State state, OperationId id) const
    {
        const auto& page = GetPage(id);
        return page.states && Look(page, id) == state;
    }

    State& Touch(OperationId id)
    {
        auto& page = m_pages[id / PAGE_SIZE];
        if (!page.states) [[unlikely]]
        {
            Open(page, id / PAGE_SIZE * PAGE_SIZE);
        }
        return (*page.states)[id % PAGE_SIZE];
    }

    void Open(Page& page, OperationId first);
    void ReleaseOfMany(OperationId id, State& state);

    const Plan* m_plan;
    bool m_keepsTimes;
    uint32_t m_size;
    uint32_t m_left;
    std::vector<Page> m_pages;
    /// Operations before those that have MANY or more: few, and all in the cache.
    boost::container::flat_map<OperationId, uint32_t> m_many;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_OPERATION_LEDGER_H
