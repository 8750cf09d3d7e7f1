// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/server-builder.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>
#include <vector>

namespace ns3::gradsync
{

void
CheckLink(const LinkOptions& link, std::string_view what)
{
    if (link.rate.GetBitRate() == 0)
    {
        throw std::invalid_argument(fmt::format("{}: the rate must be above 0", what));
    }
    if (link.delay.IsStrictlyNegative())
    {
        throw std::invalid_argument(fmt::format("{}: the delay must not be negative", what));
    }
}

void
CheckPositive(uint64_t value, std::string_view what)
{
    if (value == 0)
    {
        throw std::invalid_argument(fmt::format("{} must be at least 1", what));
    }
}

void
CheckLinkCount(uint64_t links)
{
    if (links > MaxFabricLinks)
    {
        throw std::invalid_argument(
            fmt::format("{} links between switches are more than the {} allowed",
                        links,
                        MaxFabricLinks));
    }
}

DataRate
GetOversubscribedRate(double demandBps,
                      uint64_t links,
                      double oversubscription,
                      std::string_view what)
{
    if (!std::isfinite(oversubscription) || oversubscription < 0)
    {
        throw std::invalid_argument(
            fmt::format("{} is {}, but must be a number above 0", what, oversubscription));
    }
    const auto rate = std::ceil(demandBps / (static_cast<double>(links) * oversubscription));
    constexpr double MaxRate = 1e18; // far above any link, far below 2^64
    if (!(rate <= MaxRate))
    {
        throw std::invalid_argument(fmt::format("{} of {} would need uplinks of {:.3g} bit/s",
                                                what,
                                                oversubscription,
                                                rate));
    }
    return DataRate(static_cast<uint64_t>(rate));
}

ServerBuilder::ServerBuilder(Topology& topology,
                             const ServerOptions& server,
                             const LinkOptions& hostLink)
    : m_topology(topology),
      m_server(server),
      m_hostLink(hostLink)
{
    CheckLink(hostLink, "hostLink");
    CheckPositive(server.accelerators, "server.accelerators");
    CheckPositive(server.nics, "server.nics");
    CheckPositive(server.sockets, "server.sockets");
    if (server.accelerators == 1)
    {
        return;
    }
    CheckLink(server.pcie, "server.pcie");
    if (server.directNics)
    {
        CheckDirectNics();
    }
    if (server.sockets > server.accelerators)
    {
        throw std::invalid_argument(
            fmt::format("server.sockets is {}, more than its {} accelerators",
                        server.sockets,
                        server.accelerators));
    }
    if (server.pcieSwitches != 0 &&
        (server.pcieSwitches < server.sockets || server.pcieSwitches > server.accelerators))
    {
        throw std::invalid_argument(
            fmt::format("server.pcieSwitches is {}, but must be from its {} sockets to its {} "
                        "accelerators",
                        server.pcieSwitches,
                        server.sockets,
                        server.accelerators));
    }
    if (server.sockets > 1)
    {
        CheckLink(server.upi, "server.upi");
    }
    if (server.nvlink.rate.GetBitRate() > 0)
    {
        CheckLink(server.nvlink, "server.nvlink");
    }
}

void
ServerBuilder::CheckDirectNics() const
{
    if (m_server.nics != m_server.accelerators)
    {
        throw std::invalid_argument(
            fmt::format("server.directNics gives each accelerator its own NIC, but server.nics is "
                        "{} and server.accelerators {}",
                        m_server.nics,
                        m_server.accelerators));
    }
    if (m_server.sockets != 1 || m_server.pcieSwitches != 0)
    {
        throw std::invalid_argument("with server.directNics a server has neither server.sockets "
                                    "nor server.pcieSwitches");
    }
}

void
ServerBuilder::CheckServerCount(uint64_t servers) const
{
    if (servers > MaxEndpoints / m_server.accelerators)
    {
        throw std::invalid_argument(
            fmt::format("{} servers of {} accelerators are more than the {} endpoints allowed",
                        servers,
                        m_server.accelerators,
                        MaxEndpoints));
    }
}

void
ServerBuilder::AddServer(NodeId leaf)
{
    AddServer(std::span(&leaf, 1));
}

void
ServerBuilder::AddServer(std::span<const NodeId> leaves)
{
    const auto name = fmt::format("host{}", m_nextServer++);
    if (m_server.accelerators > 1)
    {
        m_server.directNics ? AddDirectServer(name, leaves) : AddAcceleratorServer(name, leaves);
        return;
    }
    const auto host = AddInner(name, NodeKind::Host);
    for (uint64_t nic = 0; nic < m_server.nics; ++nic)
    {
        Connect(host, leaves[nic * leaves.size() / m_server.nics], m_hostLink, LinkKind::Host);
    }
}

std::vector<NodeId>
ServerBuilder::AddPcieSwitches(const std::string& name)
{
    const uint64_t count =
        m_server.pcieSwitches == 0 ? m_server.sockets : uint64_t{m_server.pcieSwitches};
    std::vector<NodeId> cpus;
    std::vector<NodeId> pcieSwitches;
    for (uint32_t socket = 0; socket < m_server.sockets; ++socket)
    {
        cpus.push_back(AddInner(fmt::format("{}.cpu{}", name, socket), NodeKind::Cpu));
        while (pcieSwitches.size() < count &&
               pcieSwitches.size() * m_server.sockets / count == socket)
        {
            pcieSwitches.push_back(AddInner(fmt::format("{}.pcie{}", name, pcieSwitches.size()),
                                            NodeKind::PcieSwitch));
            Connect(cpus.back(), pcieSwitches.back(), m_server.pcie, LinkKind::Pcie);
        }
        for (uint32_t other = 0; other < socket; ++other)
        {
            Connect(cpus[other], cpus[socket], m_server.upi, LinkKind::Upi);
        }
    }
    return pcieSwitches;
}

void
ServerBuilder::AddAcceleratorServer(const std::string& name, std::span<const NodeId> leaves)
{
    const auto pcieSwitches = AddPcieSwitches(name);
    const auto switchOf = [&](uint64_t index, uint64_t count) {
        return pcieSwitches[index * pcieSwitches.size() / count];
    };
    const auto nvSwitch = AddNvSwitch(name);
    for (uint32_t gpu = 0; gpu < m_server.accelerators; ++gpu)
    {
        const auto node = AddInner(fmt::format("{}.gpu{}", name, gpu), NodeKind::Accelerator);
        Connect(node, switchOf(gpu, m_server.accelerators), m_server.pcie, LinkKind::Pcie);
        if (nvSwitch)
        {
            Connect(node, *nvSwitch, m_server.nvlink, LinkKind::Nvlink);
        }
    }
    for (uint64_t nic = 0; nic < m_server.nics; ++nic)
    {
        const auto node = AddInner(fmt::format("{}.nic{}", name, nic), NodeKind::Nic);
        Connect(node, switchOf(nic, m_server.nics), m_server.pcie, LinkKind::Pcie);
        Connect(node, leaves[nic * leaves.size() / m_server.nics], m_hostLink, LinkKind::Host);
    }
}

void
ServerBuilder::AddDirectServer(const std::string& name, std::span<const NodeId> leaves)
{
    const auto nvSwitch = AddNvSwitch(name);
    for (uint64_t gpu = 0; gpu < m_server.accelerators; ++gpu)
    {
        const auto node = AddInner(fmt::format("{}.gpu{}", name, gpu), NodeKind::Accelerator);
        if (nvSwitch)
        {
            Connect(node, *nvSwitch, m_server.nvlink, LinkKind::Nvlink);
        }
        const auto nic = AddInner(fmt::format("{}.nic{}", name, gpu), NodeKind::Nic);
        Connect(node, nic, m_server.pcie, LinkKind::Pcie);
        Connect(nic, leaves[gpu * leaves.size() / m_server.nics], m_hostLink, LinkKind::Host);
    }
}

std::optional<NodeId>
ServerBuilder::AddNvSwitch(const std::string& name)
{
    if (m_server.nvlink.rate.GetBitRate() == 0)
    {
        return std::nullopt;
    }
    return AddInner(name + ".nvswitch", NodeKind::NvSwitch);
}

NodeId
ServerBuilder::AddInner(const std::string& name, NodeKind kind)
{
    return m_topology.AddNode(name, kind, 0);
}

void
ServerBuilder::Connect(NodeId a, NodeId b, const LinkOptions& link, LinkKind kind)
{
    m_topology.AddLink(a, b, link.rate, link.delay, kind);
}

double
ServerBuilder::GetDemandBps() const
{
    const auto nics = m_server.nics * static_cast<double>(m_hostLink.rate.GetBitRate());
    if (m_server.accelerators == 1)
    {
        return nics;
    }
    return std::min(nics,
                    m_server.accelerators * static_cast<double>(m_server.pcie.rate.GetBitRate()));
}

} // namespace ns3::gradsync
