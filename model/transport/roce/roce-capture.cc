// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/roce-capture.h"

#include "ns3/capture-names.h"
#include "ns3/nstime.h"

#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr uint32_t ETHERNET = 1; //!< data link type of pcap files

} // namespace

RoceCapture::RoceCapture(const Topology& topology, const RoceConnectionTable& connections)
    : m_topology(topology),
      m_connections(connections),
      m_names(MakeCaptureNames(topology))
{
}

void
RoceCapture::Add(LinkId id, const std::string& folder)
{
    const auto& link = m_topology.GetLinks()[id];
    const uint32_t forth = 2 * id;
    const uint32_t back = forth + 1;
    AddFile(forth, link.a, link.b, fmt::format("{}/{}.pcap", folder, m_names[forth]));
    AddFile(back, link.b, link.a, fmt::format("{}/{}.pcap", folder, m_names[back]));
}

void
RoceCapture::AddFile(uint32_t portIndex, NodeId sender, NodeId receiver, const std::string& name)
{
    auto& entry = m_files[portIndex];
    entry.name = name;
    entry.sender = sender;
    entry.receiver = receiver;
    entry.file.Open(name, std::ios::out | std::ios::trunc);
    if (!entry.file.Fail())
    {
        entry.file.Init(ETHERNET, PcapFile::SNAPLEN_DEFAULT, PcapFile::ZONE_DEFAULT, false, true);
    }
    if (entry.file.Fail())
    {
        throw std::runtime_error(name + ": cannot be written");
    }
}

RoceFrameInfo
RoceCapture::Describe(const File& file, const FabricPacket& packet)
{
    RoceFrameInfo info{};
    info.senderNode = file.sender;
    info.receiverNode = file.receiver;
    if (packet.kind == PacketKind::Pause || packet.kind == PacketKind::Resume)
    {
        return info;
    }
    const auto key = std::pair{packet.connection, packet.generation};
    const auto* queuePair = m_connections.Find(packet.connection, packet.generation);
    // A closed one keeps its ends until it serves again, which begins another generation still.
    const auto& last = m_connections.Peek(packet.connection);
    if (last.generation - packet.generation <= 1)
    {
        m_seen[key] = {last.src, last.dst};
    }
    const auto& connection = m_seen[key];
    const bool isData = packet.kind == PacketKind::Data;
    info.sourceEndpoint = isData ? connection.src : connection.dst;
    // Even numbers at senders, odd ones at receivers; 0 and 1 are special on real devices.
    info.destinationPair = 2 * packet.connection + (isData ? 3 : 2);
    if (isData && queuePair && queuePair->oldest && packet.psn >= queuePair->oldest->firstPsn)
    {
        info.isFirst = queuePair->FindMessage(packet.psn).firstPsn == packet.psn;
    }
    return info;
}

void
RoceCapture::SetProgramFrames(ProgramFrames frames)
{
    m_programFrames = std::move(frames);
}

std::vector<uint8_t>
RoceCapture::MakeFrame(const File& file, const FabricPacket& packet)
{
    if ((packet.flags & PacketFlag::PROGRAM) == 0)
    {
        return MakeRoceFrame(packet, Describe(file, packet));
    }
    auto bytes = m_programFrames ? m_programFrames(packet, file.sender, file.receiver)
                                 : std::vector<uint8_t>();
    if (packet.connection == UINT32_MAX)
    {
        return bytes;
    }
    auto info = Describe(file, packet);
    info.payload = std::move(bytes);
    return MakeRoceFrame(packet, info);
}

void
RoceCapture::OnPacket(uint32_t portIndex, const FabricPacket& packet, TimeStepCount start)
{
    if (packet.kind == PacketKind::Flood)
    {
        return; // foreign: nothing is known of its headers
    }
    auto& entry = m_files.at(portIndex);
    const auto frame = MakeFrame(entry, packet);
    if (frame.empty())
    {
        return;
    }
    const auto nanoseconds = TimeStep(start).GetNanoSeconds();
    constexpr int64_t SECOND = 1'000'000'000;
    entry.file.Write(static_cast<uint32_t>(nanoseconds / SECOND),
                     static_cast<uint32_t>(nanoseconds % SECOND),
                     frame.data(),
                     static_cast<uint32_t>(frame.size()));
}

void
RoceCapture::Close()
{
    for (auto& [port, entry] : m_files)
    {
        const bool failed = entry.file.Fail();
        entry.file.Close();
        if (failed || entry.file.Fail())
        {
            throw std::runtime_error(entry.name + ": cannot be written");
        }
    }
    m_files.clear();
}

} // namespace ns3::gradsync
