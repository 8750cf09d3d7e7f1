// SPDX-License-Identifier: GPL-2.0-only
/*
 * reader-fuzz [libFuzzer's options] [FOLDER...]: one reader under libFuzzer, the one that the
 * variable GRADSYNC_READER names; ./ns3 test --fuzz runs all of them. A variable, as libFuzzer
 * starts processes of its own with its options.
 */
#include "fuzz/import-mutator.h"
#include "fuzz/readers.h"
#include "fuzz/scenario-mutator.h"
#include "support/p4-mutator.h"

#include "ns3/time-resolution.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

using namespace ns3::gradsync;

namespace
{

const Reader* g_reader;

/// JSON with other values, or other numbers and lines of other texts, which changed bytes seldom
/// give. Empty if that cannot be.
std::string
ChangeValues(const std::string& text, uint64_t seed)
{
    const std::string_view name = g_reader->name;
    if (name == "p4-program")
    {
        auto program = nlohmann::json::parse(text, nullptr, false);
        return program.is_object() ? P4Mutator(std::move(program), seed).Next() : "";
    }
    if (name != "scenario" && name != "topology" && name != "profile")
    {
        return ImportMutator({text}, seed).Next();
    }
    try
    {
        return ScenarioMutator({text}, seed).Next();
    }
    catch (const ScenarioError&)
    {
        return {};
    }
}

} // namespace

// libFuzzer's names.
extern "C"
{
    size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t maxSize);

    int LLVMFuzzerInitialize(int* /* argc */, char*** /* argv */)
    {
        const char* name = std::getenv("GRADSYNC_READER");
        try
        {
            g_reader = &FindReader(name ? name : "");
        }
        catch (const std::exception& error)
        {
            std::fprintf(stderr, "GRADSYNC_READER: %s\n", error.what());
            std::exit(2);
        }
        UsePicoseconds();
        return 0;
    }

    int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
    {
        // An exception that gets through ends the process, which is a finding.
        g_reader->read(std::string(reinterpret_cast<const char*>(data), size));
        return 0;
    }

    size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t maxSize, unsigned int seed)
    {
        const auto changed =
            seed % 2 == 0 ? ChangeValues({reinterpret_cast<const char*>(data), size}, seed) : "";
        if (changed.empty() || changed.size() > maxSize)
        {
            return LLVMFuzzerMutate(data, size, maxSize);
        }
        std::copy(changed.begin(), changed.end(), data);
        return changed.size();
    }
}
