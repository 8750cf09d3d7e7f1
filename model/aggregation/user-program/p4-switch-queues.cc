// SPDX-License-Identifier: GPL-2.0-only
// The part of P4SwitchNode for programs that go through egress when a packet leaves its queue.
#include "ns3/event-order.h"
#include "ns3/fabric-port.h"
#include "ns3/fabric-switch.h"
#include "ns3/p4-error.h"
#include "ns3/p4-switch-node.h"
#include "ns3/simulator.h"

#include <deque>
#include <fmt/format.h>
#include <memory>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Passes through egress that one packet may cause without waiting: a packet that is sent round for
/// ever through an idle port would never end.
constexpr uint32_t MAX_PASSES = 4096;

} // namespace

uint64_t
P4SwitchNode::GetMicroseconds(TimeStepCount now)
{
    return static_cast<uint64_t>(TimeStep(static_cast<uint64_t>(now)).GetMicroSeconds());
}

/// Those that need not wait go through egress at once, which may give more outputs.
void
P4SwitchNode::SendQueued(std::deque<P4OutputPacket> outputs, Cause& cause, TimeStepCount now)
{
    auto* node = m_network.fabric->GetSwitch(m_node);
    for (uint32_t passes = 0; !outputs.empty(); outputs.pop_front())
    {
        const auto output = std::move(outputs.front());
        if (!HasPort(output))
        {
            continue;
        }
        auto& port = node->GetPort(static_cast<uint16_t>(output.port));
        port.Sync(now);
        if (!output.waiting)
        {
            Send(output, cause, now);
        }
        else if (cause.packet.kind == PacketKind::Data && !port.IsFree(now))
        {
            Wait(output, cause, now);
        }
        else
        {
            if (++passes > MAX_PASSES)
            {
                throw P4Error(
                    m_pipeline.GetProgram().file,
                    fmt::format("a packet goes through the switch more than {} times", MAX_PASSES));
            }
            bool hasLeft = false;
            const auto time = GetMicroseconds(now);
            const auto left =
                m_pipeline.Leave(*output.waiting, {.enqueuedUs = time}, time, hasLeft);
            if (hasLeft)
            {
                Send(left.front(), cause, now);
            }
            outputs.insert(outputs.end(), left.begin() + (hasLeft ? 1 : 0), left.end());
        }
    }
}

void
P4SwitchNode::Wait(const P4OutputPacket& output, Cause& cause, TimeStepCount now)
{
    auto* packet = MakePacket(output, cause);
    if (!packet)
    {
        return;
    }
    const auto egress = static_cast<uint16_t>(output.port);
    const auto depth =
        m_network.fabric->GetSwitch(m_node)->GetPort(egress).GetData().CountPackets();
    m_waiting[packet] = {output.waiting,
                         {.enqueuedUs = GetMicroseconds(now), .enqueueDepth = depth},
                         cause.ingress,
                         egress,
                         cause.destinationIp};
    packet->flags |= PacketFlag::DEPARTURE;
    Emit(packet, cause, egress, now);
}

bool
P4SwitchNode::Depart(FabricPacket* packet, TimeStepCount start)
{
    const auto found = m_waiting.find(packet);
    if (found == m_waiting.end())
    {
        return true;
    }
    auto waiting = std::move(found->second);
    m_waiting.erase(found);
    auto& port = m_network.fabric->GetSwitch(m_node)->GetPort(waiting.egress);
    waiting.report.dequeueDepth = port.GetData().CountPackets();
    bool hasLeft = false;
    const auto outputs =
        m_pipeline.Leave(*waiting.packet, waiting.report, GetMicroseconds(start), hasLeft);
    const std::deque<P4OutputPacket> more(outputs.begin() + (hasLeft ? 1 : 0), outputs.end());
    if (!more.empty())
    {
        const auto cause = std::make_shared<Cause>(
            Cause{*packet, nullptr, waiting.ingress, waiting.destinationIp, {}});
        if ((packet->flags & PacketFlag::PROGRAM) != 0 && !IsReadable(*packet))
        {
            cause->content = m_network.contents.Get(*packet);
        }
        // Later, as the port is in the middle of starting this one.
        ScheduleInOrder(EventOrder::OfNode(m_node), Time(0), [this, cause, more] {
            SendQueued(more, *cause, Simulator::Now().GetTimeStep());
        });
    }
    const bool leaves = hasLeft && Fill(*packet, outputs.front(), waiting.destinationIp);
    if (!leaves)
    {
        m_network.fabric->GetPool().Give(packet);
    }
    return leaves;
}

} // namespace ns3::gradsync
