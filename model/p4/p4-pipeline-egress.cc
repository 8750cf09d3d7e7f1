// SPDX-License-Identifier: GPL-2.0-only
// The part of P4Pipeline behind the queues: egress, and what leaves it.
#include "ns3/p4-pipeline.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

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
    m_machine.SetFrameBytes(packet.frameBytes);
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
    waiting->frameBytes = m_machine.GetFrameBytes();
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
    Replicate(m_replication.FindMirror(requests.cloneSession));
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

} // namespace ns3::gradsync
