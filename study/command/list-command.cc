// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/aggregation-drivers.h"
#include "ns3/aggregation-service.h"
#include "ns3/congestion-controls.h"
#include "ns3/parameter-listing.h"
#include "ns3/program-commands.h"
#include "ns3/scenario-schema.h"
#include "ns3/scenario-sections.h"
#include "ns3/time-resolution.h"
#include "ns3/transport-registry.h"

#include <fmt/format.h>
#include <ostream>
#include <span>
#include <string>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// A group of what scenarios can name: of kinds, or of parameters alone.
struct ListedGroup
{
    const char* key; //!< in JSON
    std::string title;
    std::vector<KindSpec> kinds;
    std::vector<ParameterSpec> parameters{};
};

ListedGroup
MakeGroup(const char* key, const char* title, const char* section)
{
    const auto kinds = FindKindSection(section)->getKinds();
    return {key, title, {kinds.begin(), kinds.end()}};
}

/// Their parts, which are objects, are groups of their own.
ListedGroup
MakeTransportGroup()
{
    auto group = MakeGroup("transports", "Transports (transport.kind)", "transport");
    for (auto& kind : group.kinds)
    {
        std::erase_if(kind.parameters,
                      [](const ParameterSpec& spec) { return !spec.members.empty(); });
    }
    return group;
}

ListedGroup
MakeCongestionGroup()
{
    ListedGroup group{"congestionControls",
                      "Congestion control of roce (transport.congestionControl; Attributes under "
                      "transport.NAME)",
                      {}};
    for (const auto& entry : GetCongestionControls())
    {
        group.kinds.push_back({entry.name,
                               MakeCongestionControl(entry)->GetSummary(),
                               DescribeAttributes(entry.type)});
    }
    return group;
}

ListedGroup
MakeAggregationGroup()
{
    ListedGroup group{"aggregation",
                      "Switches that aggregate, of roce (transport.aggregation; Attributes of "
                      "protocols under transport.aggregation.NAME)",
                      {},
                      DescribeAttributes(AggregationService::GetTypeId())};
    for (const auto& entry : GetAggregationDrivers())
    {
        group.kinds.push_back({entry.name,
                               fmt::format("{}", fmt::join(entry.protocols, ", ")),
                               DescribeAttributes(entry.getTypeId())});
    }
    return group;
}

std::vector<ListedGroup>
MakeGroups()
{
    return {MakeGroup("schemes", "Schemes (scheme.kind)", "scheme"),
            MakeGroup("topologies", "Topologies (topology.kind)", "topology"),
            MakeTransportGroup(),
            MakeCongestionGroup(),
            MakeAggregationGroup(),
            {"fabric", "Packet-level network (fabric)", {}, DescribeAttributes(GetFabricTypeId())},
            MakeGroup("codecs", "Codecs (job.codec.kind)", "codec"),
            MakeGroup("protocols", "Protocols of messages (job.protocol.kind)", "protocol"),
            MakeGroup("faults", "Faults (faults.N.kind)", "fault"),
            MakeGroup("traffic", "Background traffic (traffic.N.kind)", "traffic"),
            {"job", "Jobs (job)", {}, GetJobParameters()},
            {"plot", "Hints for the plot (plot)", {}, GetPlotParameters()},
            {"results", "What is recorded (results)", {}, GetResultsParameters()}};
}

void
ListAsText(std::span<const ListedGroup> groups, std::ostream& out)
{
    for (const auto& group : groups)
    {
        out << (&group == groups.data() ? "" : "\n") << group.title << '\n';
        ListParameters(group.parameters, out);
        for (const auto& kind : group.kinds)
        {
            out << fmt::format("  {:<20}{}{}\n",
                               kind.name,
                               kind.summary,
                               kind.source.empty() ? "" : fmt::format(" [{}]", kind.source));
            ListParameters(kind.parameters, out);
        }
    }
}

Json
ListAsJson(std::span<const ListedGroup> groups)
{
    Json list = Json::object();
    for (const auto& group : groups)
    {
        auto& entry = list[group.key];
        entry["parameters"] = DescribeParameters(group.parameters);
        entry["kinds"] = Json::array();
        for (const auto& kind : group.kinds)
        {
            entry["kinds"].push_back({{"name", kind.name},
                                      {"summary", kind.summary},
                                      {"source", kind.source},
                                      {"parameters", DescribeParameters(kind.parameters)}});
        }
    }
    return list;
}

} // namespace

int
ListCommand(std::ostream& out, ListFormat format)
{
    UsePicoseconds();
    switch (format)
    {
    case ListFormat::Lines:
        ListAsText(MakeGroups(), out);
        break;
    case ListFormat::Objects:
        out << ListAsJson(MakeGroups()).dump(2) << '\n';
        break;
    case ListFormat::Schema:
        out << MakeScenarioSchema().dump(2) << '\n';
        break;
    }
    return exit_code::OK;
}

} // namespace ns3::gradsync
