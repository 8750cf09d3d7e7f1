// SPDX-License-Identifier: GPL-2.0-only
// What decides how the fabric goes on: the parts of its classes that write it down.
#include "ns3/fabric-network.h"

namespace ns3::gradsync
{

void
SwitchBuffer::AddState(StateWords& words) const
{
    words.Add(m_usedBytes);
    for (const auto& ingress : m_ingress)
    {
        words.Add(ingress.bytes);
        words.Add(ingress.pausing);
    }
}

void
FlowletSelector::AddState(StateWords& words) const
{
    words.Add(m_random.GetState());
    for (size_t i = 0; i < m_table.size(); ++i)
    {
        const auto& [last, port] = m_table[i];
        if (port && words.GetNow() - last <= m_gap)
        {
            words.Add(i);
            words.AddTime(last);
            words.Add(port->GetIndex());
        }
    }
    words.EndList();
}

void
FabricSwitch::AddState(StateWords& words) const
{
    if (HasProgram())
    {
        words.Refuse("switches run programs");
    }
    if (m_selector)
    {
        m_selector->AddState(words);
    }
    if (m_buffer)
    {
        m_buffer->AddState(words);
    }
}

void
FabricNetwork::AddState(const PacketStateWriter& addConnection, StateWords& words)
{
    if (HasFaults())
    {
        words.Refuse("links or hosts have faults");
    }
    for (const auto& [lookahead, rounds] : m_rounds)
    {
        rounds->CatchUp();
    }
    for (const auto& port : m_ports)
    {
        port->Sync(words.GetNow());
    }
    // After all of them: what starts at one may pause or resume another.
    for (size_t i = 0; i < m_portCount; ++i)
    {
        if (!m_ports[i]->IsAtRest(words.GetNow()))
        {
            words.Add(i);
            m_ports[i]->AddState(addConnection, words);
        }
    }
    words.EndList();
    for (const auto* node : m_switches)
    {
        if (node)
        {
            node->AddState(words);
        }
    }
    for (const auto& [rate, marker] : m_markers)
    {
        marker->AddState(words);
    }
}

} // namespace ns3::gradsync
