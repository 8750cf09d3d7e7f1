// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/schemes.h"

#include <algorithm>

namespace ns3::gradsync
{

const std::vector<Scheme>&
GetSchemes()
{
    static const std::vector<Scheme> schemes = {
        MakeAllGatherScheme(),
        MakeAllToAllScheme(),
        MakeAtpScheme(),
        MakeBarrierScheme(),
        MakeBbTopKScheme(),
        MakeBcubeHipsScheme(),
        MakeBlueConnectScheme(),
        MakeBroadcastScheme(),
        MakeButterflyScheme(),
        MakeBytePsScheme(),
        MakeDoubleBinaryTreeScheme(),
        MakeFederatedScheme(),
        MakeFlareScheme(),
        MakeGeoHipsScheme(),
        MakeHalvingDoublingScheme(),
        MakeHierarchicalScheme(),
        MakeKNomialScheme(),
        MakeLibraScheme(),
        MakeMesh2dScheme(),
        MakeMultiRingScheme(),
        MakeNetReduceScheme(),
        MakeNvlsScheme(),
        MakeOkTopKScheme(),
        MakeParameterHubScheme(),
        MakePassingScheme(),
        MakePlinkScheme(),
        MakePsScheme(),
        MakePsRingScheme(),
        MakeRatScheme(),
        MakeReduceScheme(),
        MakeReduceScatterScheme(),
        MakeRingScheme(),
        MakeSharpScheme(),
        MakeSparseAllGatherScheme(),
        MakeSwitchMlScheme(),
        MakeTorus2dScheme(),
        MakeTorusHipsScheme(),
    };
    return schemes;
}

const Scheme*
FindScheme(std::string_view name)
{
    const auto& schemes = GetSchemes();
    const auto found = std::find_if(schemes.begin(), schemes.end(), [name](const Scheme& scheme) {
        return scheme.name == name;
    });
    return found == schemes.end() ? nullptr : &*found;
}

ParameterSet
MakeDefaultParameters(const Scheme& scheme)
{
    return MakeDefaults(scheme.parameters);
}

} // namespace ns3::gradsync
