// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/capture-names.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <string_view>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// File systems allow 255 bytes; this leaves room for `~`, a port and an extension.
constexpr size_t MAX_NAME = 230;

bool
IsSafe(char character)
{
    const auto isAscii = static_cast<unsigned char>(character) < 0x80;
    return isAscii && (std::isalnum(static_cast<unsigned char>(character)) != 0 ||
                       std::string_view("._-+,=@").find(character) != std::string_view::npos);
}

/// Different names stay different: `%` itself is written as %25.
std::string
MakeSafe(std::string_view name)
{
    std::string safe;
    for (const char character : name)
    {
        const bool isFirst = safe.empty() && (character == '.' || character == '-');
        safe += IsSafe(character) && !isFirst
                    ? std::string(1, character)
                    : fmt::format("%{:02X}", static_cast<unsigned char>(character));
    }
    return safe;
}

} // namespace

std::vector<std::string>
MakeCaptureNames(const Topology& topology)
{
    const auto nodes = topology.GetNodes();
    const auto links = topology.GetLinks();
    std::map<std::pair<NodeId, NodeId>, uint32_t> joining;
    for (const auto& link : links)
    {
        ++joining[std::minmax(link.a, link.b)];
    }
    std::vector<std::string> names;
    std::map<std::string, uint32_t> uses;
    for (size_t id = 0; id < links.size(); ++id)
    {
        const auto& link = links[id];
        const bool isParallel = joining.at(std::minmax(link.a, link.b)) > 1;
        const auto suffix = isParallel ? fmt::format("-{}", id) : std::string();
        const auto a = MakeSafe(nodes[link.a].name);
        const auto b = MakeSafe(nodes[link.b].name);
        for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)})
        {
            names.push_back(fmt::format("{}-{}{}", from, to, suffix));
            ++uses[names.back()];
        }
    }
    for (size_t port = 0; port < names.size(); ++port)
    {
        if (uses.at(names[port]) > 1 || names[port].size() > MAX_NAME)
        {
            names[port] = fmt::format("{}~{}", names[port].substr(0, MAX_NAME), port);
        }
    }
    return names;
}

} // namespace ns3::gradsync
