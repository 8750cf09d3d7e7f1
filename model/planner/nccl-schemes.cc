// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/nccl-schemes.h"

#include "ns3/nccl-machine.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr const char* CHOOSER = "nccl";
constexpr const char* RING = "nccl:ring";
constexpr const char* TREE = "nccl:tree";
constexpr const char* COLLNET_DIRECT = "nccl:collnet-direct";

constexpr const char* SOURCE = "doc/nccl.rst";
constexpr int64_t MODEL_CHANNELS = 16; //!< that NCCL has on servers of eight GPUs and NICs
constexpr double MAX_CHANNELS = 1024;

/// In the order of NcclArchitecture.
const std::vector<std::string> ARCHITECTURES{"volta", "ampere", "hopper", "blackwell"};

struct MissingAlgorithm
{
    const char* name;
    const char* problem;
};

constexpr std::array<MissingAlgorithm, 4> MISSING{
    {{"nccl:nvls",
      "needs NCCL's channels and chunks over an NVSwitch: here nvls, whose NVSwitches sum and copy "
      "pieces of the gradient, is what comes nearest, and nccl says what NVLS would take"},
     {"nccl:nvls-tree",
      "needs NCCL's channels and chunks over an NVSwitch: here nvls, with rings between servers, "
      "or nccl:tree is what comes nearest"},
     {"nccl:collnet-chain",
      "needs a chain through each server before switches aggregate: here servers of an aggregation "
      "are rings; nccl:collnet-direct is what comes nearest"},
     {"nccl:pat",
      "is an all-gather or a reduce-scatter of one rank a server: all-gather with the algorithm "
      "bruck is what comes nearest"}}};

ParameterSpec
MakeChannels(int64_t byDefault, const char* help)
{
    return {"channels", byDefault, help, {}, 0, MAX_CHANNELS};
}

ParameterSpec
MakePieces(int64_t byDefault, const char* help)
{
    return {"pipelineChunks", byDefault, help, {}, 1, std::numeric_limits<uint32_t>::max()};
}

Scheme
MakeNamed(const char* name, const char* summary, std::vector<ParameterSpec> parameters)
{
    Scheme scheme;
    scheme.name = name;
    scheme.summary = summary;
    scheme.source = SOURCE;
    scheme.parameters = std::move(parameters);
    return scheme;
}

std::vector<Scheme>
MakeSchemes()
{
    return {
        MakeNamed(CHOOSER,
                  "the ring or tree and the protocol that NCCL's own model expects to be fastest",
                  {{"architecture",
                    std::string("hopper"),
                    "of the GPUs, for which NCCL has figures",
                    ARCHITECTURES},
                   {"cpu",
                    std::string("intel"),
                    "maker of the servers' processors, likewise",
                    {"intel", "amd"}},
                   {"channels",
                    MODEL_CHANNELS,
                    "that NCCL counts with, all together as fast as the links",
                    {},
                    1,
                    MAX_CHANNELS}}),
        MakeNamed(COLLNET_DIRECT,
                  "NCCL's CollNet: passing, sums by switches between rings in servers",
                  {MakePieces(1, "pieces of the gradient that are exchanged one by one")}),
        MakeNamed(RING,
                  "NCCL's rings: multi-ring, through the accelerators of each server",
                  {MakeChannels(0,
                                "rings; 0: where there are several servers one for each "
                                "accelerator of a server, else one"),
                   MakePieces(1, "pieces of each ring's share")}),
        MakeNamed(TREE,
                  "NCCL's trees: double-binary-tree over servers, each of them a chain",
                  {MakeChannels(0,
                                "pairs of trees; 0: where there are several servers one for each "
                                "accelerator of a server, else one"),
                   MakePieces(16, "pieces of each half of a channel's share")})};
}

SchemeChoice
Take(const char* name)
{
    const auto* scheme = FindScheme(name);
    return {scheme, MakeDefaultParameters(*scheme)};
}

int64_t
GetChannels(const ParameterSet& parameters, const ServerSizes& sizes)
{
    const auto channels = parameters.Get<int64_t>("channels");
    return channels > 0 ? channels : sizes.servers > 1 ? int64_t{sizes.most} : 1;
}

/// \param parameters of the alias
SchemeChoice
MakeRing(const ParameterSet& parameters, const ServerSizes& sizes)
{
    auto choice = Take("multi-ring");
    choice.parameters.Set("rings", GetChannels(parameters, sizes));
    choice.parameters.Set("order", std::string(sizes.servers > 1 ? "rails" : "strides"));
    choice.parameters.Set("pipelineChunks", parameters.Get<int64_t>("pipelineChunks"));
    return choice;
}

SchemeChoice
MakeTree(const ParameterSet& parameters, const ServerSizes& sizes)
{
    auto choice = Take("double-binary-tree");
    choice.parameters.Set("chains", true);
    choice.parameters.Set("channels", GetChannels(parameters, sizes));
    if (sizes.servers == 1)
    {
        // The topology lists no level of one group.
        choice.parameters.Set("groupSize", int64_t{sizes.most});
    }
    choice.parameters.Set("pipelineChunks", parameters.Get<int64_t>("pipelineChunks"));
    return choice;
}

