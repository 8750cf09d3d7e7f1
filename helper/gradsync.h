// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GRADSYNC_H
#define GRADSYNC_GRADSYNC_H

/**
 * \file
 * All that a program of one's own may include (doc/cpp.rst), stand-alone and inside an ns-3 tree.
 * What these headers include is exported with them; all others stay inside the library.
 */

// Networks and jobs
#include "ns3/aggregation-helper.h"
#include "ns3/exchange-helper.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-host.h"

// What happens in them
#include "ns3/exchange-application.h"
#include "ns3/exchange-engine.h"
#include "ns3/fault-injector.h"
#include "ns3/recorder.h"
#include "ns3/traffic-generator.h"
#include "ns3/wire-format.h"

// Topologies
#include "ns3/fat-tree-topology.h"
#include "ns3/graph-topology.h"
#include "ns3/rail-topology.h"
#include "ns3/server-builder.h"
#include "ns3/spine-leaf-topology.h"
#include "ns3/star-topology.h"
#include "ns3/three-tier-topology.h"

// Schemes and plans
#include "ns3/group-finder.h"
#include "ns3/import-scheme.h"
#include "ns3/plan-builder.h"
#include "ns3/plan-statistics.h"
#include "ns3/plan-verifier.h"
#include "ns3/scheme.h"

// Congestion control
#include "ns3/congestion-control.h"

#endif // GRADSYNC_GRADSYNC_H
