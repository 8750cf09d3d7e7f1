// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/program-commands.h"
#include "ns3/scenario-checker.h"
#include "ns3/scenario-reader.h"
#include "ns3/scenario-schema.h"
#include "ns3/scenario-sections.h"
#include "ns3/time-resolution.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace ns3::gradsync
{

namespace
{

const std::filesystem::path SOURCE = GRADSYNC_SOURCE_DIR;

std::vector<std::filesystem::path>
ListScenarioFiles(const std::string& folder)
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
    const auto files = ListScenarioFiles("scenarios");
    EXPECT_GE(files.size(), 5U);
    for (const auto& file : files)
    {
        SCOPED_TRACE(file.string());
        const auto scenario = ReadScenario(file, {});
        EXPECT_FALSE(scenario.title.empty());
        uint32_t runs = 0;
        CheckScenario(scenario,
                      false,
                      [&runs](const ResolvedRun& /* run */, const RunCheck& check) {
                          EXPECT_GT(check.bytes, 0U);
                          ++runs;
                      });
        EXPECT_EQ(runs, scenario.runCount);
    }
}

TEST(ShippedTopologies, AreValid)
{
    const auto files = ListScenarioFiles("topologies");
    EXPECT_GE(files.size(), 18U);
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

std::string
ReadText(const std::filesystem::path& file)
{
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(ScenarioSchema, IsTheOneThatTheProgramWrites)
{
    std::ostringstream written;
    ListCommand(written, ListFormat::Schema);
    EXPECT_EQ(ReadText(SOURCE / "scenarios/scenario.schema.json"), written.str())
        << "./ns3 list --schema > scenarios/scenario.schema.json";
}

/// Where a kind of a section is described.
const Json&
FindKindSchema(const Json& schema, const KindSection& section, const std::string& kind)
{
    return schema["$defs"][fmt::format("{}Kinds", section.name)][kind]["properties"];
}

TEST(ScenarioSchema, HasTheKeysOfEachKindAndNoOthers)
{
    const Json schema = MakeScenarioSchema();
    for (const auto& section : GetKindSections())
    {
        for (const auto& kind : section.getKinds())
        {
            std::set<std::string> keys{"kind"};
            for (const auto& spec : kind.parameters)
            {
                // Those of a user's own type have a pattern.
                if (spec.name.find("::") == std::string::npos)
                {
                    keys.insert(spec.name);
                }
            }
            std::set<std::string> found;
            for (const auto& [key, value] : FindKindSchema(schema, section, kind.name).items())
            {
                found.insert(key);
            }
            EXPECT_EQ(found, keys) << section.name << " " << kind.name;
        }
    }
}

/// All that a schema refers to.
void
CollectReferences(const Json& schema, std::set<std::string>& references)
{
    if (schema.is_object() && schema.contains("$ref") && schema["$ref"].is_string())
    {
        references.insert(schema["$ref"].get<std::string>());
    }
    for (const auto& part : schema)
    {
        if (part.is_structured())
        {
            CollectReferences(part, references);
        }
    }
}

TEST(ScenarioSchema, RefersToNothingThatIsNotThere)
{
    const Json schema = MakeScenarioSchema();
    std::set<std::string> references;
    CollectReferences(schema, references);
    EXPECT_GT(references.size(), 50U); // one a kind, and there are more kinds
    for (const auto& reference : references)
    {
        ASSERT_TRUE(reference.starts_with("#/"));
        EXPECT_TRUE(schema.contains(Json::json_pointer(reference.substr(1)))) << reference;
    }
}

} // namespace

} // namespace ns3::gradsync
