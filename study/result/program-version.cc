// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/program-version.h"

#include "ns3/hash.h"

#include <array>
#include <cstddef>
#include <dlfcn.h>
#include <fstream>

namespace ns3::gradsync
{

std::string
GetProgramVersion()
{
    return GRADSYNC_VERSION;
}

std::string
GetProgramCommit()
{
    const std::string commit = GRADSYNC_COMMIT;
    return commit.empty() ? "unknown" : commit;
}

std::string
GetNs3Version()
{
    return GRADSYNC_NS3_VERSION;
}

std::string
GetCompilerVersion()
{
    // Clang calls itself a GCC too.
#ifdef __clang__
    return "Clang " __clang_version__;
#else
    return "GCC " __VERSION__;
#endif
}

uint64_t
GetProgramFingerprint()
{
    const std::string version = GetProgramVersion();
    Hasher hasher; // goes on from what it was given before
    uint64_t hash = hasher.GetHash64(version.data(), version.size());
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&GetProgramFingerprint), &info) != 0)
    {
        // In a static program dladdr may give the name it was called by, which need not be a path.
        std::ifstream file(info.dli_fname, std::ios::binary);
        if (!file)
        {
            file.open("/proc/self/exe", std::ios::binary);
        }
        // In blocks: a program with sanitizers has 60 MB.
        std::array<char, 1 << 16> block;
        while (file.read(block.data(), block.size()) || file.gcount() > 0)
        {
            hash = hasher.GetHash64(block.data(), static_cast<size_t>(file.gcount()));
        }
    }
    return hash;
}

} // namespace ns3::gradsync
