// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-pipeline.h"

#include "ns3/p4-error.h"

#include <algorithm>
#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

/// Passes through ingress or egress that one packet may cause.
constexpr uint32_t MAX_PASSES = 4096;

/// How a packet came to be, as simple_switch numbers it in standard_metadata.instance_type.
enum InstanceType : uint32_t
{
    NORMAL = 0,
    INGRESS_CLONE = 1,
    EGRESS_CLONE = 2,
    RECIRCULATED = 4,
    REPLICATION = 5,
    RESUBMITTED = 6,
};

} // namespace

P4Pipeline::P4Pipeline(std::shared_ptr<const P4Program> program)
    : m_program(std::move(program)),
      m_machine(m_program)
{
}

void
P4Pipeline::ResetState()
{
    m_machine.ResetState();
    m_groups.clear();
    m_nodes.clear();
    m_mirrors.clear();
}

std::span<const P4OutputPacket>
P4Pipeline::Process(std::span<const uint8_t> frame, uint32_t port, uint64_t timeUs)
{
    m_outputCount = 0;
    m_again.clear();
    m_timeUs = timeUs;
    m_machine.SetTime(timeUs);
    m_passes = 0;
    RunIngress(frame, port, NORMAL, nullptr);
    RunAgain();
    return {m_outputs.data(), m_outputCount};
}

/// What was resubmitted or recirculated.
void
P4Pipeline::RunAgain()
{
    while (!m_again.empty())
    {
        const Again again = std::move(m_again.front());
        m_again.pop_front();
        RunIngress(again.bytes, 0, again.instanceType, &again);
    }
}

std::span<const P4OutputPacket>
P4Pipeline::Leave(const P4WaitingPacket& packet,
                  const P4QueueReport& report,
                  uint64_t timeUs,
                  bool& hasLeft)
{
    constexpr uint64_t DEPTH_MASK = (1U << 19) - 1;
    m_outputCount = 0;
    m_again.clear();
    m_timeUs = timeUs;
    m_machine.SetTime(timeUs);
    m_passes = 0;
    m_machine.Begin(packet.payload);
    std::ranges::copy(packet.fields, m_machine.GetPacket().begin());
    m_machine.SetPacketLength(packet.packetLength);
    m_machine.GetRequests().truncateBytes = packet.truncateBytes;
    const auto& standard = m_program->standard;
    m_machine.At(standard.enqueueTimestamp) = report.enqueuedUs & UINT32_MAX;
    m_machine.At(standard.enqueueDepth) = report.enqueueDepth & DEPTH_MASK;
    m_machine.At(standard.dequeueTimedelta) = (timeUs - report.enqueuedUs) & UINT32_MAX;
    m_machine.At(standard.dequeueDepth) = report.dequeueDepth & DEPTH_MASK;
    m_hasLeft = false;
    FinishEgress(packet.to);
    hasLeft = m_hasLeft;
    RunAgain();
    return {m_outputs.data(), m_outputCount};
}

void
P4Pipeline::RunIngress(std::span<const uint8_t> frame,
                       uint32_t port,
                       uint32_t type,
                       const Again* again)
{
    CountPass();
    Parse(frame, port, type, again);
    m_machine.Run(m_program->ingressAddress);
    LeaveIngress(frame, port);
}

void
P4Pipeline::Parse(std::span<const uint8_t> frame, uint32_t port, uint32_t type, const Again* again)
{
    const auto& standard = m_program->standard;
    m_machine.Begin(frame);
    m_machine.At(standard.ingressPort) = port;
    m_machine.At(standard.packetLength) = frame.size();
    m_machine.At(standard.instanceType) = type;
    m_machine.At(standard.ingressTimestamp) = m_timeUs;
    if (again != nullptr)
    {
        RestoreFields(again->fieldList, again->kept);
    }
    m_machine.Run(m_program->parserAddress);
    m_machine.At(standard.parserError) = m_machine.GetParserError();
    m_machine.Run(m_program->verifyAddress);
    m_machine.At(standard.checksumError) = m_machine.HasChecksumError() ? 1 : 0;
}

void
P4Pipeline::LeaveIngress(std::span<const uint8_t> frame, uint32_t port)
{
    const auto& standard = m_program->standard;
    if (m_machine.GetRequests().clone)
    {
        CloneFromIngress(frame, port);
    }
    const auto& requests = m_machine.GetRequests();
    if (requests.digest)
    {
        Learn(requests.digestList);
    }
    if (requests.resubmit)
    {
        m_again.push_back({{frame.begin(), frame.end()},
                           RESUBMITTED,
                           KeepFields(requests.resubmitFields),
                           requests.resubmitFields});
        return;
    }
    const auto group = static_cast<uint32_t>(m_machine.At(standard.multicastGroup));
    const auto port_ = static_cast<uint32_t>(m_machine.At(standard.egressSpec));
    if (group != 0)
    {
        m_machine.At(standard.instanceType) = REPLICATION;
        Replicate(FindGroup(group));
    }
    else if (port_ != P4_DROP_PORT)
    {
        m_machine.At(standard.instanceType) = NORMAL;
        RunEgress({port_, 0});
    }
}

