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

} // namespace

P4Pipeline::P4Pipeline(std::shared_ptr<const P4Program> program)
    : m_program(std::move(program)),
      m_machine(m_program),
      m_replication(m_program->file)
{
}

void
P4Pipeline::ResetState()
{
    m_machine.ResetState();
    m_replication.ClearGroups();
    m_digests.clear();
    m_unacknowledged.clear();
    m_lostDigests = 0;
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
        Replicate(m_replication.FindGroup(group));
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
    Replicate(m_replication.FindMirror(requests.cloneSession));
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

} // namespace ns3::gradsync
