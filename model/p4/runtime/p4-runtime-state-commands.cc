// SPDX-License-Identifier: GPL-2.0-only
// The commands for registers, counters, multicast groups and mirroring sessions.
#include "ns3/p4-error.h"
#include "ns3/p4-match-table.h"
#include "ns3/p4-pipeline.h"
#include "ns3/p4-runtime-commands.h"
#include "ns3/p4-runtime-values.h"

#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

/// Ports from the third word on.
std::vector<uint32_t>
ReadPorts(const P4RuntimeCommands::Words& words)
{
    std::vector<uint32_t> ports;
    for (size_t i = 2; i < words.size(); ++i)
    {
        // The CLI writes "|" also before an empty list of them.
        if (words[i] == "|" && i + 1 < words.size())
        {
            throw P4Error("link aggregation groups are not supported");
        }
        if (words[i] != "|")
        {
            ports.push_back(ReadP4Number(words[i]));
        }
    }
    return ports;
}

} // namespace

void
P4RuntimeCommands::ReadRegister(const Words& words)
{
    const auto& array = FindRegister(words[1]);
    const auto show = [&](uint32_t index) {
        return ShowP4Value(m_pipeline.GetRegisterLimbs(array.name, index));
    };
    if (words.size() == 3)
    {
        const uint32_t index = ReadP4Number(words[2]);
        m_answers.push_back(fmt::format("{}[{}]= {}", words[1], index, show(index)));
        return;
    }
    std::string all;
    for (uint32_t index = 0; index < array.size; ++index)
    {
        all += (index == 0 ? "" : ", ") + show(index);
    }
    m_answers.push_back(fmt::format("{}= {}", words[1], all));
}

void
P4RuntimeCommands::WriteRegister(const Words& words)
{
    const auto& array = FindRegister(words[1]);
    m_pipeline.SetRegister(array.name, ReadP4Number(words[2]), ReadP4Value(words[3], array.bits));
}

void
P4RuntimeCommands::ResetRegister(const Words& words)
{
    m_pipeline.ResetRegister(FindRegister(words[1]).name);
}

void
P4RuntimeCommands::ReadCounter(const Words& words)
{
    const auto& array = FindCounter(words[1]);
    const auto index = static_cast<uint32_t>(ReadP4Value(words[2], 32)[0]);
    const auto value = array.table.empty() ? m_pipeline.GetCounter(array.name, index)
                                           : m_pipeline.FindTable(array.table).GetCounter(index);
    m_answers.push_back(
        fmt::format("{}[{}]= ({} bytes, {} packets)", words[1], index, value.bytes, value.packets));
}

void
P4RuntimeCommands::WriteCounter(const Words& words)
{
    const auto& array = FindCounter(words[1]);
    const auto index = static_cast<uint32_t>(ReadP4Value(words[2], 32)[0]);
    const P4CounterValue value{ReadP4Value(words[3], 64)[0], ReadP4Value(words[4], 64)[0]};
    if (array.table.empty())
    {
        m_pipeline.SetCounter(array.name, index, value);
        return;
    }
    m_pipeline.FindTable(array.table).SetCounter(index, value);
}

void
P4RuntimeCommands::ResetCounter(const Words& words)
{
    const auto& array = FindCounter(words[1]);
    if (array.table.empty())
    {
        m_pipeline.ResetCounter(array.name);
        return;
    }
    auto& table = m_pipeline.FindTable(array.table);
    for (const uint32_t handle : table.ListHandles())
    {
        table.SetCounter(handle, {});
    }
}

void
P4RuntimeCommands::CreateGroup(const Words& words)
{
    m_pipeline.GetReplication().CreateGroup(ReadP4Number(words[1]));
}

void
P4RuntimeCommands::DestroyGroup(const Words& words)
{
    m_pipeline.GetReplication().DestroyGroup(ReadP4Number(words[1]));
}

void
P4RuntimeCommands::CreateNode(const Words& words)
{
    m_pipeline.GetReplication().CreateNode(ReadP4Number(words[1]), ReadPorts(words));
}

void
P4RuntimeCommands::UpdateNode(const Words& words)
{
    m_pipeline.GetReplication().UpdateNode(ReadP4Number(words[1]), ReadPorts(words));
}

void
P4RuntimeCommands::AssociateNode(const Words& words)
{
    m_pipeline.GetReplication().AssociateNode(ReadP4Number(words[1]), ReadP4Number(words[2]));
}

void
P4RuntimeCommands::DissociateNode(const Words& words)
{
    m_pipeline.GetReplication().DissociateNode(ReadP4Number(words[1]), ReadP4Number(words[2]));
}

void
P4RuntimeCommands::DestroyNode(const Words& words)
{
    m_pipeline.GetReplication().DestroyNode(ReadP4Number(words[1]));
}

void
P4RuntimeCommands::AddMirror(const Words& words)
{
    m_pipeline.GetReplication().AddMirror(ReadP4Number(words[1]), ReadP4Number(words[2]), false);
}

void
P4RuntimeCommands::AddMirrorToGroup(const Words& words)
{
    m_pipeline.GetReplication().AddMirror(ReadP4Number(words[1]), ReadP4Number(words[2]), true);
}

void
P4RuntimeCommands::DeleteMirror(const Words& words)
{
    m_pipeline.GetReplication().DeleteMirror(ReadP4Number(words[1]));
}

void
P4RuntimeCommands::GetMirror(const Words& words)
{
    const auto session = ReadP4Number(words[1]);
    const auto mirror = m_pipeline.GetReplication().GetMirror(session);
    if (!mirror)
    {
        m_answers.push_back(fmt::format("mirroring session {}: none", session));
        return;
    }
    m_answers.push_back(fmt::format("mirroring session {}: {} {}",
                                    session,
                                    mirror->second ? "multicast group" : "port",
                                    mirror->first));
}

void
P4RuntimeCommands::ResetState(const Words& /* words */)
{
    m_pipeline.ResetState();
}

const P4RegisterArray&
P4RuntimeCommands::FindRegister(const std::string& name) const
{
    const auto& registers = m_pipeline.GetProgram().registers;
    return registers[FindP4Item(registers, name, "register")];
}

const P4CounterArray&
P4RuntimeCommands::FindCounter(const std::string& name) const
{
    const auto& counters = m_pipeline.GetProgram().counters;
    return counters[FindP4Item(counters, name, "counter")];
}

} // namespace ns3::gradsync
