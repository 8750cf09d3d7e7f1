// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NODE_NAMES_H
#define GRADSYNC_NODE_NAMES_H

#include "ns3/json-value.h"
#include "ns3/topology.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// Names of a topology's nodes, to be looked up in scenario files.
class NodeNames
{
  public:
    /// Endpoints and their indices, which may stand in the place of the names.
    static NodeNames OfEndpoints(const Topology& topology);
    /// All nodes that forward, and their NodeIds.
    static NodeNames OfForwarders(const Topology& topology);
    static NodeNames OfAll(const Topology& topology);

    /// \throws ScenarioError for a name that does not exist, with the nearest one
    uint32_t Read(const JsonValue& value) const;

    /// A list of names, each once; ascending. \throws ScenarioError
    std::vector<uint32_t> ReadList(const JsonValue& list) const;

  private:
    std::string m_what;
    std::map<std::string, uint32_t> m_index;
    bool m_numbered{false}; //!< a number may stand for a name
};

/// `[["leaf0", "spine1"], ...]`: all links between the two nodes. \throws ScenarioError
std::vector<uint32_t> ReadLinkNames(const JsonValue& list, const Topology& topology);

} // namespace ns3::gradsync

#endif // GRADSYNC_NODE_NAMES_H
