// SPDX-License-Identifier: GPL-2.0-only
/*
 * scenario-fuzz SECONDS [FOLDER [SEED]]: reads mutations of the scenarios in a folder for so long.
 * Every outcome must be success or a ScenarioError; the scenario that led to anything else is
 * printed.
 */
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
    ScenarioMutator mutator(LoadCorpus(folder), seed);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    uint64_t valid = 0;
    uint64_t refused = 0;
    while (std::chrono::steady_clock::now() < end)
    {
        const std::string text = mutator.Next();
        try
        {
            ++(TryScenario(text, folder) ? valid : refused);
        }
        catch (const std::exception& error)
        {
            std::cerr << fmt::format("after {} scenarios (seed {}): {}\n{}\n",
                                     valid + refused,
                                     seed,
                                     error.what(),
                                     text);
            return 1;
        }
    }
    std::cout << fmt::format(
        "scenario-fuzz: {} scenarios in {} s: {} valid, {} refused, 0 crashed\n",
        valid + refused,
        seconds,
        valid,
        refused);
    return 0;
}
