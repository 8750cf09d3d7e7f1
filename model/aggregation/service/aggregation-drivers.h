// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_DRIVERS_H
#define GRADSYNC_AGGREGATION_DRIVERS_H

#include "ns3/aggregation-driver.h"
#include "ns3/type-id.h"

#include <string>
#include <vector>

namespace ns3::gradsync
{

/// A driver that every service has.
struct AggregationDriverEntry
{
    std::string name; //!< in scenarios: its Attributes are at transport.aggregation.NAME
    std::vector<std::string> protocols; //!< as plans name them
    TypeId (*getTypeId)();
    std::vector<CompiledLimit> compiled{}; //!< what the engine p4 lets its Attributes be
    std::vector<CompiledChoice> chosen{};  //!< likewise
};

/// All of them. To add a protocol: a row here.
const std::vector<AggregationDriverEntry>& GetAggregationDrivers();

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_DRIVERS_H
