// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/program-version.h"

#include "ns3/hash.h"

#include <dlfcn.h>
#include <fstream>
#include <sstream>

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

uint64_t
GetProgramFingerprint()
{
    std::string identity = GetProgramVersion();
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&GetProgramFingerprint), &info) != 0)
    {
        // In a static program dladdr may give the name it was called by, which need not be a path.
        std::ifstream file(info.dli_fname, std::ios::binary);
        if (!file)
        {
            file.open("/proc/self/exe", std::ios::binary);
        }
        std::ostringstream content;
        content << file.rdbuf();
        identity += content.view();
    }
    return Hash64(identity);
}

} // namespace ns3::gradsync
