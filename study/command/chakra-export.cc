// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/chakra-export.h"

#include "ns3/atomic-file.h"
#include "ns3/chakra-workload-writer.h"
#include "ns3/chakra-writer.h"
#include "ns3/nearest-name.h"
#include "ns3/scenario-error.h"

#include <cstdint>
#include <fmt/format.h>
#include <stdexcept>
#include <string_view>

namespace ns3::gradsync
{

namespace
{

constexpr std::string_view RANK_PLACE = "{rank}";

void
CheckName(const std::string& name)
{
    if (name.find(RANK_PLACE) == std::string::npos)
    {
        throw ScenarioError("--export",
                            fmt::format("Chakra traces are one of each rank: found {}, expected "
                                        "{{rank}} in it, as ring.{{rank}}.et",
                                        QuoteName(name)));
    }
}

template <class Writer>
void
WriteRanks(const Writer& writer, const std::string& name)
{
    for (uint32_t rank = 0; rank < writer.GetRankCount(); ++rank)
    {
        auto file = name;
        file.replace(name.find(RANK_PLACE), RANK_PLACE.size(), std::to_string(rank));
        AtomicFile trace(file);
        writer.Write(rank, trace.GetStream());
        trace.Commit();
    }
}

} // namespace

void
ExportChakraPlan(const Plan& plan, const std::string& name, std::ostream* out)
{
    CheckName(name);
    try
    {
        const ChakraWriter writer(plan);
        WriteRanks(writer, name);
        if (writer.GetSignalCount() > 0 && out != nullptr)
        {
            *out << fmt::format("{} messages of one byte tell ranks of operations of others\n",
                                writer.GetSignalCount());
        }
    }
    catch (const std::invalid_argument& error)
    {
        throw ScenarioError("--export", error.what());
    }
}

void
ExportChakraWorkload(const Workload& workload, const std::string& name, std::ostream& out)
{
    CheckName(name);
    try
    {
        const ChakraWorkloadWriter writer(workload);
        WriteRanks(writer, name);
        auto file = name.substr(0, name.size() - std::string_view(".et").size()) + ".json";
        file.replace(name.find(RANK_PLACE), RANK_PLACE.size(), "groups");
        AtomicFile groups(file);
        writer.WriteGroups(groups.GetStream());
        groups.Commit();
        out << fmt::format("{} traces of {} nodes in all; process groups in {}\n",
                           writer.GetRankCount(),
                           workload.GetTasks().size(),
                           file);
    }
    catch (const std::invalid_argument& error)
    {
        throw ScenarioError("--export", error.what());
    }
}

} // namespace ns3::gradsync