void
P4Pipeline::CloneFromIngress(std::span<const uint8_t> frame, uint32_t port)
{
    auto requests = m_machine.GetRequests();
    requests.clone = false;
    const auto packet = m_machine.GetPacket();
    const std::vector<uint64_t> original(packet.begin(), packet.end());
    const uint64_t length = m_machine.GetPacketLength();
    const size_t cursor = m_machine.GetCursor();
    const auto kept = KeepFields(requests.cloneFields);
    // The clone is the packet as it came in: it is parsed again.
    Parse(frame, port, INGRESS_CLONE, nullptr);
    RestoreFields(requests.cloneFields, kept);
    m_machine.At(m_program->standard.instanceType) = INGRESS_CLONE;
    Replicate(FindMirror(requests.cloneSession));
    m_machine.Begin(frame);
    m_machine.SetCursor(cursor);
    std::copy(original.begin(), original.end(), m_machine.GetPacket().begin());
    m_machine.SetPacketLength(length);
    m_machine.GetRequests() = requests;
}

void
P4Pipeline::Replicate(const std::vector<P4Replica>& replicas)
{
    const auto packet = m_machine.GetPacket();
    const std::vector<uint64_t> original(packet.begin(), packet.end());
    const uint64_t length = m_machine.GetPacketLength();
    for (const auto& replica : replicas)
    {
        std::copy(original.begin(), original.end(), packet.begin());
        m_machine.SetPacketLength(length);
        m_machine.At(m_program->standard.replicationId) = replica.replicationId;
        RunEgress(replica);
    }
}

P4OutputPacket&
P4Pipeline::AddOutput(uint32_t port)
{
    if (m_outputCount == m_outputs.size())
    {
        m_outputs.emplace_back();
    }
    auto& output = m_outputs[m_outputCount++];
    output.port = port;
    output.waiting.reset();
    return output;
}

void
P4Pipeline::RunEgress(P4Replica to)
{
    if (m_hasQueues)
    {
        Wait(to);
    }
    else
    {
        FinishEgress(to);
    }
}

void
P4Pipeline::Wait(P4Replica to)
{
    auto waiting = std::make_shared<P4WaitingPacket>();
    const auto fields = m_machine.GetPacket();
    const auto payload = m_machine.GetPayload();
    waiting->to = to;
    waiting->fields.assign(fields.begin(), fields.end());
    waiting->packetLength = m_machine.GetPacketLength();
    waiting->truncateBytes = m_machine.GetRequests().truncateBytes;
    waiting->payload.assign(payload.begin(), payload.end());
    auto& output = AddOutput(to.port);
    m_machine.Deparse(output.bytes);
    output.waiting = std::move(waiting);
}

void
P4Pipeline::FinishEgress(P4Replica to)
{
    CountPass();
    const auto& standard = m_program->standard;
    m_machine.At(standard.egressPort) = to.port;
    m_machine.At(standard.egressSpec) = 0;
    m_machine.At(standard.packetLength) = m_machine.GetPacketLength();
    m_machine.At(standard.egressTimestamp) = m_timeUs;
    const uint64_t truncateBytes = m_machine.GetRequests().truncateBytes;
    m_machine.GetRequests() = {};
    m_machine.GetRequests().truncateBytes = truncateBytes;
    m_machine.Run(m_program->egressAddress);
    const auto requests = m_machine.GetRequests();
    if (!requests.clone)
    {
        Send(to);
        return;
    }
    // The copy waits in its queue while the packet itself leaves.
    const auto packet = m_machine.GetPacket();
    const std::vector<uint64_t> copy(packet.begin(), packet.end());
    const uint64_t length = m_machine.GetPacketLength();
    Send(to);
    std::copy(copy.begin(), copy.end(), packet.begin());
    CloneFromEgress(requests, length);
}

void
P4Pipeline::CloneFromEgress(const P4Machine::Requests& requests, uint64_t length)
{
    const auto kept = KeepFields(requests.cloneFields);
    for (const auto& header : m_program->headers)
    {
        if (header.isMetadata)
        {
            const auto fields = m_machine.GetPacket().subspan(header.slot, header.limbs);
            std::fill(fields.begin(), fields.end(), 0);
        }
    }
    RestoreFields(requests.cloneFields, kept);
    m_machine.SetPacketLength(length);
    m_machine.At(m_program->standard.instanceType) = EGRESS_CLONE;
    Replicate(FindMirror(requests.cloneSession));
}

