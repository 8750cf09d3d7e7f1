// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCHEMES_H
#define GRADSYNC_SCHEMES_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

// Every scheme is a function that a file of its own defines. GetSchemes() is the way to them by
// name.

// All-reduce among workers (model/scheme/allreduce)

/// Rings in one dimension of a grid after the other (doc/schemes.rst).
Scheme MakeBlueConnectScheme();

/// Recursive doubling of the whole gradient (doc/schemes.rst).
Scheme MakeButterflyScheme();

/// Two complementary binary trees (doc/schemes.rst).
Scheme MakeDoubleBinaryTreeScheme();

/// Recursive halving, then recursive doubling (doc/schemes.rst).
Scheme MakeHalvingDoublingScheme();

/// Hierarchical all-reduce: rings in groups, a ring among their roots, a broadcast
/// (doc/schemes.rst).
Scheme MakeHierarchicalScheme();

/// Reduce to rank 0 and broadcast along a k-nomial tree (doc/schemes.rst).
Scheme MakeKNomialScheme();

/// Two halves, one rows first and one columns first (doc/schemes.rst).
Scheme MakeMesh2dScheme();

/// Several rings at once (doc/schemes.rst).
Scheme MakeMultiRingScheme();

/// Resilient all-reduce tree: one balanced aggregation tree per worker (doc/schemes.rst).
Scheme MakeRatScheme();

/// Ring all-reduce: reduce-scatter, then all-gather, around one ring (doc/schemes.rst).
Scheme MakeRingScheme();

/// Rings in the rows, then in the columns of a grid (doc/schemes.rst).
Scheme MakeTorus2dScheme();

// Parameter servers and hierarchies (model/scheme/parameter-server)

/// Hierarchical exchange over the ports of servers (doc/schemes.rst).
Scheme MakeBcubeHipsScheme();

/// Parameter servers on GPU and CPU machines (doc/schemes.rst).
Scheme MakeBytePsScheme();

/// A round of federated learning: command, training at the clients, answers, model.
Scheme MakeFederatedScheme();

/// Party servers below a global one, as GeoMX (doc/schemes.rst).
Scheme MakeGeoHipsScheme();

/// A box per rack, and exchange among the boxes (doc/schemes.rst).
Scheme MakeParameterHubScheme();

/// Sharded exchange in groups, then among groups (doc/schemes.rst).
Scheme MakePlinkScheme();

/// Rings inside servers, parameter servers between them (doc/schemes.rst).
Scheme MakePsRingScheme();

/// Parameter servers, co-located with the workers or dedicated (doc/schemes.rst).
Scheme MakePsScheme();

/// HiPS on a torus of directly linked servers (doc/schemes.rst).
Scheme MakeTorusHipsScheme();

// In the network (model/scheme/in-network)

/// Switches aggregate as far as they have room, parameter servers the rest (doc/schemes.rst).
Scheme MakeAtpScheme();

/// Handlers on the cores of switches aggregate (doc/schemes.rst).
Scheme MakeFlareScheme();

/// Switches aggregate what is hot, parameter servers what is cold (doc/schemes.rst).
Scheme MakeLibraScheme();

/// Boxes at switches that aggregate RoCE messages on their way (doc/schemes.rst).
Scheme MakeNetReduceScheme();

/// NVSwitches aggregate inside servers, rings between them (doc/schemes.rst).
Scheme MakeNvlsScheme();

/// Rings inside servers, switches that aggregate between them (doc/schemes.rst).
Scheme MakePassingScheme();

/// A tree of InfiniBand switches, if their manager has one (doc/schemes.rst).
Scheme MakeSharpScheme();

/// Switches aggregate what all workers send (doc/schemes.rst).
Scheme MakeSwitchMlScheme();

// Sparse (model/scheme/sparse)

/// bbTopk's exchange of sparse gradients on two levels (doc/schemes.rst).
Scheme MakeBbTopKScheme();

/// Ok-Topk's exchange of sparse gradients (doc/schemes.rst).
Scheme MakeOkTopKScheme();

/// All-gather of parts that differ in size (doc/schemes.rst).
Scheme MakeSparseAllGatherScheme();

// Other collectives (model/scheme/collective)

/// Every worker's part to all workers (doc/schemes.rst).
Scheme MakeAllGatherScheme();

/// A part of its own from every worker to every worker (doc/schemes.rst).
Scheme MakeAllToAllScheme();

/// Nobody goes on before all have come (doc/schemes.rst).
Scheme MakeBarrierScheme();

/// Everything from one worker to all (doc/schemes.rst).
Scheme MakeBroadcastScheme();

/// The sum of every part to one worker (doc/schemes.rst).
Scheme MakeReduceScatterScheme();

/// The sum of everything to one worker (doc/schemes.rst).
Scheme MakeReduceScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_SCHEMES_H
