// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCENARIO_MUTATOR_H
#define GRADSYNC_SCENARIO_MUTATOR_H

#include "fuzz/text-mutator.h"

#include "ns3/json-document.h"
#include "ns3/scenario-error.h"
#include "ns3/scenario-reader.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * Broken scenarios: half of the changes are to bytes, which try the parser, half to JSON values,
 * which try the reader behind it.
 */
class ScenarioMutator final : public TextMutator
{
  public:
    using TextMutator::TextMutator;

  private:
    std::string Mutate(std::string text) override
    {
        return Draw(2) == 0 ? MutateBytes(std::move(text)) : MutateValues(text);
    }

    std::string MutateBytes(std::string text)
    {
        for (size_t change = 1 + Draw(4); change > 0 && !text.empty(); --change)
        {
            const size_t at = Draw(text.size());
            const size_t which = Draw(5);
            const size_t many = 1 + Draw(which == 3 ? 40 : 100);
            switch (which)
            {
            case 3:
                text.insert(at, text, Draw(text.size()), many);
                break;
            case 4:
                text.insert(at, many, "[{\",:0-"[Draw(7)]);
                break;
            default:
                ChangeBytes(text, at, which);
            }
        }
        return text;
    }

    /// Values that have broken readers before.
    Json DrawValue()
    {
        static const std::vector<std::string> values{"null",
                                                     "true",
                                                     "0",
                                                     "-1",
                                                     "1",
                                                     "2",
                                                     "3",
                                                     "7",
                                                     "0.5",
                                                     "1e308",
                                                     "-1e308",
                                                     "18446744073709551615",
                                                     "9223372036854775808",
                                                     "65535",
                                                     "65536",
                                                     "[]",
                                                     "{}",
                                                     "[[]]",
                                                     "\"\"",
                                                     "\"40\"",
                                                     "\"40Gbps\"",
                                                     "\"-1us\"",
                                                     "\"1e9s\"",
                                                     "\"999999999999999999TiB\"",
                                                     "\"ring\"",
                                                     "\"rat\"",
                                                     "\"ps\"",
                                                     "\"hierarchical\"",
                                                     "\"star\"",
                                                     "\"graph\"",
                                                     "\"fat-tree\"",
                                                     "\"three-tier\"",
                                                     "\"rail-optimised\"",
                                                     "\"roce\"",
                                                     "\"fluid\"",
                                                     "\"host0\"",
                                                     "\"\\u0000\"",
                                                     "\"..\"",
                                                     "\"smoke.json\"",
                                                     "[1, 2]",
                                                     "[\"host0\", 1]",
                                                     R"({"kind": "ps", "servers": 2})",
                                                     R"({"rate": "1Gbps"})",
                                                     "[0.5, 0.5]"};
        return ParseJson(values[Draw(values.size())], "mutator");
    }

    std::string DrawKey(const Json& object)
    {
        static const std::vector<std::string> keys{"kind",
                                                   "rate",
                                                   "delay",
                                                   "hosts",
                                                   "spines",
                                                   "leaves",
                                                   "hostsPerLeaf",
                                                   "hostsOfLeaf",
                                                   "k",
                                                   "pods",
                                                   "server",
                                                   "nics",
                                                   "sockets",
                                                   "accelerators",
                                                   "workers",
                                                   "endpoints",
                                                   "iterations",
                                                   "servers",
                                                   "weights",
                                                   "groupSize",
                                                   "barrier",
                                                   "sweep",
                                                   "jobs",
                                                   "scheme",
                                                   "oversubscription",
                                                   "mtu",
                                                   "file",
                                                   "topology.hostsPerLeaf",
                                                   "scheme.kind",
                                                   "seed",
                                                   "plot",
                                                   "results",
                                                   "faults",
                                                   "traffic",
                                                   "programs",
                                                   "program",
                                                   "configuration",
                                                   "digest",
                                                   "switches",
                                                   "",
                                                   "x y"};
        if (!object.empty() && Draw(2) == 0)
        {
            return std::next(object.begin(), static_cast<std::ptrdiff_t>(Draw(object.size())))
                .key();
        }
        return keys[Draw(keys.size())];
    }

    std::string MutateValues(const std::string& text)
    {
        Json document = ParseJson(text, "corpus");
        for (size_t change = 1 + Draw(3); change > 0; --change)
        {
            Json* place = &document;
            while (place->is_structured() && !place->empty() && Draw(4) != 0)
            {
                place = place->is_object()
                            ? &std::next(place->begin(),
                                         static_cast<std::ptrdiff_t>(Draw(place->size())))
                                   .value()
                            : &(*place)[Draw(place->size())];
            }
            if (place->is_object() && Draw(2) == 0)
            {
                (*place)[DrawKey(*place)] = DrawValue();
            }
            else if (place->is_object() && !place->empty() && Draw(2) == 0)
            {
                place->erase(DrawKey(*place));
            }
            else
            {
                *place = DrawValue();
            }
        }
        return document.dump(-1, ' ', false, Json::error_handler_t::replace);
    }
};

/// The texts of all scenarios in folders, in the order of their names. Files that they name are
/// looked for from the first.
inline std::vector<std::string>
LoadCorpus(const std::vector<std::filesystem::path>& folders)
{
    std::vector<std::string> corpus;
    for (const auto& folder : folders)
    {
        const auto files = ListFiles(folder, [](const std::string& name) {
            return name.ends_with(".json") && !name.ends_with(".schema.json");
        });
        for (const auto& file : files)
        {
            std::ostringstream text;
            text << std::ifstream(file, std::ios::binary).rdbuf();
            corpus.push_back(text.str());
        }
    }
    return corpus;
}

/**
 * Reads one text as the program would, up to where plans are made.
 * \returns true when it is a valid scenario, false on a ScenarioError; anything else goes through
 */
inline bool
TryScenario(const std::string& text, const std::filesystem::path& folder)
{
    // Enough runs to see each value of a sweep, few enough to stay quick.
    constexpr uint32_t MAX_TRIED_RUNS = 8;
    try
    {
        const auto scenario = ParseScenario(text, folder / "mutated.json", {});
        for (uint32_t run = 0; run < std::min(scenario.runCount, MAX_TRIED_RUNS); ++run)
        {
            ResolveRun(scenario, run);
        }
        return true;
    }
    catch (const ScenarioError&)
    {
        return false;
    }
}

} // namespace ns3::gradsync

#endif // GRADSYNC_SCENARIO_MUTATOR_H
