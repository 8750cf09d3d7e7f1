// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/process-link-loader.h"

#include "ns3/scenario-error.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace ns3::gradsync
{

std::filesystem::path
FindProgram()
{
    return std::filesystem::read_symlink("/proc/self/exe");
}

std::filesystem::path
FindProcessLinkLibrary()
{
    return FindProgram().replace_filename("gradsync-mpi.so");
}

std::unique_ptr<ProcessLink>
LoadProcessLink()
{
    const auto library = FindProcessLinkLibrary();
    // Open MPI loads parts of itself, which look for the rest of it among what is visible to all.
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
    void* factory = handle != nullptr ? dlsym(handle, PROCESS_LINK_FACTORY) : nullptr;
    if (factory == nullptr)
    {
        throw ScenarioError("--ranks",
                            fmt::format("cannot load {}: {}", library.string(), dlerror()));
    }
    return std::unique_ptr<ProcessLink>(reinterpret_cast<ProcessLinkFactory>(factory)());
}

} // namespace ns3::gradsync
