// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/byteps-scheme.h"

#include "ns3/scheme-support.h"
#include "ns3/two-level-exchange.h"

#include <algorithm>

namespace ns3::gradsync
{

namespace
{

uint32_t
CountCpuMachines(const ParameterSet& parameters)
{
    return GetCount(parameters, "cpuMachines", 0);
}

/**
 * Shards that load all machines alike: a CPU machine gets 2(n-1) for every n-k of a GPU machine
 * (BytePS). From k = n on the CPU machines serve everything.
 */
std::vector<double>
MakeWeights(uint32_t gpuMachines, uint32_t cpuMachines)
{
    if (gpuMachines == 1 && cpuMachines == 0)
    {
        return {1.0};
    }
    const double perGpu = gpuMachines > cpuMachines ? gpuMachines - cpuMachines : 0;
    // Where one machine and its servers would all get nothing, the servers have it all.
    const double perCpu = std::max(2.0 * (gpuMachines - 1), perGpu > 0 ? 0.0 : 1.0);
    std::vector<double> weights(gpuMachines, perGpu);
    weights.insert(weights.end(), cpuMachines, perCpu);
    return weights;
}

Plan
BuildBytePs(const SchemeRequest& request)
{
    CheckRequest(request);
    TwoLevelExchange exchange;
    exchange.groups = FindGroups(request, DefaultGroups::Servers);
    exchange.servers = CountCpuMachines(request.parameters);
    exchange.weights = MakeWeights(static_cast<uint32_t>(exchange.groups.size()), exchange.servers);
    return BuildTwoLevelPlan(request, exchange);
}

} // namespace

Scheme
MakeBytePsScheme()
{
    return {
        "byteps",
        "BytePS: reduce-scatter inside each GPU machine, parameter servers on GPU and CPU machines",
        "Jiang et al. 2020 (BytePS)",
        MergeSpecs(
            MakeGroupSpecs(DefaultGroups::Servers),
            {{"cpuMachines",
              int64_t{0},
              "dedicated CPU machines k; the shards load all machines alike. 0: the GPU machines "
              "serve",
              {},
              0,
              65536},
             MakePipelineChunksSpec(1, "pieces of the gradient that are exchanged one by one")}),
        CountCpuMachines,
        BuildBytePs,
    };
}

} // namespace ns3::gradsync
