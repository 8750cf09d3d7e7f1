// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/switch-pipelines.h"

#include "ns3/event-order.h"
#include "ns3/simulator.h"
#include "ns3/time-range.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

SwitchPipelines::SwitchPipelines(const Limits& limits, NodeId node, Handler handler)
    : m_limits(limits),
      m_order(EventOrder::OfNode(node)),
      m_handler(std::move(handler)),
      m_free(limits.pipelines)
{
}

void
SwitchPipelines::Enter(FabricPacket* packet,
                       uint16_t port,
                       uint32_t values,
                       const std::optional<uint32_t>& place)
{
    const auto perPass = m_limits.valuesPerPass;
    const auto passes = perPass == 0 ? 1U : std::max((values + perPass - 1) / perPass, 1U);
    const auto entry = port % m_limits.pipelines;
    const auto home = place ? *place % m_limits.pipelines : entry;
    if (home == entry)
    {
        Add(packet, port, home, passes);
        return;
    }
    ScheduleInOrder(m_order,
                    Pass(entry, 1),
                    &SwitchPipelines::Add,
                    this,
                    packet,
                    port,
                    home,
                    passes);
}

/// \returns after what time a packet that comes now is through
Time
SwitchPipelines::Pass(uint32_t pipeline, uint32_t passes)
{
    const auto now = Simulator::Now();
    const auto start = std::max(now, m_free[pipeline]);
    m_free[pipeline] = AddTimes(start, m_limits.gap * int64_t{passes});
    return start - now + m_limits.gap * (int64_t{passes} - 1) + m_limits.delay * int64_t{passes};
}

void
SwitchPipelines::Add(FabricPacket* packet, uint16_t port, uint32_t pipeline, uint32_t passes)
{
    ScheduleInOrder(m_order, Pass(pipeline, passes), [this, packet, port] {
        m_handler(packet, port, Simulator::Now().GetTimeStep());
    });
}

} // namespace ns3::gradsync