NcclMachine
DescribeMachine(const JobSpec& job, const Topology& topology, const std::vector<uint32_t>& serverOf)
{
    const auto& parameters = job.scheme.parameters;
    auto machine = MeasureNcclMachine(topology, job.endpointOf, serverOf);
    machine.channels = GetNumber(parameters, "channels");
    const auto place =
        std::ranges::find(ARCHITECTURES, parameters.Get<std::string>("architecture"));
    machine.architecture = static_cast<NcclArchitecture>(place - ARCHITECTURES.begin());
    machine.hasAmdCpu = parameters.Get<std::string>("cpu") == "amd";
    return machine;
}

bool
IsSimulated(const NcclPrediction& prediction)
{
    return prediction.algorithm == NcclAlgorithm::Ring ||
           prediction.algorithm == NcclAlgorithm::Tree;
}

NcclScheme
Choose(const JobSpec& job,
       const Topology& topology,
       const std::vector<uint32_t>& serverOf,
       const ServerSizes& sizes)
{
    if (job.protocol)
    {
        throw SchemeError("NCCL chooses the protocol too: leave job.protocol out, or name the "
                          "algorithm, as nccl:ring");
    }
    if (sizes.least != sizes.most)
    {
        throw SchemeError(fmt::format("NCCL's model is of servers that are alike, but here they "
                                      "have {} to {} ranks of the job",
                                      sizes.least,
                                      sizes.most));
    }
    const auto machine = DescribeMachine(job, topology, serverOf);
    auto predictions = PredictNccl(machine, job.gradientBytes);
    std::vector<NcclPrediction> simulated;
    std::ranges::copy_if(predictions, std::back_inserter(simulated), IsSimulated);
    const auto taken = *std::ranges::min_element(simulated, {}, &NcclPrediction::seconds);
    const bool isRing = taken.algorithm == NcclAlgorithm::Ring;
    const auto& named = *std::ranges::find(GetNcclSchemes(), isRing ? RING : TREE, &Scheme::name);
    const auto parameters = MakeDefaultParameters(named);
    auto protocol = MakeNcclProtocol(taken.algorithm, taken.protocol);
    if (machine.ranks == machine.servers)
    {
        // The model counts so, as nothing inside a server hides the network.
        protocol.networkHopPicoseconds =
            MakeNcclProtocol(NcclAlgorithm::Tree, taken.protocol).networkHopPicoseconds;
    }
    return {isRing ? MakeRing(parameters, sizes) : MakeTree(parameters, sizes),
            protocol,
            NcclChoice{machine, std::move(predictions), taken}};
}

} // namespace

std::span<const Scheme>
GetNcclSchemes()
{
    static const std::vector<Scheme> schemes = MakeSchemes();
    return schemes;
}

std::optional<std::string>
ExplainMissingNccl(std::string_view name)
{
    const auto* found = std::ranges::find(MISSING, name, &MissingAlgorithm::name);
    return found == MISSING.end() ? std::nullopt : std::optional<std::string>(found->problem);
}

std::optional<NcclScheme>
ResolveNccl(const JobSpec& job, const Topology& topology, const std::vector<uint32_t>& serverOf)
{
    // Not by name: a scheme of the user's own may have any.
    const auto isNamed = [&job](const Scheme& scheme) { return &scheme == job.scheme.scheme; };
    if (std::ranges::none_of(GetNcclSchemes(), isNamed))
    {
        return std::nullopt;
    }
    const auto& name = job.scheme.scheme->name;
    const auto sizes = CountServerSizes(serverOf);
    const auto& parameters = job.scheme.parameters;
    if (name == CHOOSER)
    {
        return Choose(job, topology, serverOf, sizes);
    }
    if (name == RING)
    {
        return NcclScheme{MakeRing(parameters, sizes)};
    }
    if (name == TREE)
    {
        return NcclScheme{MakeTree(parameters, sizes)};
    }
    auto passing = Take("passing");
    passing.parameters.Set("pipelineChunks", parameters.Get<int64_t>("pipelineChunks"));
    return NcclScheme{std::move(passing)};
}

std::string
DescribeNccl(const NcclPrediction& prediction)
{
    return fmt::format("{} {}", ToString(prediction.algorithm), ToString(prediction.protocol));
}

std::vector<std::string>
ListNcclPredictions(const NcclChoice& choice)
{
    const auto& machine = choice.machine;
    std::vector<std::string> lines{
        fmt::format("NCCL's model of {} ranks in {} server{}, {:g} GB/s inside{}: {}, {:.2f} us",
                    machine.ranks,
                    machine.servers,
                    machine.servers > 1 ? "s" : "",
                    machine.insideRate / 1e9,
                    machine.servers > 1
                        ? fmt::format(" and {:g} GB/s out of a server", machine.betweenRate / 1e9)
                        : "",
                    DescribeNccl(choice.taken),
                    choice.taken.seconds * 1e6)};
    std::map<NcclAlgorithm, std::string> times;
    for (const auto& prediction : choice.predictions)
    {
        auto& line = times[prediction.algorithm];
        line += fmt::format("{} {} {:.2f} us",
                            line.empty() ? "" : ",",
                            ToString(prediction.protocol),
                            prediction.seconds * 1e6);
    }
    for (const auto& [algorithm, line] : times)
    {
        const bool isSimulated = IsSimulated({algorithm, NcclProtocol::Simple, 0.0, 0.0, 0.0});
        lines.push_back(fmt::format("  {}:{}{}",
                                    ToString(algorithm),
                                    line,
                                    isSimulated ? "" : " (not simulated)"));
    }
    return lines;
}

} // namespace ns3::gradsync
