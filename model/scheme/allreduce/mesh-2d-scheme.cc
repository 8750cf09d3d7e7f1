// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/grid-support.h"
#include "ns3/scheme-support.h"
#include "ns3/schemes.h"

#include <string>

namespace ns3::gradsync
{

namespace
{

Plan
BuildMesh2d(const SchemeRequest& request)
{
    CheckRequest(request);
    const bool isNested = request.parameters.Get<std::string>("stages") == "reduce-scatter";
    // One half of the gradient goes rows first, the other columns first: all ports work all the
    // time.
    return BuildGridPlan(request,
                         {CountUp(request.workers),
                          GetWidthAndHeight(request),
                          {{0, 1}, {1, 0}},
                          ExchangeStyle::Ring,
                          isNested ? GridForm::Nested : GridForm::Successive});
}

} // namespace

Scheme
MakeMesh2dScheme()
{
    return {
        "mesh-2d",
        "2D-mesh: one half of the gradient along rows then columns, the other half the other way",
        "Ying et al. 2018 (Google)",
        {
            MakeWidthSpec(),
            {"stages",
             std::string("all-reduce"),
             "what the second dimension exchanges: all-reduce, everything; reduce-scatter, what "
             "the first one left, which moves less",
             {"all-reduce", "reduce-scatter"}},
            MakePipelineChunksSpec(1, "pieces of each half that are exchanged one by one"),
        },
        CountNoServers,
        BuildMesh2d,
    };
}

} // namespace ns3::gradsync
