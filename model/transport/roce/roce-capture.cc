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
      m_frames(connections),
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
        return m_frames.Make(packet, file.sender, file.receiver);
    }
    auto bytes = m_programFrames ? m_programFrames(packet, file.sender, file.receiver)
                                 : std::vector<uint8_t>();
    if (packet.connection == UINT32_MAX)
    {
        return bytes;
    }
    auto info = m_frames.Describe(packet, file.sender, file.receiver);
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
