// SPDX-License-Identifier: GPL-2.0-only
/*
 * scenario-fuzz SECONDS [FOLDER [SEED]]: reads mutations of the scenarios in a folder, of the plans
 * in its folder algorithms, and of the configuration of a P4 program, for so long. Every outcome
 * must be success or a ScenarioError, ImportError or P4Error; the text that led to anything else is
 * printed.
 */
#include "fuzz/import-mutator.h"
#include "fuzz/p4-command-mutator.h"
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
    const std::filesystem::path source = GRADSYNC_SOURCE_DIR;
    ScenarioMutator scenarios(LoadCorpus({folder, source / "tests/fuzz/corpus/scenario"}), seed);
    ImportMutator imports(LoadImports(folder / "algorithms"), seed);
    P4CommandMutator commands(source / "p4-behavioral", seed);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    uint64_t valid = 0;
    uint64_t refused = 0;
    while (std::chrono::steady_clock::now() < end)
    {
        // Scenarios, plans and commands take turns.
        const auto turn = (valid + refused) % 4;
        const std::string text = turn == 3   ? commands.Next()
                                 : turn == 2 ? imports.Next()
                                             : scenarios.Next();
        try
        {
            const bool isValid = turn == 3   ? commands.Try(text)
                                 : turn == 2 ? TryImport(text)
                                             : TryScenario(text, folder);
            ++(isValid ? valid : refused);
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
    std::cout << fmt::format("scenario-fuzz: {} scenarios, plans and configurations in {} s: {} "
                             "valid, {} refused, 0 crashed\n",
                             valid + refused,
                             seconds,
                             valid,
                             refused);
    return 0;
}
