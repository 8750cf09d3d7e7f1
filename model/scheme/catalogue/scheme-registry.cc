// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/all-gather-scheme.h"
#include "ns3/all-to-all-scheme.h"
#include "ns3/atp-scheme.h"
#include "ns3/barrier-scheme.h"
#include "ns3/bbtopk-scheme.h"
#include "ns3/bcube-hips-scheme.h"
#include "ns3/blueconnect-scheme.h"
#include "ns3/broadcast-scheme.h"
#include "ns3/butterfly-scheme.h"
#include "ns3/byteps-scheme.h"
#include "ns3/double-binary-tree-scheme.h"
#include "ns3/federated-scheme.h"
#include "ns3/geo-hips-scheme.h"
#include "ns3/halving-doubling-scheme.h"
#include "ns3/hierarchical-scheme.h"
#include "ns3/k-nomial-scheme.h"
#include "ns3/mesh-2d-scheme.h"
#include "ns3/multi-ring-scheme.h"
#include "ns3/netreduce-scheme.h"
#include "ns3/ok-topk-scheme.h"
#include "ns3/parameter-hub-scheme.h"
#include "ns3/passing-scheme.h"
#include "ns3/plink-scheme.h"
#include "ns3/ps-ring-scheme.h"
#include "ns3/ps-scheme.h"
#include "ns3/rat-scheme.h"
#include "ns3/reduce-scatter-scheme.h"
#include "ns3/reduce-scheme.h"
#include "ns3/ring-scheme.h"
#include "ns3/scheme.h"
#include "ns3/sparse-all-gather-scheme.h"
#include "ns3/switchml-scheme.h"
#include "ns3/torus-2d-scheme.h"
#include "ns3/torus-hips-scheme.h"

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
