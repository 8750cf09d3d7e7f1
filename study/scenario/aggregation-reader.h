// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_READER_H
#define GRADSYNC_AGGREGATION_READER_H

#include "ns3/attribute-reader.h"

#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// The part of a transport that lets switches aggregate: Attributes of the service, and those of
/// the drivers of protocols in objects of their own.
inline constexpr const char* AGGREGATION_PART = "aggregation";

/// A key that has another place now, by their paths in the scenario.
struct RenamedKey
{
    std::string old;
    std::string now;

    auto operator<=>(const RenamedKey&) const = default;
};

/// What `transport.aggregation` sets.
struct AggregationChoice
{
    /// By name of the part: `aggregation`, `aggregation.atp`.
    std::vector<std::pair<std::string, AttributeSettings>> parts;
    std::vector<RenamedKey> renamed; //!< keys that were read under their old names
};

/// The part of the driver of a protocol, as `aggregation.atp`.
std::string GetDriverPart(const std::string& driver);

/// What `transport.aggregation` knows: Attributes, `programs`, the drivers and, marked as such, old
/// names.
const std::vector<ParameterSpec>& GetAggregationParameters();

/// \throws ScenarioError
AggregationChoice ReadAggregation(const JsonValue& settings);

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_READER_H