void
P4Pipeline::Send(P4Replica to)
{
    if (m_machine.At(m_program->standard.egressSpec) == P4_DROP_PORT)
    {
        return;
    }
    m_machine.Run(m_program->updateAddress);
    m_machine.Run(m_program->deparserAddress);
    const auto& requests = m_machine.GetRequests();
    if (requests.recirculate)
    {
        Again again;
        again.instanceType = RECIRCULATED;
        again.fieldList = requests.recirculateFields;
        again.kept = KeepFields(again.fieldList);
        m_machine.Deparse(again.bytes);
        m_again.push_back(std::move(again));
        return;
    }
    m_hasLeft = true;
    m_machine.Deparse(AddOutput(to.port).bytes);
}

std::vector<P4Replica>
P4Pipeline::FindMirror(uint32_t session) const
{
    const auto found = m_mirrors.find(session);
    if (found == m_mirrors.end())
    {
        return {};
    }
    return found->second.isGroup ? FindGroup(found->second.target)
                                 : std::vector<P4Replica>{{found->second.target, 0}};
}

std::vector<P4Replica>
P4Pipeline::FindGroup(uint32_t group) const
{
    std::vector<P4Replica> replicas;
    const auto found = m_groups.find(group);
    if (found != m_groups.end())
    {
        for (const uint32_t node : found->second)
        {
            for (const uint32_t port : m_nodes[node]->ports)
            {
                replicas.push_back({port, m_nodes[node]->replicationId});
            }
        }
    }
    return replicas;
}

std::vector<uint64_t>
P4Pipeline::KeepFields(uint32_t fieldList)
{
    std::vector<uint64_t> kept;
    const auto found = m_program->fieldLists.find(fieldList);
    if (found != m_program->fieldLists.end())
    {
        for (const auto& [slot, limbs] : found->second)
        {
            const auto field = m_machine.GetPacket().subspan(slot, limbs);
            kept.insert(kept.end(), field.begin(), field.end());
        }
    }
    return kept;
}

void
P4Pipeline::RestoreFields(uint32_t fieldList, const std::vector<uint64_t>& kept)
{
    const auto found = m_program->fieldLists.find(fieldList);
    if (found == m_program->fieldLists.end())
    {
        return;
    }
    auto from = kept.begin();
    for (const auto& [slot, limbs] : found->second)
    {
        std::copy_n(from, limbs, m_machine.GetPacket().begin() + slot);
        from += limbs;
    }
}

void
P4Pipeline::CountPass()
{
    if (++m_passes > MAX_PASSES)
    {
        throw P4Error(
            m_program->file,
            fmt::format("a packet goes through the switch more than {} times", MAX_PASSES));
    }
}

P4MatchTable&
P4Pipeline::FindTable(const std::string& name)
{
    for (auto& table : m_machine.GetTables())
    {
        if (table.GetTable().name == name)
        {
            return table;
        }
    }
    throw P4Error(m_program->file, fmt::format("there is no table \"{}\"", name));
}

uint32_t
P4Pipeline::FindRegisterIndex(const std::string& name, uint32_t index) const
{
    for (size_t i = 0; i < m_program->registers.size(); ++i)
    {
        if (m_program->registers[i].name == name && index < m_program->registers[i].size)
        {
            return static_cast<uint32_t>(i);
        }
    }
    throw P4Error(m_program->file, fmt::format("there is no register \"{}\"[{}]", name, index));
}

uint32_t
P4Pipeline::FindCounterIndex(const std::string& name, uint32_t index) const
{
    for (size_t i = 0; i < m_program->counters.size(); ++i)
    {
        if (m_program->counters[i].name == name && index < m_program->counters[i].size)
        {
            return static_cast<uint32_t>(i);
        }
    }
    throw P4Error(m_program->file, fmt::format("there is no counter \"{}\"[{}]", name, index));
}

P4CounterValue
P4Pipeline::GetCounter(const std::string& name, uint32_t index) const
{
    return m_machine.GetCounters()[FindCounterIndex(name, index)][index];
}

void
P4Pipeline::SetCounter(const std::string& name, uint32_t index, P4CounterValue value)
{
    m_machine.GetCounters()[FindCounterIndex(name, index)][index] = value;
}

void
P4Pipeline::ResetCounter(const std::string& name)
{
    auto& counters = m_machine.GetCounters()[FindCounterIndex(name, 0)];
    std::fill(counters.begin(), counters.end(), P4CounterValue{});
}

uint64_t
P4Pipeline::GetCounterPackets(const std::string& name, uint32_t index) const
{
    return GetCounter(name, index).packets;
}

