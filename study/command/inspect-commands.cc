// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/aggregation-drivers.h"
#include "ns3/aggregation-service.h"
#include "ns3/congestion-controls.h"
#include "ns3/import-scheme.h"
#include "ns3/program-commands.h"
#include "ns3/scenario-checker.h"
#include "ns3/scenario-reader.h"
#include "ns3/scheme-reader.h"
#include "ns3/time-resolution.h"
#include "ns3/topology-section.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ostream>
#include <string>

namespace ns3::gradsync
{

namespace
{

void
ListAttributesOf(const TypeId& type, std::ostream& out)
{
    for (const auto& entry : ListAttributes(type))
    {
        out << fmt::format("      {} = {}  {}\n",
                           entry.key,
                           ShowDefault(entry),
                           entry.information.help);
    }
}

void
ListScheme(const Scheme& scheme, std::ostream& out)
{
    out << fmt::format("  {:<20}{} [{}]\n", scheme.name, scheme.summary, scheme.source);
    for (const auto& parameter : scheme.parameters)
    {
        out << fmt::format("      {} = {}  {}{}\n",
                           parameter.name,
                           ShowParameter(parameter.defaultValue),
                           parameter.help,
                           parameter.allowed.empty()
                               ? ""
                               : fmt::format(" ({})", fmt::join(parameter.allowed, ", ")));
    }
}

} // namespace

int
ValidateCommand(const std::filesystem::path& file,
                const std::vector<ScenarioOverride>& overrides,
                std::ostream& out)
{
    const auto scenario = ReadScenario(file, overrides);
    CheckScenario(scenario, true, [](const ResolvedRun&, uint64_t) {});
    out << fmt::format("{}: valid, {} run{}; every plan does what it is for\n",
                       file.string(),
                       scenario.runCount,
                       scenario.runCount == 1 ? "" : "s");
    return exit_code::OK;
}

int
ResolveCommand(const std::filesystem::path& file,
               const std::vector<ScenarioOverride>& overrides,
               std::ostream& out)
{
    const auto scenario = ReadScenario(file, overrides);
    Json runs = Json::array();
    for (uint32_t run = 0; run < scenario.runCount; ++run)
    {
        const auto resolved = ResolveRun(scenario, run);
        Json entry;
        entry["run"] = run;
        entry["values"] = Json::object();
        for (size_t i = 0; i < scenario.axes.size(); ++i)
        {
            entry["values"][scenario.axes[i].path] = resolved.point.values[i];
        }
        entry["scenario"] = resolved.point.document;
        runs.push_back(std::move(entry));
    }
    out << runs.dump(2) << '\n';
    return exit_code::OK;
}

int
ListCommand(std::ostream& out)
{
    UsePicoseconds();
    out << "Schemes (scheme.kind)\n"
           "  auto                the one of those below, with its parameters, that is estimated "
           "to "
           "take the least time [doc/auto.rst]\n";
    ListScheme(MakeImportScheme(), out);
    for (const auto& scheme : GetSchemes())
    {
        ListScheme(scheme, out);
    }
    out << "\nTopologies (topology.kind)\n";
    for (const auto& kind : GetTopologyKinds())
    {
        out << fmt::format("  {:<20}{}\n", kind, GetTopologySummary(kind));
    }
    out << "\nTransports (transport.kind)\n";
    for (const auto& entry : GetTransports())
    {
        out << fmt::format("  {:<20}{}\n", entry.kind, entry.summary);
        ListAttributesOf(entry.type, out);
    }
    out << "\nCongestion control of roce (transport.congestionControl; Attributes under "
           "transport.NAME)\n";
    for (const auto& entry : GetCongestionControls())
    {
        out << fmt::format("  {:<14}{}\n", entry.name, MakeCongestionControl(entry)->GetSummary());
        ListAttributesOf(entry.type, out);
    }
    out << "\nSwitches that aggregate, of roce (transport.aggregation; Attributes of protocols "
           "under "
           "transport.aggregation.NAME)\n";
    ListAttributesOf(AggregationService::GetTypeId(), out);
    for (const auto& entry : GetAggregationDrivers())
    {
        out << fmt::format("  {:<14}{}\n", entry.name, fmt::join(entry.protocols, ", "));
        ListAttributesOf(entry.getTypeId(), out);
    }
    out << "\nPacket-level network (fabric)\n";
    ListAttributesOf(GetFabricTypeId(), out);
    return exit_code::OK;
}

} // namespace ns3::gradsync
