// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/nccl-model.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>

namespace ns3::gradsync
{

namespace
{

/// [protocol], in microseconds.
using Latencies = std::array<double, 3>;

// The figures below are constants of NCCL's src/graph/tuning.cc; times in us, rates in GB/s. Those
// of rings are the protocols' own (GetProtocols).

constexpr Latencies TREE_BASE{6.8, 14.0, 8.4};
constexpr Latencies TREE_NVLINK{0.6, 1.25, 4.0};
constexpr Latencies TREE_PCI{1.0, 1.9, 4.0};
constexpr Latencies RING_PCI{1.0, 2.5, 5.7};
constexpr Latencies TREE_NETWORK{5.0, 8.5, 14.0};
constexpr double NVLS_NVLINK = 25.0;
constexpr double NVLS_TREE_NETWORK = 20.9;

/// [one, two, more servers]
using ByServers = std::array<double, 3>;
/// [architecture]
using ByArchitecture = std::array<ByServers, 4>;

/// Of LL in all: in one server by architecture, between servers by the maker of their CPUs.
constexpr std::array<double, 4> LL_ONE_SERVER{39.0, 87.7, 141.0, 282.0};
constexpr ByServers LL_INTEL{0.0, 39.0, 20.4};
constexpr ByServers LL_AMD{0.0, 22.5, 19.0};

/// Of a channel.
constexpr ByArchitecture RING_LL128{
    {{20.0, 20.0, 20.0}, {20.0, 20.0, 20.0}, {36.7, 36.7, 36.7}, {40.0, 40.0, 40.0}}};
constexpr ByArchitecture TREE_LL128{
    {{20.0, 20.0, 20.0}, {20.0, 20.0, 20.0}, {36.7, 36.7, 29.0}, {55.6, 31.67, 20.0}}};
constexpr ByArchitecture TREE_ANY{
    {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}, {70.0, 42.8, 24.0}}};
constexpr ByArchitecture NVLS_TREE{
    {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {0.0, 57.7, 45.5}, {0.0, 96.0, 80.0}}};
constexpr std::array<double, 4> NVLS_EFFICIENCY{0.0, 0.0, 0.85, 0.74};

/// What is left of a tree's bandwidth: [protocol][power of two of the size, from 64 bytes on].
constexpr std::array<std::array<double, 24>, 3> TREE_CORRECTION{
    {{1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5,
      0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0},
     {1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6,
      0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1.0, 1.0, 1.0},
     {0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5,
      0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9, 0.9}}};
/// The largest sizes are not corrected.
constexpr uint32_t LAST_CORRECTED = 22;

constexpr double RING_PLATEAU = 1.4;
constexpr double RING_PLATEAU_VOLTA = 1.9;
constexpr uint64_t PLATEAU_BYTES = 64; //!< of each rank and channel

size_t
GetIndex(NcclProtocol protocol)
{
    return static_cast<size_t>(protocol);
}

double
ToMicroseconds(uint64_t picoseconds)
{
    return static_cast<double>(picoseconds) / 1e6;
}

uint64_t
ToPicoseconds(double microseconds)
{
    return static_cast<uint64_t>(std::llround(microseconds * 1e6));
}

size_t
GetServerIndex(const NcclMachine& machine)
{
    return std::min<size_t>(machine.servers, 3) - 1;
}

double
GetOf(const ByArchitecture& table, const NcclMachine& machine)
{
    return table[static_cast<size_t>(machine.architecture)][GetServerIndex(machine)];
}

uint32_t
GetLog2(uint64_t value)
{
    return static_cast<uint32_t>(std::bit_width(value)) - 1;
}

double
GetRanksPerServer(const NcclMachine& machine)
{
    return static_cast<double>(machine.ranks) / machine.servers;
}

double
GetLlMaximum(const NcclMachine& machine)
{
    if (machine.servers == 1)
    {
        return LL_ONE_SERVER[static_cast<size_t>(machine.architecture)];
    }
    return (machine.hasAmdCpu ? LL_AMD : LL_INTEL)[GetServerIndex(machine)];
}

/// Of all channels, as nccl-tests count (busbw), in GB/s.
double
GetRingBandwidth(const NcclMachine& machine, NcclProtocol protocol)
{
    const auto rate = machine.servers == 1 ? machine.insideRate
                                           : std::min(machine.insideRate, machine.betweenRate);
    const auto whole = rate * 1e-9;
    switch (protocol)
    {
    case NcclProtocol::Ll:
        return std::min(GetLlMaximum(machine), whole * 0.5);
    case NcclProtocol::Ll128:
        return std::min(whole * 0.92, machine.channels * GetOf(RING_LL128, machine));
    case NcclProtocol::Simple:
        break;
    }
    return whole;
}

double
GetTreeBandwidth(const NcclMachine& machine, NcclProtocol protocol)
{
    // Of two servers each is a leaf of one tree, and gives and takes the buffer once where a ring
    // does so nearly twice.
    const auto factor = machine.servers == 2 ? 2.0 : 1.0;
    const auto rate = machine.servers == 1
                          ? machine.insideRate
                          : std::min(machine.insideRate, factor * machine.betweenRate);
    const auto whole = std::min(rate * 1e-9 * 0.92, machine.channels * GetOf(TREE_ANY, machine));
    switch (protocol)
    {
    case NcclProtocol::Ll:
        return std::min(whole / 3.8, GetLlMaximum(machine));
    case NcclProtocol::Ll128:
        return std::min(whole * (machine.servers == 1 ? 7.0 / 9.0 : 120.0 / 128.0),
                        machine.channels * GetOf(TREE_LL128, machine));
    case NcclProtocol::Simple:
        break;
    }
    return whole;
}

double
GetNvlsBandwidth(const NcclMachine& machine, bool isTree)
{
    // Two operations run at once, and of the channels one is lost.
    const double channels = machine.channels;
    const auto inside = 2.0 * machine.insideRate * 1e-9 *
                        NVLS_EFFICIENCY[static_cast<size_t>(machine.architecture)] *
                        (channels - 1) / channels;
    if (!isTree)
    {
        return inside;
    }
    const auto factor = machine.servers == 2 ? 2.0 : 1.0;
    return std::min(
        {inside, factor * machine.betweenRate * 1e-9, channels * GetOf(NVLS_TREE, machine)});
}

/// In us.
double
GetRingLatency(const NcclMachine& machine, NcclProtocol protocol)
{
    const auto ring = MakeNcclProtocol(NcclAlgorithm::Ring, protocol);
    const auto base = ToMicroseconds(ring.basePicoseconds);
    const auto steps = 2.0 * (machine.ranks - 1.0);
    auto inside =
        machine.hasNvlink ? ToMicroseconds(ring.hopPicoseconds) : RING_PCI[GetIndex(protocol)];
    if (machine.servers == 1)
    {
        return base + steps * inside;
    }
    // The network is posted to all the while, Simple three times a step.
    const bool isSimple = protocol == NcclProtocol::Simple;
    inside = std::max(inside, (machine.hasAmdCpu ? 2.0 : 1.0) * (isSimple ? 3.0 : 1.0));
    const auto between = machine.ranks == machine.servers
                             ? TREE_NETWORK[GetIndex(protocol)]
                             : ToMicroseconds(ring.networkHopPicoseconds);
    const auto stepsBetween = 2.0 * (machine.servers - 1.0);
    return base + (steps - stepsBetween) * inside + stepsBetween * between;
}

double
GetTreeLatency(const NcclMachine& machine, size_t protocol)
{
    const auto inside = (machine.hasNvlink ? TREE_NVLINK : TREE_PCI)[protocol];
    const uint32_t chain = machine.ranks / machine.servers - 1;
    return TREE_BASE[protocol] +
           2.0 * (chain * inside + GetLog2(machine.servers) * TREE_NETWORK[protocol]);
}

double
GetNvlsLatency(const NcclMachine& machine, bool isTree)
{
    return NVLS_NVLINK + (isTree ? 2.0 * GetLog2(machine.servers) * NVLS_TREE_NETWORK : 0.0);
}

bool
IsNvls(NcclAlgorithm algorithm)
{
    return algorithm == NcclAlgorithm::Nvls || algorithm == NcclAlgorithm::NvlsTree;
}

bool
IsOffered(const NcclMachine& machine, NcclAlgorithm algorithm, NcclProtocol protocol)
{
    if (machine.ranks < 2)
    {
        return false;
    }
    if (IsNvls(algorithm))
    {
        const bool fits = (algorithm == NcclAlgorithm::Nvls) == (machine.servers == 1);
        return fits && protocol == NcclProtocol::Simple && machine.hasNvswitch &&
               machine.channels >= 2 && machine.architecture >= NcclArchitecture::Hopper &&
               GetRanksPerServer(machine) > 1.0;
    }
    // By default LL128 is for servers whose GPUs reach each other by NVLink.
    return protocol != NcclProtocol::Ll128 || machine.hasNvlink || machine.ranks == machine.servers;
}

/// Corrections of the sum, where steps and bandwidth alone are too coarse.
NcclPrediction
Correct(const NcclMachine& machine, NcclPrediction found, uint64_t bytes)
{
    const auto units = bytes >> 6;
    if (found.algorithm == NcclAlgorithm::Tree && units > 0 && GetLog2(units) <= LAST_CORRECTED)
    {
        found.bytesPerSecond *=
            TREE_CORRECTION[static_cast<size_t>(found.protocol)][GetLog2(units)];
    }
    if (found.algorithm == NcclAlgorithm::Ring && found.protocol == NcclProtocol::Simple &&
        machine.servers > 1 &&
        bytes / (uint64_t{machine.channels} * machine.ranks) >= PLATEAU_BYTES)
    {
        found.latencySeconds *=
            machine.architecture == NcclArchitecture::Volta ? RING_PLATEAU_VOLTA : RING_PLATEAU;
    }
    found.seconds = found.latencySeconds + static_cast<double>(bytes) / found.bytesPerSecond;
    return found;
}

} // namespace