uint64_t
P4Pipeline::GetRegister(const std::string& name, uint32_t index)
{
    const uint32_t array = FindRegisterIndex(name, index);
    return m_machine.GetRegisters()[array][size_t{index} * m_program->registers[array].limbs];
}

std::vector<uint64_t>
P4Pipeline::GetRegisterLimbs(const std::string& name, uint32_t index) const
{
    const uint32_t array = FindRegisterIndex(name, index);
    const uint32_t limbs = m_program->registers[array].limbs;
    const auto first =
        m_machine.GetRegisters()[array].begin() + static_cast<ptrdiff_t>(size_t{index} * limbs);
    return {first, first + limbs};
}

void
P4Pipeline::ResetRegister(const std::string& name)
{
    auto& cells = m_machine.GetRegisters()[FindRegisterIndex(name, 0)];
    std::fill(cells.begin(), cells.end(), 0);
}

void
P4Pipeline::SetRegister(const std::string& name, uint32_t index, const std::vector<uint64_t>& value)
{
    const uint32_t array = FindRegisterIndex(name, index);
    const uint32_t limbs = m_program->registers[array].limbs;
    auto cell =
        m_machine.GetRegisters()[array].begin() + static_cast<ptrdiff_t>(size_t{index} * limbs);
    for (uint32_t i = 0; i < limbs; ++i)
    {
        *cell++ = i < value.size() ? value[i] : 0;
    }
}

std::vector<uint32_t>&
P4Pipeline::FindMembers(uint32_t group)
{
    const auto found = m_groups.find(group);
    if (found == m_groups.end())
    {
        throw P4Error(m_program->file, fmt::format("there is no multicast group {}", group));
    }
    return found->second;
}

P4Pipeline::Node&
P4Pipeline::FindNode(uint32_t node)
{
    if (node >= m_nodes.size() || !m_nodes[node])
    {
        throw P4Error(m_program->file, fmt::format("there is no multicast node {}", node));
    }
    return *m_nodes[node];
}

void
P4Pipeline::CreateGroup(uint32_t group)
{
    if (!m_groups.emplace(group, std::vector<uint32_t>{}).second)
    {
        throw P4Error(m_program->file, fmt::format("multicast group {} is there already", group));
    }
}

void
P4Pipeline::DestroyGroup(uint32_t group)
{
    for (const uint32_t node : FindMembers(group))
    {
        m_nodes[node]->group.reset();
    }
    m_groups.erase(group);
}

uint32_t
P4Pipeline::CreateNode(uint32_t replicationId, const std::vector<uint32_t>& ports)
{
    const auto free =
        std::find_if(m_nodes.begin(), m_nodes.end(), [](const auto& node) { return !node; });
    const auto handle = static_cast<uint32_t>(free - m_nodes.begin());
    if (free == m_nodes.end())
    {
        m_nodes.emplace_back();
    }
    m_nodes[handle] = Node{replicationId, {}, {}};
    UpdateNode(handle, ports);
    return handle;
}

void
P4Pipeline::UpdateNode(uint32_t node, const std::vector<uint32_t>& ports)
{
    // A node's ports are a set: each gets one copy, in ascending order.
    auto& sorted = FindNode(node).ports;
    sorted = ports;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
}

void
P4Pipeline::AssociateNode(uint32_t group, uint32_t node)
{
    auto& members = FindMembers(group);
    auto& found = FindNode(node);
    if (found.group)
    {
        throw P4Error(m_program->file,
                      fmt::format("node {} is in multicast group {} already", node, *found.group));
    }
    members.push_back(node);
    found.group = group;
}

void
P4Pipeline::DissociateNode(uint32_t group, uint32_t node)
{
    auto& members = FindMembers(group);
    auto& found = FindNode(node);
    if (found.group != group)
    {
        throw P4Error(m_program->file,
                      fmt::format("node {} is not in multicast group {}", node, group));
    }
    std::erase(members, node);
    found.group.reset();
}

void
P4Pipeline::DestroyNode(uint32_t node)
{
    if (const auto group = FindNode(node).group)
    {
        DissociateNode(*group, node);
    }
    m_nodes[node].reset();
}

void
P4Pipeline::AddMirror(uint32_t session, uint32_t target, bool isGroup)
{
    m_mirrors[session] = {target, isGroup};
}

void
P4Pipeline::DeleteMirror(uint32_t session)
{
    if (m_mirrors.erase(session) == 0)
    {
        throw P4Error(m_program->file, fmt::format("there is no mirroring session {}", session));
    }
}

std::optional<std::pair<uint32_t, bool>>
P4Pipeline::GetMirror(uint32_t session) const
{
    const auto found = m_mirrors.find(session);
    if (found == m_mirrors.end())
    {
        return std::nullopt;
    }
    return std::pair(found->second.target, found->second.isGroup);
}

} // namespace ns3::gradsync
