// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/flow-sizes.h"

#include <algorithm>

namespace ns3::gradsync
{

double
FlowSizes::GetMeanBytes() const
{
    double mean = 0.0;
    for (size_t i = 1; i < points.size(); ++i)
    {
        const auto share = (points[i].percent - points[i - 1].percent) / 100.0;
        mean += share * (points[i].bytes + points[i - 1].bytes) / 2.0;
    }
    return mean;
}

Ptr<RandomVariableStream>
FlowSizes::MakeVariable(int64_t stream) const
{
    auto variable = CreateObject<EmpiricalRandomVariable>();
    variable->SetInterpolate(true);
    for (const auto& point : points)
    {
        variable->CDF(point.bytes, point.percent / 100.0);
    }
    variable->SetStream(stream);
    return variable;
}

std::span<const FlowSizes>
GetFlowSizes()
{
    // The points with which HPCC (SIGCOMM'19, section 5.1) and others were evaluated.
    static const std::vector<FlowSizes> distributions{
        {"hadoop",
         "Roy et al., Inside the social network's (datacenter) network, SIGCOMM'15",
         {{0, 0},       {100, 1},     {200, 2},        {300, 5},      {350, 15},
          {400, 20},    {500, 30},    {600, 40},       {700, 50},     {1000, 60},
          {2000, 67},   {7000, 70},   {30000, 72},     {50000, 82},   {80000, 87},
          {120000, 90}, {300000, 95}, {1000000, 97.5}, {2000000, 99}, {10000000, 100}}},
        {"websearch",
         "Alizadeh et al., Data center TCP, SIGCOMM'10",
         {{0, 0},
          {10000, 15},
          {20000, 20},
          {30000, 30},
          {50000, 40},
          {80000, 53},
          {200000, 60},
          {1000000, 70},
          {2000000, 80},
          {5000000, 90},
          {10000000, 97},
          {30000000, 100}}}};
    return distributions;
}

const FlowSizes*
FindFlowSizes(std::string_view name)
{
    const auto all = GetFlowSizes();
    const auto found = std::ranges::find(all, name, &FlowSizes::name);
    return found == all.end() ? nullptr : &*found;
}

} // namespace ns3::gradsync