const char*
ToString(NcclAlgorithm algorithm)
{
    switch (algorithm)
    {
    case NcclAlgorithm::Tree:
        return "tree";
    case NcclAlgorithm::Ring:
        return "ring";
    case NcclAlgorithm::Nvls:
        return "nvls";
    case NcclAlgorithm::NvlsTree:
        break;
    }
    return "nvls-tree";
}

const char*
ToString(NcclProtocol protocol)
{
    switch (protocol)
    {
    case NcclProtocol::Ll:
        return "ll";
    case NcclProtocol::Ll128:
        return "ll128";
    case NcclProtocol::Simple:
        break;
    }
    return "simple";
}

MessageProtocol
MakeNcclProtocol(NcclAlgorithm algorithm, NcclProtocol protocol)
{
    auto made = FindProtocol(ToString(protocol))->defaults;
    if (algorithm == NcclAlgorithm::Tree)
    {
        made.basePicoseconds = ToPicoseconds(TREE_BASE[GetIndex(protocol)]);
        made.hopPicoseconds = ToPicoseconds(TREE_NVLINK[GetIndex(protocol)]);
        made.networkHopPicoseconds = ToPicoseconds(TREE_NETWORK[GetIndex(protocol)]);
    }
    return made;
}

std::optional<NcclPrediction>
PredictNccl(const NcclMachine& machine,
            NcclAlgorithm algorithm,
            NcclProtocol protocol,
            uint64_t bytes)
{
    if (!IsOffered(machine, algorithm, protocol))
    {
        return std::nullopt;
    }
    const auto index = GetIndex(protocol);
    const bool isTree = algorithm == NcclAlgorithm::Tree;
    const bool isNvlsTree = algorithm == NcclAlgorithm::NvlsTree;
    const auto bus = isTree              ? GetTreeBandwidth(machine, protocol)
                     : IsNvls(algorithm) ? GetNvlsBandwidth(machine, isNvlsTree)
                                         : GetRingBandwidth(machine, protocol);
    const auto microseconds = isTree              ? GetTreeLatency(machine, index)
                              : IsNvls(algorithm) ? GetNvlsLatency(machine, isNvlsTree)
                                                  : GetRingLatency(machine, protocol);
    // From what links carry to what is summed: a tree carries the buffer twice, a ring 2(n-1)/n
    // times.
    const auto ratio = isTree ? 0.5 : machine.ranks / (2.0 * (machine.ranks - 1.0));
    return Correct(machine,
                   {algorithm, protocol, microseconds * 1e-6, bus * ratio * 1e9, 0.0},
                   bytes);
}

std::vector<NcclPrediction>
PredictNccl(const NcclMachine& machine, uint64_t bytes)
{
    std::vector<NcclPrediction> found;
    for (const auto algorithm :
         {NcclAlgorithm::Ring, NcclAlgorithm::Tree, NcclAlgorithm::Nvls, NcclAlgorithm::NvlsTree})
    {
        for (const auto protocol : {NcclProtocol::Ll, NcclProtocol::Ll128, NcclProtocol::Simple})
        {
            if (const auto prediction = PredictNccl(machine, algorithm, protocol, bytes))
            {
                found.push_back(*prediction);
            }
        }
    }
    return found;
}

} // namespace ns3::gradsync
