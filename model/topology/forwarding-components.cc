// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/forwarding-components.h"

namespace ns3::gradsync
{

ForwardingComponents
FindForwardingComponents(const Topology& topology)
{
    const auto nodes = topology.GetNodes();
    ForwardingComponents found{std::vector<uint32_t>(nodes.size(), ForwardingComponents::None), 0};
    const auto isLeft = [&](NodeId node) {
        return !IsEndpoint(nodes[node].kind) &&
               found.componentOf[node] == ForwardingComponents::None;
    };
    std::vector<NodeId> queue;
    for (NodeId first = 0; first < nodes.size(); ++first)
    {
        if (!isLeft(first))
        {
            continue;
        }
        found.componentOf[first] = found.count;
        queue.assign(1, first);
        while (!queue.empty())
        {
            const auto node = queue.back();
            queue.pop_back();
            for (const auto& port : topology.GetPorts(node))
            {
                if (isLeft(port.peer))
                {
                    found.componentOf[port.peer] = found.count;
                    queue.push_back(port.peer);
                }
            }
        }
        ++found.count;
    }
    return found;
}

} // namespace ns3::gradsync
