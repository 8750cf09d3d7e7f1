// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"
#include "ns3/two-level-exchange.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <vector>

namespace ns3::gradsync
{

namespace
{

constexpr double MAX_PARTITION_BYTES = 0x1p44;
/// BytePS's own (reference: BYTEPS_PARTITION_BYTES).
constexpr int64_t STANDARD_PARTITION_BYTES = 4'096'000;

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

/// Layers, each cut in partitions of equal size, as they lie in the buffer.
class Partitions
{
  public:
    explicit Partitions(const SchemeRequest& request)
    {
        const auto wanted = request.parameters.Get<int64_t>("partitionBytes");
        const auto partitionBytes =
            static_cast<double>(wanted > 0 ? wanted : STANDARD_PARTITION_BYTES);
        for (const auto layer : GetLayers(request))
        {
            const double count = std::max(1.0, std::ceil(layer / partitionBytes));
            if (static_cast<double>(m_sizes.size()) + count > MAX_PARTITIONS)
            {
                throw SchemeError(fmt::format("partitions of {} bytes are more than {}",
                                              partitionBytes,
                                              MAX_PARTITIONS));
            }
            m_firstOfLayer.push_back(static_cast<uint32_t>(m_sizes.size()));
            m_sizes.insert(m_sizes.end(), static_cast<size_t>(count), layer / count);
        }
    }

    const std::vector<double>& GetSizes() const
    {
        return m_sizes;
    }

    /// The last layer first, as back-propagation makes them.
    std::vector<uint32_t> GetBackwardOrder() const
    {
        std::vector<uint32_t> order;
        auto end = static_cast<uint32_t>(m_sizes.size());
        order.reserve(m_sizes.size());
        for (size_t layer = m_firstOfLayer.size(); layer-- > 0;)
        {
            for (uint32_t partition = m_firstOfLayer[layer]; partition < end; ++partition)
            {
                order.push_back(partition);
            }
            end = m_firstOfLayer[layer];
        }
        return order;
    }

  private:
    static constexpr double MAX_PARTITIONS = 1 << 20;

    static std::vector<double> GetLayers(const SchemeRequest& request)
    {
        const auto gradient = static_cast<double>(request.gradientBytes);
        const auto& layers = request.parameters.Get<std::vector<double>>("layers");
        const double sum = std::accumulate(layers.begin(), layers.end(), 0.0);
        if (!layers.empty() && sum != gradient)
        {
            throw SchemeError(fmt::format("layers are {} bytes in all, but the gradient has {}",
                                          sum,
                                          request.gradientBytes));
        }
        return layers.empty() ? std::vector<double>{gradient} : layers;
    }

    std::vector<double> m_sizes;          //!< bytes of each partition
    std::vector<uint32_t> m_firstOfLayer; //!< [layer]: its first partition
};

Plan
BuildBytePs(const SchemeRequest& request)
{
    CheckRequest(request);
    TwoLevelExchange exchange;
    exchange.groups = FindGroups(request, DefaultGroups::Servers);
    exchange.servers = CountCpuMachines(request.parameters);
    exchange.weights = MakeWeights(static_cast<uint32_t>(exchange.groups.size()), exchange.servers);
    const bool isPartitioned = request.parameters.Get<int64_t>("partitionBytes") > 0 ||
                               !request.parameters.Get<std::vector<double>>("layers").empty();
    const auto pieces = GetCount(request.parameters, "pipelineChunks", 1);
    if (isPartitioned && pieces > 1)
    {
        throw SchemeError(fmt::format("pipelineChunks is {}, but partitionBytes or layers say how "
                                      "the gradient is cut; leave it out",
                                      pieces));
    }
    if (isPartitioned)
    {
        const Partitions partitions(request);
        exchange.pieces = partitions.GetSizes();
        exchange.order = request.parameters.Get<std::string>("order") == "backward"
                             ? partitions.GetBackwardOrder()
                             : std::vector<uint32_t>();
    }
    exchange.credit = GetCount(request.parameters, "credit", 0);
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
             {"partitionBytes",
              int64_t{0},
              "largest partition, which is exchanged on its own. 0: with layers BytePS's own "
              "4096000, else as pipelineChunks says",
              {},
              0,
              MAX_PARTITION_BYTES},
             {"layers",
              std::vector<double>{},
              "bytes of each layer, from the input on, in all the gradient; partitions end with "
              "their layer. Empty: one layer",
              {},
              1,
              MAX_PARTITION_BYTES},
             {"order",
              std::string("priority"),
              "which partitions come first: priority, those next to the input, which the next "
              "forward pass needs first; backward, those that back-propagation makes first",
              {"priority", "backward"}},
             {"credit",
              int64_t{0},
              "partitions that a rank has on their way at once; 0: no limit",
              {},
              0,
              1 << 20},
             MakePipelineChunksSpec(1, "pieces of the gradient that are exchanged one by one")}),
        CountCpuMachines,
        BuildBytePs,
    };
}

} // namespace ns3::gradsync
