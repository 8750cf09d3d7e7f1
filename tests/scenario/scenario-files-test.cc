// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/aggregation-drivers.h"
#include "ns3/codec-reader.h"
#include "ns3/congestion-controls.h"
#include "ns3/document-path.h"
#include "ns3/fault-reader.h"
#include "ns3/scenario-checker.h"
#include "ns3/scenario-reader.h"
#include "ns3/scenario-vocabulary.h"
#include "ns3/scheme-reader.h"
#include "ns3/time-resolution.h"
#include "ns3/topology-section.h"

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace ns3::gradsync
{

namespace
{

const std::filesystem::path SOURCE = GRADSYNC_SOURCE_DIR;

std::vector<std::filesystem::path>
ListFiles(const std::string& folder)
{
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(SOURCE / folder))
    {
        const auto name = entry.path().filename().string();
        if (name.ends_with(".json") && !name.ends_with(".schema.json"))
        {
            files.push_back(entry.path());
        }
    }
    return files;
}

TEST(ShippedScenarios, AreValid)
{
    UsePicoseconds();
    const auto files = ListFiles("scenarios");
    EXPECT_GE(files.size(), 5U);
    for (const auto& file : files)
    {
        SCOPED_TRACE(file.string());
        const auto scenario = ReadScenario(file, {});
        EXPECT_FALSE(scenario.title.empty());
        uint32_t runs = 0;
        CheckScenario(scenario, false, [&runs](const ResolvedRun& /* run */, uint64_t bytes) {
            EXPECT_GT(bytes, 0U);
            ++runs;
        });
        EXPECT_EQ(runs, scenario.runCount);
    }
}

TEST(ShippedTopologies, AreValid)
{
    const auto files = ListFiles("topologies");
    EXPECT_GE(files.size(), 5U);
    for (const auto& file : files)
    {
        SCOPED_TRACE(file.string());
        const std::string text =
            R"({"scheme": "ring", "topology": {"file": ")" + file.filename().string() + "\"}}";
        const auto run = ResolveRun(ParseScenario(text, file.parent_path() / "x.json", {}), 0);
        EXPECT_GE(run.topology->GetEndpoints().size(), 4U);
    }
}

TEST(OversubscriptionStudy, HasTheRunsOfThePaper)
{
    UsePicoseconds();
    const auto scenario = ReadScenario(SOURCE / "scenarios/rat-oversubscription.json", {});
    // Six rack sizes times four schemes.
    ASSERT_EQ(scenario.runCount, 24U);
    for (uint32_t run = 0; run < scenario.runCount; ++run)
    {
        const auto resolved = ResolveRun(scenario, run);
        // 4 racks of 4, 8, ... 24 hosts
        EXPECT_EQ(resolved.topology->GetEndpoints().size(), 16U * (1 + run / 4));
        EXPECT_EQ(resolved.jobs[0].gradientBytes, 97U * 1024 * 1024);
        EXPECT_EQ(resolved.transport.kind, "roce");
    }
}

/// Keys of the properties at a path of the schema.
std::set<std::string>
GetSchemaKeys(const Json& schema, const std::vector<std::string>& path)
{
    std::set<std::string> keys;
    const Json* properties = FindAtPath(schema, path);
    if (properties == nullptr)
    {
        ADD_FAILURE() << "no " << JoinSegments(path, path.size());
        return keys;
    }
    for (const auto& [key, value] : properties->items())
    {
        keys.insert(key);
    }
    return keys;
}

std::set<std::string>
ToSet(const std::vector<std::string>& names)
{
    return {names.begin(), names.end()};
}

/// All keys that any of the kinds knows.
template <typename GetKeys>
std::set<std::string>
UniteKeys(const std::vector<std::string>& kinds, GetKeys getKeys)
{
    std::set<std::string> keys;
    for (const auto& kind : kinds)
    {
        const auto more = getKeys(kind);
        keys.insert(more.begin(), more.end());
    }
    return keys;
}

bool
IsTypeName(const std::string& name)
{
    return name.find("::") != std::string::npos;
}

