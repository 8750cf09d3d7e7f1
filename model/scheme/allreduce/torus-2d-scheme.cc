// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/grid-support.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

namespace ns3::gradsync
{

namespace
{

Plan
BuildTorus2d(const SchemeRequest& request)
{
    CheckRequest(request);
    return BuildGridPlan(request, {CountUp(request.workers), GetWidthAndHeight(request), {{0, 1}}});
}

} // namespace

Scheme
MakeTorus2dScheme()
{
    return {
        "torus-2d",
        "2D-torus: reduce-scatter in rings along rows, all-reduce along columns, all-gather in "
        "rows",
        "Mikami et al. 2018 (Sony)",
        {
            MakeWidthSpec(),
            MakePipelineChunksSpec(1, "pieces of the gradient that are exchanged one by one"),
        },
        CountNoServers,
        BuildTorus2d,
    };
}

} // namespace ns3::gradsync
