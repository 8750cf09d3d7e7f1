// SPDX-License-Identifier: GPL-2.0-only
#include "findings.h"

#include "block.h"
#include "device-memory.h"

#include <cstdio>
#include <map>
#include <mutex>
#include <tuple>
#include <unistd.h>

extern "C" const char __executable_start; // by the linker

namespace ns3::gradsync::emulator
{

namespace
{

using Key = std::tuple<Fault, std::string, const void*, uint32_t>;

struct Kept
{
    Place place;
    Finding finding;
};

std::mutex mutex;
std::map<Key, Kept> kept;

const char*
GetName(Fault fault)
{
    switch (fault)
    {
    case Fault::GLOBAL_BOUNDS:
        return "global memory, out of bounds";
    case Fault::SHARED_BOUNDS:
        return "shared memory, out of bounds";
    case Fault::HOST_MEMORY:
        return "memory of the host";
    case Fault::ALIGNMENT:
        return "misaligned access";
    case Fault::UNINITIALISED:
        return "uninitialised memory";
    case Fault::RACE:
        return "race";
    case Fault::BARRIER:
        return "divergent barrier";
    case Fault::WARP:
        return "divergent warp operation";
    case Fault::ENDLESS:
        return "endless wait";
    }
    return "?";
}

/// File and line of an instruction, by the tool of the binutils that knows; else where it is.
std::string
FindLine(const void* instruction)
{
    const size_t offset =
        static_cast<const char*>(instruction) - &__executable_start - 1; // of the call itself
    char text[512];
    std::snprintf(text,
                  sizeof text,
                  "addr2line -s -e /proc/%d/exe %#zx 2>/dev/null",
                  getpid(),
                  offset);
    std::string line;
    if (FILE* const pipe = popen(text, "r"); pipe != nullptr)
    {
        line = std::fgets(text, sizeof text, pipe) != nullptr ? text : "";
        pclose(pipe);
    }
    line = line.substr(0, line.find_first_of(" \n"));
    if (line.empty() || line[0] == '?')
    {
        std::snprintf(text, sizeof text, "instruction %#zx", offset);
        line = text;
    }
    return line;
}

std::string
GetWhere(const Place& place)
{
    if (place.site.file == nullptr)
    {
        return place.instruction != nullptr ? FindLine(place.instruction) : "the host";
    }
    const std::string file = place.site.file;
    return file.substr(file.rfind('/') + 1) + ":" + std::to_string(place.site.line);
}

} // namespace

void
Note(Fault fault, const Place& place, const char* what, uintptr_t address)
{
    const std::lock_guard lock(mutex);
    const std::string kernel = runner != nullptr ? runner->GetLaunch().kernel : "no kernel";
    const auto [entry, isNew] =
        kept.try_emplace({fault, kernel, place.instruction, place.site.line});
    auto& finding = entry->second.finding;
    ++finding.times;
    if (!isNew)
    {
        return;
    }
    char text[256];
    int length = std::snprintf(text, sizeof text, "%s", what);
    if (running != nullptr)
    {
        length += std::snprintf(text + length,
                                sizeof text - length,
                                ", block %u, thread %u",
                                runner->GetBlock(),
                                running->number);
    }
    if (address != 0)
    {
        length += std::snprintf(text + length, sizeof text - length, ", ");
        DescribeAddress(address, text + length, sizeof text - length);
    }
    entry->second.place = place;
    finding.fault = fault;
    finding.kernel = kernel;
    finding.detail = text;
}

std::vector<Finding>
TakeFindings()
{
    std::vector<Finding> findings;
    for (auto& [key, one] : kept)
    {
        one.finding.where = GetWhere(one.place);
        findings.push_back(one.finding);
    }
    kept.clear();
    return findings;
}

std::string
Describe(const Finding& finding)
{
    return std::string(GetName(finding.fault)) + ": " + finding.kernel + " at " + finding.where +
           ": " + finding.detail + " (" + std::to_string(finding.times) + " times)";
}

} // namespace ns3::gradsync::emulator