TEST(ScenarioSchema, KnowsTheKeysThatTheReaderKnows)
{
    const Json schema = LoadJson(SOURCE / "scenarios/scenario.schema.json");
    const auto part = [&schema](const std::string& name) {
        return GetSchemaKeys(schema, {"$defs", name, "properties"});
    };
    EXPECT_EQ(GetSchemaKeys(schema, {"properties"}), ToSet(scenario_keys::TOP));
    EXPECT_EQ(part("job"), ToSet(scenario_keys::JOB));
    EXPECT_EQ(GetSchemaKeys(schema, {"properties", "plot", "properties"}),
              ToSet(scenario_keys::PLOT));
    EXPECT_EQ(GetSchemaKeys(schema, {"properties", "results", "properties"}),
              ToSet(scenario_keys::RESULTS));
    EXPECT_EQ(part("link"), ToSet(GetTopologyPartKeys({"hostLink"})));
    EXPECT_EQ(part("server"), ToSet(GetTopologyPartKeys({"server"})));
    EXPECT_EQ(part("topologyKeys"), UniteKeys(GetTopologyKinds(), [](const auto& kind) {
                  return GetTopologyKeys(kind);
              }));
    EXPECT_EQ(part("fabric"), ToSet(GetFabricKeys()));
    EXPECT_EQ(part("fault"), ToSet(GetAllFaultKeys()));
    auto transportKeys =
        UniteKeys(GetTransportKinds(), [](const auto& kind) { return GetTransportKeys(kind); });
    // The schema knows the congestion controls of users by a pattern of their names.
    std::erase_if(transportKeys, IsTypeName);
    EXPECT_EQ(GetSchemaKeys(schema, {"$defs", "transport", "anyOf", "1", "properties"}),
              transportKeys);
    for (const auto& control : GetCongestionControls())
    {
        if (IsTypeName(control.name))
        {
            continue;
        }
        EXPECT_EQ(
            GetSchemaKeys(
                schema,
                {"$defs", "transport", "anyOf", "1", "properties", control.name, "properties"}),
            ToSet(GetTransportPartKeys(control.name)));
    }
    const std::vector<std::string>
        aggregation{"$defs", "transport", "anyOf", "1", "properties", "aggregation", "properties"};
    auto aggregationKeys = GetTransportPartKeys("aggregation");
    std::ranges::copy(GetOldAggregationKeys(), std::back_inserter(aggregationKeys));
    EXPECT_EQ(GetSchemaKeys(schema, aggregation), ToSet(aggregationKeys));
    for (const auto& driver : GetAggregationDrivers())
    {
        auto path = aggregation;
        path.insert(path.end(), {driver.name, "properties"});
        EXPECT_EQ(GetSchemaKeys(schema, path),
                  ToSet(GetTransportPartKeys("aggregation." + driver.name)));
    }
    EXPECT_EQ(GetSchemaKeys(schema, {"$defs", "scheme", "anyOf", "1", "properties"}),
              UniteKeys(GetSchemeNames(), [](const auto& name) { return GetSchemeKeys(name); }));
    EXPECT_EQ(GetSchemaKeys(schema, {"$defs", "codec", "anyOf", "1", "properties"}),
              UniteKeys(GetCodecNames(), [](const auto& name) { return GetCodecKeys(name); }));
}

TEST(ScenarioSchema, KnowsTheKindsThatTheReaderKnows)
{
    const Json schema = LoadJson(SOURCE / "scenarios/scenario.schema.json");
    const auto kinds = [&schema](const std::vector<std::string>& path) {
        return FindAtPath(schema, path)->get<std::set<std::string>>();
    };
    EXPECT_EQ(kinds({"$defs", "topologyKeys", "properties", "kind", "enum"}),
              ToSet(GetTopologyKinds()));
    EXPECT_EQ(kinds({"$defs", "transport", "anyOf", "0", "enum"}), ToSet(GetTransportKinds()));
    EXPECT_EQ(kinds({"$defs", "scheme", "anyOf", "0", "enum"}), ToSet(GetSchemeNames()));
    EXPECT_EQ(kinds({"$defs", "codecKind", "enum"}), ToSet(GetCodecNames()));
    EXPECT_EQ(kinds({"$defs", "fault", "properties", "kind", "enum"}), ToSet(GetFaultKindNames()));
}

} // namespace

} // namespace ns3::gradsync
