// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fallback-spec.h"
#include "ns3/group-exchange.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <numeric>
#include <vector>

namespace ns3::gradsync
{

namespace
{

uint32_t
CountLibraServers(const ParameterSet& parameters)
{
    return GetCount(parameters, "servers", 1);
}

/// Share of all updates that are of the hottest parameters, as they were measured.
double
GetMeasuredShare(std::vector<double> updates, uint64_t hot)
{
    const bool isBad = std::ranges::any_of(updates, [](double count) {
        return !std::isfinite(count) || count < 0.0;
    });
    const auto sum = std::accumulate(updates.begin(), updates.end(), 0.0);
    if (isBad || sum <= 0.0)
    {
        throw SchemeError("popularity must be finite, not negative, and not all 0");
    }
    if (hot > updates.size())
    {
        throw SchemeError(
            fmt::format("hotParameters is {}, but popularity has {} entries", hot, updates.size()));
    }
    std::ranges::sort(updates, std::greater<>());
    return std::accumulate(updates.begin(), updates.begin() + static_cast<int64_t>(hot), 0.0) / sum;
}

/**
 * The sum of i^-s for i up to n. Beyond the first ones by the formula of Euler and Maclaurin, whose
 * next term is below s (s + 1) (s + 2) 1000^(-s - 3) / 720: 8e-15 at s = 1.
 */
double
GetZipfSum(uint64_t n, double s)
{
    constexpr uint64_t DIRECT = 1000;
    double sum = 0.0;
    for (uint64_t rank = std::min(n, DIRECT); rank >= 1; --rank)
    {
        sum += std::pow(static_cast<double>(rank), -s);
    }
    if (n <= DIRECT)
    {
        return sum;
    }
    const auto a = static_cast<double>(DIRECT);
    const auto b = static_cast<double>(n);
    const auto integral =
        s == 1.0 ? std::log(b / a) : (std::pow(b, 1.0 - s) - std::pow(a, 1.0 - s)) / (1.0 - s);
    return sum + integral + (std::pow(b, -s) - std::pow(a, -s)) / 2.0 +
           s / 12.0 * (std::pow(a, -s - 1.0) - std::pow(b, -s - 1.0));
}

/// Likewise where the parameter of rank i has updates in proportion to i^-s (Zipf).
double
GetZipfShare(uint64_t hot, uint64_t all, double exponent)
{
    if (hot > all)
    {
        throw SchemeError(
            fmt::format("hotParameters is {}, but there are {} parameters", hot, all));
    }
    return hot == all ? 1.0 : GetZipfSum(hot, exponent) / GetZipfSum(all, exponent);
}

double
GetHotShare(const ParameterSet& parameters)
{
    const auto hot = static_cast<uint64_t>(parameters.Get<int64_t>("hotParameters"));
    const auto& updates = parameters.Get<std::vector<double>>("popularity");
    return updates.empty()
               ? GetZipfShare(hot,
                              static_cast<uint64_t>(parameters.Get<int64_t>("parameters")),
                              parameters.Get<double>("exponent"))
               : GetMeasuredShare(updates, hot);
}

/// Of each piece of the gradient chunk 0 is what is hot, and chunk 1 + j the shard of server j.
class LibraPlan
{
  public:
    explicit LibraPlan(const SchemeRequest& request)
        : m_workers(request.workers),
          m_servers(CountLibraServers(request.parameters)),
          m_pieces(GetCount(request.parameters, "pipelineChunks", 1)),
          m_layout(MakeLayout(request))
    {
    }

    Plan Build()
    {
        DataflowBuilder builder(m_workers + m_servers, m_workers, m_layout);
        GroupExchange cold(builder, m_layout, ExchangeStyle::Direct);
        std::vector<uint32_t> all(m_workers);
        std::iota(all.begin(), all.end(), 0U);
        const bool aggregates = m_workers > 1 && HasHot();
        const auto group =
            aggregates
                ? builder.AddAggregationGroup(all, {.name = "switchml", .hasExponents = true})
                : 0;
        for (uint32_t piece = 0; piece < m_pieces; ++piece)
        {
            const auto first = piece * (1 + m_servers);
            if (aggregates && m_layout.GetBytes(first, 1) > 0)
            {
                builder.AddAggregate(group, first, 1);
            }
            for (uint32_t server = 0; server < m_servers; ++server)
            {
                auto members = all;
                members.push_back(m_workers + server);
                const Slice shard{m_workers, first + 1 + server, 1};
                cold.AddReduceScatter(members, {shard});
                cold.AddAllGather(members, {shard});
            }
        }
        return builder.Build();
    }

  private:
    ChunkLayout MakeLayout(const SchemeRequest& request) const
    {
        const auto share = GetHotShare(request.parameters);
        CountChunks(m_workers, m_pieces); // each worker has operations for each piece
        CountTrackedChunks(m_workers + m_servers, 1 + m_servers, m_pieces);
        std::vector<double> weights;
        for (uint32_t piece = 0; piece < m_pieces; ++piece)
        {
            weights.push_back(share);
            weights.insert(weights.end(), m_servers, (1.0 - share) / m_servers);
        }
        return ChunkLayout::Weighted(request.gradientBytes, weights, 1, request.elementBytes);
    }

    bool HasHot() const
    {
        bool hasHot = false;
        for (uint32_t piece = 0; piece < m_pieces; ++piece)
        {
            hasHot = hasHot || m_layout.GetBytes(piece * (1 + m_servers), 1) > 0;
        }
        return hasHot;
    }

    uint32_t m_workers;
    uint32_t m_servers;
    uint32_t m_pieces;
    ChunkLayout m_layout;
};

Plan
BuildLibra(const SchemeRequest& request)
{
    CheckRequest(request);
    return LibraPlan(request).Build();
}

} // namespace

Scheme
MakeLibraScheme()
{
    return {
        "libra",
        "Libra: switches aggregate the updates of hot parameters, parameter servers those of cold "
        "ones",
        "Pan et al. 2022 (Libra, arXiv 2205.05243)",
        {{"servers",
          int64_t{1},
          "dedicated parameter servers over which the cold parameters are sharded",
          {},
          1,
          65536},
         {"hotParameters",
          int64_t{30'000},
          "parameters on the switch: those with the most updates",
          {},
          0,
          100'000'000},
         {"parameters",
          int64_t{1'000'000},
          "parameters of the model, where their popularity follows Zipf's law",
          {},
          1,
          100'000'000},
         {"exponent",
          1.0,
          "of Zipf's law: the parameter of rank i has updates in proportion to i^-exponent; 0: all "
          "have as many",
          {},
          0.0,
          10.0},
         {"popularity",
          std::vector<double>(),
          "measured updates of each parameter, in any order and unit; empty: Zipf's law",
          {}},
         MakePipelineChunksSpec(1, "pieces of the gradient that are exchanged one after another"),
         MakeFallbackSpec()},
        CountLibraServers,
        BuildLibra,
    };
}

} // namespace ns3::gradsync
