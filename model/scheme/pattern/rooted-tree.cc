// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/rooted-tree.h"

#include "ns3/scheme-support.h"

#include <bit>
#include <fmt/format.h>

namespace ns3::gradsync
{

std::vector<TreeEdge>
MakeTreeEdges(std::string_view shape, uint32_t workers, uint32_t root)
{
    std::vector<TreeEdge> edges;
    const auto add = [&](uint32_t parent, uint32_t child) {
        edges.push_back({(parent + root) % workers, (child + root) % workers});
    };
    if (shape == "binomial")
    {
        for (uint32_t stride = std::bit_ceil(workers) / 2; stride > 0; stride /= 2)
        {
            for (uint32_t parent = 0; parent + stride < workers; parent += 2 * stride)
            {
                add(parent, parent + stride);
            }
        }
        return edges;
    }
    for (uint32_t child = 1; child < workers; ++child)
    {
        add(shape == "star" ? 0 : child - 1, child);
    }
    return edges;
}

uint32_t
GetRoot(const SchemeRequest& request)
{
    const auto root = GetCount(request.parameters, "root", 0);
    if (root >= request.workers)
    {
        throw SchemeError(fmt::format("root is {}, but the {} workers are the ranks 0 to {}",
                                      root,
                                      request.workers,
                                      request.workers - 1));
    }
    return root;
}

ParameterSpec
MakeRootSpec()
{
    return {"root", int64_t{0}, "rank of the worker at the root", {}, 0, 1 << 20};
}

} // namespace ns3::gradsync
