// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SERVER_BUILDER_H
#define GRADSYNC_SERVER_BUILDER_H

#include "ns3/topology.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/// Rate and delay of the links of one kind.
struct LinkOptions
{
    DataRate rate{0}; //!< per direction; 0: not given
    Time delay{0};    //!< propagation, one way
};

/**
 * What a server is made of.
 *
 * With one accelerator the server is a single endpoint of kind Host, and `nics` is the number of
 * its links into the network. With more, every accelerator is an endpoint: sockets are fully meshed
 * by UPI, each has a Cpu (root complex) with PcieSwitches below, and accelerators and NICs hang on
 * these, spread over them, as they over the sockets, in contiguous, near-equal parts. With
 * `directNics` each accelerator hangs at its own NIC, and there is nothing between.
 */
struct ServerOptions
{
    uint32_t accelerators{1};
    uint32_t nics{1};
    uint32_t sockets{1};
    uint32_t pcieSwitches{0}; //!< of all sockets; 0: one each
    bool directNics{false};   //!< as many NICs as accelerators, no Cpu and no PcieSwitch
    /// PCIe 3.0 x16: 16 lanes of 8 GT/s with 128b/130b coding. The delay is an assumption.
    LinkOptions pcie{DataRate(126'030'769'230), NanoSeconds(250)};
    /// One UPI link of 10.4 GT/s, 2 bytes wide (data sheet: 20.8 GB/s). The delay is an assumption.
    LinkOptions upi{DataRate(166'400'000'000), NanoSeconds(100)};
    /// Every accelerator to one NvSwitch; rate 0: the server has none.
    LinkOptions nvlink{};
};

/// Most endpoints a generator makes.
constexpr uint64_t MaxEndpoints = 32'768;
/// Most links that a generator makes between switches.
constexpr uint64_t MaxFabricLinks = 4'194'304;

/// \throws std::invalid_argument when the rate is 0 or the delay negative; `what` names the link in
/// the text
void CheckLink(const LinkOptions& link, std::string_view what);

/// \throws std::invalid_argument when the value is 0; `what` names it in the text
void CheckPositive(uint64_t value, std::string_view what);

/// \throws std::invalid_argument when so many links between switches are more than MaxFabricLinks
void CheckLinkCount(uint64_t links);

/**
 * \returns the rate of each of `links` parallel uplinks that makes demand / capacity =
 * oversubscription, rounded up to whole bits per second \param demandBps what the group wants to
 * send, in bit/s; \param what names the value in the error text \throws std::invalid_argument when
 * the ratio is negative, not finite, or leads to no usable rate
 */
DataRate GetOversubscribedRate(double demandBps,
                               uint64_t links,
                               double oversubscription,
                               std::string_view what);

/// Adds servers to a topology, named host0, host1, ... with inner nodes host0.gpu0, host0.nic0, ...
class ServerBuilder
{
  public:
    /// \throws std::invalid_argument when an option is zero or inconsistent
    ServerBuilder(Topology& topology, const ServerOptions& server, const LinkOptions& hostLink);

    /// \throws std::invalid_argument when so many servers have more than MaxEndpoints endpoints
    void CheckServerCount(uint64_t servers) const;

    /// Adds the next server below leaf switches, over which its NICs are spread in contiguous,
    /// near-equal parts. \param leaves at least one, at most as many as NICs
    void AddServer(std::span<const NodeId> leaves);

    /// All NICs are at one leaf.
    void AddServer(NodeId leaf);

    /// Rate at which the endpoints of one server can send into the network, in bit/s.
    double GetDemandBps() const;

  private:
    void AddAcceleratorServer(const std::string& name, std::span<const NodeId> leaves);
    void AddDirectServer(const std::string& name, std::span<const NodeId> leaves);
    std::optional<NodeId> AddNvSwitch(const std::string& name);
    void CheckDirectNics() const;
    /// \returns those of all sockets, in order
    std::vector<NodeId> AddPcieSwitches(const std::string& name);
    NodeId AddInner(const std::string& name, NodeKind kind);
    void Connect(NodeId a, NodeId b, const LinkOptions& link, LinkKind kind);

    Topology& m_topology;
    ServerOptions m_server;
    LinkOptions m_hostLink;
    uint32_t m_nextServer{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SERVER_BUILDER_H
