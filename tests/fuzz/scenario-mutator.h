// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCENARIO_MUTATOR_H
#define GRADSYNC_SCENARIO_MUTATOR_H

#include "ns3/json-document.h"
#include "ns3/scenario-error.h"
#include "ns3/scenario-reader.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * Makes broken scenarios out of good ones: half of the changes are to bytes, which try the parser,
 * half to JSON values, which try the reader behind it. The same seed gives the same scenarios
 * everywhere: only the generator of <random> is used, whose output the standard fixes, not its
 * distributions.
 */
class ScenarioMutator
{
  public:
    ScenarioMutator(std::vector<std::string> corpus, uint64_t seed)
        : m_corpus(std::move(corpus)),
          m_random(seed)
    {
    }

    std::string Next()
    {
        std::string text = m_corpus[Draw(m_corpus.size())];
        return Draw(2) == 0 ? MutateBytes(std::move(text)) : MutateValues(text);
    }

  private:
    size_t Draw(size_t bound)
    {
        return static_cast<size_t>(m_random() % std::max<size_t>(1, bound));
    }

    std::string MutateBytes(std::string text)
    {
        for (size_t change = 1 + Draw(4); change > 0 && !text.empty(); --change)
        {
            const size_t at = Draw(text.size());
            switch (Draw(5))
            {
            case 0:
                text[at] = static_cast<char>(Draw(256));
                break;
            case 1:
                text.erase(at, 1 + Draw(20));
                break;
            case 2:
                text.insert(at, text, Draw(text.size()), 1 + Draw(40));
                break;
            case 3:
                text.resize(at);
                break;
            default:
                text.insert(at, 1 + Draw(100), "[{\",:0-"[Draw(7)]);
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
                                                     "\"roce\"",
                                                     "\"fluid\"",
                                                     "\"host0\"",
                                                     "\"\\u0000\"",
                                                     "\"..\"",
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

    std::vector<std::string> m_corpus;
    std::mt19937_64 m_random;
};

/// The texts of all scenarios in a folder, in the order of their names.
inline std::vector<std::string>
LoadCorpus(const std::filesystem::path& folder)
{
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
    {
        const auto name = entry.path().filename().string();
        if (name.ends_with(".json") && !name.ends_with(".schema.json"))
        {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    std::vector<std::string> corpus;
    for (const auto& file : files)
    {
        std::ostringstream text;
        text << std::ifstream(file, std::ios::binary).rdbuf();
        corpus.push_back(text.str());
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
