// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_CAPTURE_H
#define GRADSYNC_ROCE_CAPTURE_H

#include "ns3/pcap-file.h"
#include "ns3/port-observer.h"
#include "ns3/roce-connection-table.h"
#include "ns3/roce-frame-maker.h"
#include "ns3/topology.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * Writes what links carry to pcap files (nanosecond resolution, Ethernet), a file for each end, of
 * what it sends. Time stamps are those of a frame's first bit.
 */
class RoceCapture final : public PacketTap
{
  public:
    /// \param topology,connections must outlive the capture
    RoceCapture(const Topology& topology, const RoceConnectionTable& connections);

    /**
     * Makes the files `folder`/NAME.pcap of both ends, named by MakeCaptureNames.
     * \throws std::runtime_error when a file cannot be made
     */
    void Add(LinkId link, const std::string& folder);

    void OnPacket(uint32_t portIndex, const FabricPacket& packet, TimeStepCount start) override;

    /// What packets for programs of switches are on the wire.
    using ProgramFrames =
        std::function<std::vector<uint8_t>(const FabricPacket&, NodeId sender, NodeId receiver)>;

    /// Without them these packets are left out.
    void SetProgramFrames(ProgramFrames frames);

    /// Flushes the files. \throws std::runtime_error when something could not be written
    void Close();

  private:
    struct File
    {
        PcapFile file;
        std::string name;
        uint32_t sender;
        uint32_t receiver;
    };

    void AddFile(uint32_t portIndex, NodeId sender, NodeId receiver, const std::string& name);
    std::vector<uint8_t> MakeFrame(const File& file, const FabricPacket& packet);

    const Topology& m_topology;
    RoceFrameMaker m_frames;
    std::vector<std::string> m_names; //!< [port]
    ProgramFrames m_programFrames;
    std::map<uint32_t, File> m_files; //!< [port]
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ROCE_CAPTURE_H
