// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_HANDLER_CORES_H
#define GRADSYNC_HANDLER_CORES_H

#include "ns3/nstime.h"
#include "ns3/topology.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>

namespace ns3::gradsync
{

/**
 * The cores of a switch, each of which runs one handler at a time, from its beginning to its end.
 * Handlers that find no free core wait, first come first served.
 */
class HandlerCores
{
  public:
    /// Does what is done now. \returns how long the next step takes, after which it is called
    /// again; none: the handler is over. What it waits for is part of a step: its core is not free.
    using Handler = std::function<std::optional<Time>()>;

    struct Statistics
    {
        uint64_t handlers{0};     //!< that have begun
        Time busy{0};             //!< of all cores together
        Time wait{0};             //!< of all handlers, for a core
        uint64_t longestQueue{0}; //!< handlers that waited at a time
    };

    /// \param cores at least one \param node of the switch
    HandlerCores(uint32_t cores, NodeId node);

    void Enter(Handler handler);

    const Statistics& GetStatistics() const
    {
        return m_statistics;
    }

    uint32_t GetCores() const
    {
        return m_cores;
    }

  private:
    struct Waiting
    {
        Handler handler;
        Time since;
    };

    void Begin(const Handler& handler, const Time& since);
    bool Step(const Handler& handler);
    void OnStepEnd(const Handler& handler);

    uint32_t m_cores;
    uint32_t m_order; //!< of its events among simultaneous ones
    uint32_t m_busy{0};
    std::deque<Waiting> m_queue;
    Statistics m_statistics;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_HANDLER_CORES_H
