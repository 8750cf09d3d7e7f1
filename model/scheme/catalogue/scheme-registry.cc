// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/schemes.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

void
ParameterSet::Set(const std::string& name, ParameterValue value)
{
    m_values.insert_or_assign(name, std::move(value));
}

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
        MakeGeoHipsScheme(),
        MakeHalvingDoublingScheme(),
        MakeHierarchicalScheme(),
        MakeKNomialScheme(),
        MakeMesh2dScheme(),
        MakeMultiRingScheme(),
        MakeNetReduceScheme(),
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
    ParameterSet parameters;
    for (const auto& spec : scheme.parameters)
    {
        parameters.Set(spec.name, spec.defaultValue);
    }
    return parameters;
}

} // namespace ns3::gradsync
