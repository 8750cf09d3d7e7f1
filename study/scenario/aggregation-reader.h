// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_READER_H
#define GRADSYNC_AGGREGATION_READER_H

#include "ns3/attribute-reader.h"

#include <string>
#include <string_view>
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

/// Keys of `transport.aggregation` but for old names.
std::vector<std::string> GetAggregationKeys();

/// Old names of keys of `transport.aggregation`, which are still read.
std::vector<std::string> GetOldAggregationKeys();

/// Keys of `transport.aggregation.NAME` for the driver of that name; empty when there is none.
std::vector<std::string> GetAggregationDriverKeys(std::string_view driver);

/// \throws ScenarioError
AggregationChoice ReadAggregation(const JsonValue& settings);

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_READER_H
