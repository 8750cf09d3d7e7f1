// SPDX-License-Identifier: GPL-2.0-only
/*
 * scenario-fuzz SECONDS [FOLDER [SEED]]: reads mutations of the scenarios in a folder, and of the
 * plans in its folder algorithms, for so long. Every outcome must be success or a ScenarioError or
 * ImportError; the text that led to anything else is printed.
 */
#include "fuzz/import-mutator.h"
#include "fuzz/scenario-mutator.h"

#include "ns3/time-resolution.h"

#include <chrono>
#include <cstdlib>
#include <exception>
#include <fmt/format.h>
#include <iostream>

using namespace ns3::gradsync;

int
main(int argc, char* argv[])
{
    const int seconds = argc > 1 ? std::atoi(argv[1]) : 0;
    if (seconds <= 0)
    {
        std::cerr << "usage: scenario-fuzz SECONDS [FOLDER [SEED]]\n";
        return 2;
    }
    const std::filesystem::path folder = argc > 2 ? argv[2] : GRADSYNC_SOURCE_DIR "/scenarios";
    const uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
    UsePicoseconds();
    ScenarioMutator scenarios(LoadCorpus(folder), seed);
    ImportMutator imports(LoadImports(folder / "algorithms"), seed);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    uint64_t valid = 0;
    uint64_t refused = 0;
    while (std::chrono::steady_clock::now() < end)
    {
        // Every third text is a plan.
        const bool isImport = (valid + refused) % 3 == 2;
        const std::string text = isImport ? imports.Next() : scenarios.Next();
        try
        {
            ++((isImport ? TryImport(text) : TryScenario(text, folder)) ? valid : refused);
        }
        catch (const std::exception& error)
        {
            std::cerr << fmt::format("after {} texts (seed {}): {}\n{}\n",
                                     valid + refused,
                                     seed,
                                     error.what(),
                                     text);
            return 1;
        }
    }
    std::cout << fmt::format(
        "scenario-fuzz: {} scenarios and plans in {} s: {} valid, {} refused, 0 crashed\n",
        valid + refused,
        seconds,
        valid,
        refused);
    return 0;
}
