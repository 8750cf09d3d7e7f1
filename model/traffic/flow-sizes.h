// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FLOW_SIZES_H
#define GRADSYNC_FLOW_SIZES_H

#include "ns3/ptr.h"
#include "ns3/random-variable-stream.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/// A point of a cumulative distribution of flow sizes, linear up to the next.
struct FlowSizePoint
{
    double bytes;
    double percent; //!< of the flows that are not larger
};

/// A measured distribution of flow sizes.
struct FlowSizes
{
    std::string name;
    std::string source;
    std::vector<FlowSizePoint> points;

    double GetMeanBytes() const;

    /// Draws from it. \param stream random number stream
    Ptr<RandomVariableStream> MakeVariable(int64_t stream) const;
};

/// All distributions that scenarios can name, by name.
std::span<const FlowSizes> GetFlowSizes();

/// The distribution of that name, or nullptr.
const FlowSizes* FindFlowSizes(std::string_view name);

} // namespace ns3::gradsync

#endif // GRADSYNC_FLOW_SIZES_H
