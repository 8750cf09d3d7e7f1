// SPDX-License-Identifier: GPL-2.0-only
// Schemes made for networks other than racks of hosts, each on its own, ideal and built by hand.
#include "oracles/oracle-run.h"
#include "support/picosecond-clock.h"
#include "unit/scheme/scheme-test-support.h"

#include "ns3/bandwidth-bound.h"
#include "ns3/fluid-transport.h"

namespace ns3::gradsync
{

namespace
{

constexpr uint64_t HOST_RATE = 8'000'000;             //!< B: a byte a microsecond
constexpr uint64_t GRADIENT = uint64_t{720720} * 192; //!< divisible by all counts of this file

class FluidScheme : public testing::Test
{
  protected:
    static void SetUpTestSuite()
    {
        tests::UsePicoseconds();
    }

    NodeId AddNode(NodeKind kind, uint32_t tier)
    {
        return m_topology->AddNode(fmt::format("node{}", m_topology->GetNodes().size()),
                                   kind,
                                   tier);
    }

    void AddLink(NodeId a, NodeId b, uint64_t bitsPerSecond)
    {
        m_topology->AddLink(a, b, DataRate(bitsPerSecond), Time(0), LinkKind::Fabric);
    }

    /// Rank x + X y with one port on the switch of row y, and one on that of column x.
    void MakeGrid(uint32_t width, uint32_t height)
    {
        // The rows are joined, so that every rank reaches every other; no scheme uses that.
        const auto core = AddNode(NodeKind::Switch, 2);
        std::vector<NodeId> columns;
        for (uint32_t x = 0; x < width; ++x)
        {
            columns.push_back(AddNode(NodeKind::Switch, 1));
        }
        for (uint32_t y = 0; y < height; ++y)
        {
            const auto row = AddNode(NodeKind::Switch, 1);
            AddLink(row, core, HOST_RATE);
            for (uint32_t x = 0; x < width; ++x)
            {
                const auto host = AddNode(NodeKind::Host, 0);
                AddLink(host, row, HOST_RATE);
                AddLink(host, columns[x], HOST_RATE);
            }
        }
    }

    /// Servers of `gpus` behind links of 8 B, which share one NIC of B; then single hosts of B.
    void MakeServers(uint32_t servers, uint32_t gpus, uint32_t hosts)
    {
        const auto core = AddNode(NodeKind::Switch, 1);
        for (uint32_t server = 0; server < servers; ++server)
        {
            const auto inside = AddNode(NodeKind::PcieSwitch, 0);
            AddLink(inside, core, HOST_RATE);
            for (uint32_t gpu = 0; gpu < gpus; ++gpu)
            {
                AddLink(AddNode(NodeKind::Accelerator, 0), inside, 8 * HOST_RATE);
            }
        }
        for (uint32_t host = 0; host < hosts; ++host)
        {
            AddLink(AddNode(NodeKind::Host, 0), core, HOST_RATE);
        }
    }

    /// The time of one exchange, in seconds.
    double Run(const std::string& scheme, const SchemeRequest& request)
    {
        auto transport = CreateObject<FluidTransport>();
        transport->Install(m_topology, std::make_shared<RoutingTables>(*m_topology));
        auto plan = std::make_shared<Plan>(BuildPlan(scheme, request));
        const auto result =
            oracles::RunJob(oracles::MakeOracleJob(scheme, std::move(plan)), transport);
        EXPECT_EQ(result.failure, "");
        transport->Dispose();
        Simulator::Destroy();
        return result.time.GetSeconds();
    }

    void ExpectTau(double expected,
                   const std::string& scheme,
                   uint32_t workers,
                   const Parameters& parameters,
                   std::vector<GroupLevel> levels = {})
    {
        const auto request = MakeRequest(scheme, workers, GRADIENT, parameters, std::move(levels));
        constexpr double tau = 8.0 * GRADIENT / HOST_RATE;
        EXPECT_NEAR(Run(scheme, request) / tau, expected, 1e-9 * expected);
    }

    std::shared_ptr<Topology> m_topology = std::make_shared<Topology>();
};

/// A collective on hosts at one switch and what it takes there, in tau.
struct CollectiveOracle
{
    std::string name;
    std::string scheme;
    uint32_t workers;
    Parameters parameters;
    double tau;
    double boundTau;
};

class FluidCollective : public FluidScheme, public testing::WithParamInterface<CollectiveOracle>
{
};

TEST_P(FluidCollective, TakesTheTimeOfItsClosedFormAndNotLessThanTheBound)
{
    const auto& [name, scheme, workers, parameters, tau, boundTau] = GetParam();
    MakeServers(0, 0, workers);
    ExpectTau(tau, scheme, workers, parameters);
    const auto job = oracles::MakeOracleJob(
        scheme,
        std::make_shared<Plan>(
            BuildPlan(scheme, MakeRequest(scheme, workers, GRADIENT, parameters))));
    EXPECT_NEAR(ComputeCollectiveBound(*job.plan, job.endpointOf, *m_topology),
                boundTau * 8.0 * GRADIENT / HOST_RATE,
                1e-6 * boundTau);
    EXPECT_GE(tau, boundTau);
}

Parameters
Algorithm(const std::string& name, int64_t pieces = 1)
{
    return {{"algorithm", name}, {"pipelineChunks", pieces}};
}

std::vector<CollectiveOracle>
GetCollectiveOracles()
{
    // Every worker has to send or receive (w-1)K/w; broadcast and reduce K at each worker or at
    // the root.
    return {
        {"allGatherRing", "all-gather", 5, Algorithm("ring"), 4.0 / 5, 4.0 / 5},
        {"allGatherDirect", "all-gather", 5, Algorithm("direct"), 4.0 / 5, 4.0 / 5},
        {"allGatherBruck", "all-gather", 8, Algorithm("bruck"), 7.0 / 8, 7.0 / 8},
        {"reduceScatterRing", "reduce-scatter", 5, Algorithm("ring"), 4.0 / 5, 4.0 / 5},
        {"allToAll", "all-to-all", 5, {}, 4.0 / 5, 4.0 / 5},
        {"allToAllPairwise",
         "all-to-all",
         5,
         {{"algorithm", std::string("pairwise")}},
         4.0 / 5,
         4.0 / 5},
        // 1 + (w-2)/m, ceil(log2 w), w - 1, and (w-1)/w twice.
        {"broadcastChain", "broadcast", 6, Algorithm("chain", 8), 1 + 4.0 / 8, 1.0},
        {"broadcastBinomial", "broadcast", 6, Algorithm("binomial"), 3, 1.0},
        {"broadcastStar", "broadcast", 6, Algorithm("star"), 5, 1.0},
        {"broadcastParts", "broadcast", 6, Algorithm("scatter-all-gather"), 10.0 / 6, 1.0},
        {"reduceChain", "reduce", 6, Algorithm("chain", 8), 1 + 4.0 / 8, 1.0},
        {"reduceBinomial", "reduce", 6, Algorithm("binomial"), 3, 1.0},
        {"reduceStar", "reduce", 6, Algorithm("star"), 5, 1.0},
        {"reduceParts", "reduce", 6, Algorithm("reduce-scatter-gather"), 10.0 / 6, 1.0},
    };
}

std::string
GetOracleName(const testing::TestParamInfo<CollectiveOracle>& parameter)
{
    return parameter.param.name;
}

INSTANTIATE_TEST_SUITE_P(ClosedForms,
                         FluidCollective,
                         testing::ValuesIn(GetCollectiveOracles()),
                         GetOracleName);

/// A grid and what an exchange takes on it, in tau.
struct GridOracle
{
    uint32_t width;
    uint32_t height;
    double tau;
};

class FluidGrid : public FluidScheme, public testing::WithParamInterface<GridOracle>
{
};

using FluidTorus = FluidGrid;
using FluidMesh = FluidGrid;

TEST_P(FluidTorus, TakesTheTimeOfTheReference)
{
    // 2(X-1)/X + 2(Y-1)/(XY).
    const auto& [width, height, tau] = GetParam();
    MakeGrid(width, height);
    ExpectTau(tau, "torus-2d", width * height, {{"width", int64_t{width}}});
}

INSTANTIATE_TEST_SUITE_P(Reference,
                         FluidTorus,
                         testing::Values(GridOracle{2, 2, 3.0 / 2},
                                         GridOracle{4, 2, 7.0 / 4},
                                         GridOracle{3, 3, 16.0 / 9}));

TEST_P(FluidMesh, TakesTheTimeOfTheReference)
{
    // 2(m-1)/m; the reference has m = 2 and 3. From m = 4 on it takes a wait for the first
    // dimension.
    const auto& [width, height, tau] = GetParam();
    MakeGrid(width, height);
    ExpectTau(tau, "mesh-2d", width * height, {});
    // Nested stages keep both ports busy all the time: (N-1)/N, the bound of two ports.
    const double ranks = width * height;
    ExpectTau((ranks - 1) / ranks,
              "mesh-2d",
              width * height,
              {{"stages", std::string("reduce-scatter")}});
}

INSTANTIATE_TEST_SUITE_P(Reference,
                         FluidMesh,
                         testing::Values(GridOracle{2, 2, 1.0},
                                         GridOracle{3, 3, 4.0 / 3},
                                         GridOracle{4, 4, 6.0 / 4},
                                         GridOracle{6, 6, 10.0 / 6},
                                         GridOracle{12, 12, 22.0 / 12}));

TEST_F(FluidScheme, HipsOnABcubeTakesTheTimeOfTheReference)
{
    // n = h = 2: 2(N-1)/N in one stream, half of it with a stream per port.
    MakeGrid(2, 2);
    for (const auto* style : {"ps", "ring"})
    {
        ExpectTau(1.5, "bcube-hips", 4, {{"allPorts", false}, {"style", std::string(style)}});
        ExpectTau(0.75, "bcube-hips", 4, {{"allPorts", true}, {"style", std::string(style)}});
    }
}

TEST_F(FluidScheme, HipsOnATorusUsesAllPorts)
{
    // 3 x 3 servers with a link to each of 4 neighbours: 2(N-1)/N over 2 or 4 streams.
    std::vector<NodeId> hosts;
    for (uint32_t rank = 0; rank < 9; ++rank)
    {
        hosts.push_back(AddNode(NodeKind::Host, 0));
    }
    for (uint32_t rank = 0; rank < 9; ++rank)
    {
        AddLink(hosts[rank], hosts[rank / 3 * 3 + (rank + 1) % 3], HOST_RATE);
        AddLink(hosts[rank], hosts[(rank + 3) % 9], HOST_RATE);
    }
    ExpectTau(8.0 / 9, "torus-hips", 9, {{"bothDirections", false}});
    ExpectTau(4.0 / 9, "torus-hips", 9, {});
}

TEST_F(FluidScheme, RingsOnRailsUseAllNics)
{
    // 4 servers of 2 accelerators, each with a NIC on the switch of its rail, joined by a core: two
    // rings of K/2, of which every NIC carries one, 2(w-1)/w K/2.
    const auto core = AddNode(NodeKind::Switch, 2);
    std::vector<NodeId> rails;
    for (uint32_t rail = 0; rail < 2; ++rail)
    {
        rails.push_back(AddNode(NodeKind::Switch, 1));
        AddLink(rails.back(), core, HOST_RATE);
    }
    for (uint32_t server = 0; server < 4; ++server)
    {
        const auto inside = AddNode(NodeKind::NvSwitch, 0);
        for (uint32_t gpu = 0; gpu < 2; ++gpu)
        {
            const auto node = AddNode(NodeKind::Accelerator, 0);
            AddLink(node, inside, 8 * HOST_RATE);
            AddLink(node, rails[gpu], HOST_RATE);
        }
    }
    ExpectTau(7.0 / 8,
              "multi-ring",
              8,
              {{"order", std::string("rails")}},
              {MakeLevel("server", Repeat(4, 2), 1.0)});
}

TEST_F(FluidScheme, BlueConnectOnTwoServersOfTwoTakesTheTimeOfTheReference)
{
    // 2(p1-1)/p1 / 8 + 2(p2-1)/p2: the p1 rings of the second stage share the NIC.
    MakeServers(2, 2, 0);
    ExpectTau(9.0 / 8, "blueconnect", 4, {{"dimensions", std::vector<double>{2, 2}}});
}

TEST_F(FluidScheme, BlueConnectOnFourServersOfFourTakesTheTimeOfTheReference)
{
    MakeServers(4, 4, 0);
    ExpectTau(27.0 / 16, "blueconnect", 16, {}, {MakeLevel("server", Repeat(4, 4), 1.0)});
}

TEST_F(FluidScheme, BytePsTakesTheTimeOfItsBusiestMachine)
{
    // n = 4. k = 0: GPU machines push and pull 3/4 each on the same links, 3/2. k = 4: CPU machines
    // get K and return it, at once but for the first of m = 4 pieces: 1 + 1/4. k = 1: the CPU
    // machine serves 1/3 of K to four; in one piece there and back do not overlap: 2 * 4/3.
    struct Case
    {
        int64_t cpuMachines;
        int64_t pieces;
        double tau;
    };

    for (const auto& [cpuMachines, pieces, tau] :
         {Case{0, 1, 3.0 / 2}, Case{4, 4, 5.0 / 4}, Case{1, 1, 8.0 / 3}})
    {
        m_topology = std::make_shared<Topology>();
        MakeServers(0, 0, 4 + static_cast<uint32_t>(cpuMachines));
        ExpectTau(tau, "byteps", 4, {{"cpuMachines", cpuMachines}, {"pipelineChunks", pieces}});
    }
}

/// When the chunks [0, chunks) are at all workers for good, and when all chunks are, in tau.
std::pair<double, double>
GetFrontAndEnd(const Plan& plan, uint32_t chunks, const Recorder& recorder)
{
    constexpr double tau = 8.0 * GRADIENT / HOST_RATE;
    double front = 0;
    double end = 0;
    for (const auto& record : recorder.GetTransfers())
    {
        end = std::max(end, record.end.GetSeconds() / tau);
        if (plan.GetOperations()[record.operation].firstChunk < chunks)
        {
            front = std::max(front, record.end.GetSeconds() / tau);
        }
    }
    return {front, end};
}

TEST_F(FluidScheme, BytePsGivesTheFirstLayerToTheNextPassEarly)
{
    // 4 hosts, 4 layers of K/4. A layer takes 3/16 tau to push, 3/16 to pull. Without a limit its
    // pulls wait behind the pushes of all layers: 4 * 3/16 + 3/16. One at a time in the order of
    // priority: 2 * 3/16; in that of back-propagation it is the last. The end is the same.
    struct Case
    {
        int64_t credit;
        std::string order;
        double front;
    };

    MakeServers(0, 0, 4);
    const double layer = static_cast<double>(GRADIENT) / 4;
    for (const auto& [credit, order, front] : {Case{0, "priority", 15.0 / 16},
                                               Case{1, "priority", 6.0 / 16},
                                               Case{1, "backward", 24.0 / 16}})
    {
        auto transport = CreateObject<FluidTransport>();
        transport->Install(m_topology, std::make_shared<RoutingTables>(*m_topology));
        auto engine = CreateObject<ExchangeEngine>();
        engine->SetTransport(transport);
        const auto plan =
            std::make_shared<Plan>(BuildPlan("byteps",
                                             MakeRequest("byteps",
                                                         4,
                                                         GRADIENT,
                                                         {{"layers", std::vector<double>(4, layer)},
                                                          {"partitionBytes", int64_t{GRADIENT}},
                                                          {"order", order},
                                                          {"credit", credit}})));
        engine->AddJob(oracles::MakeOracleJob("byteps", plan));
        {
            const Recorder recorder(engine, Recorder::Detail::Transfers);
            Simulator::Run();
            const auto [first, end] = GetFrontAndEnd(*plan, 4, recorder); // a shard for each host
            EXPECT_NEAR(first, front, 1e-9);
            EXPECT_NEAR(end, 1.5, 1e-9);
        }
        engine->Dispose();
        transport->Dispose();
        Simulator::Destroy();
    }
}

TEST_F(FluidScheme, PsRingTakesTheTimeOfTheStages)
{
    // s = 2, n = 2, p = 1: 2sK/(pB) = 4 between the servers; in each of the two rings inside
    // (n-1)/n / 8 = 1/16. The reference's 4.0625 is the printed formula, which has only one.
    MakeServers(2, 2, 1);
    ExpectTau(4.125, "ps-ring", 4, {}, {MakeLevel("server", Repeat(2, 2), 1.0)});
    // All GPUs push everything through the NIC: 2snK/(pB).
    ExpectTau(8, "ps", 4, {{"servers", int64_t{1}}});
}

TEST_F(FluidScheme, ParameterHubTakesTheTimeOfItsWorkers)
{
    // A rack of w_r = 4 and a box of 10 ports: one way max(1, w_r B / (10 B)) = 1.
    const auto core = AddNode(NodeKind::Switch, 1);
    for (uint32_t host = 0; host < 5; ++host)
    {
        AddLink(AddNode(NodeKind::Host, 0), core, host < 4 ? HOST_RATE : 10 * HOST_RATE);
    }
    // A gradient of 2^20 us. Both ways in one chunk: 2. In two, but for the first, at once: 1.5.
    for (const auto& [chunkBytes, tau] : {std::pair{1 << 20, 2.0}, std::pair{1 << 19, 1.5}})
    {
        const auto request =
            MakeRequest("parameter-hub",
                        4,
                        1 << 20,
                        {{"boxes", int64_t{1}}, {"chunkBytes", int64_t{chunkBytes}}});
        EXPECT_NEAR(Run("parameter-hub", request), tau * (1 << 20) * 1e-6, 1e-9);
    }
}

/// GeoMX: two sites of four workers and a server, and a global server behind a link of its own.
class FluidGeo : public FluidScheme
{
  protected:
    double RunGeo(uint64_t globalBitsPerSecond)
    {
        const auto core = AddNode(NodeKind::Switch, 2);
        std::vector<NodeId> sites;
        for (uint32_t site = 0; site < 2; ++site)
        {
            sites.push_back(AddNode(NodeKind::Switch, 1));
            AddLink(sites.back(), core, 100'000'000'000);
        }
        for (uint32_t rank = 0; rank < 10; ++rank)
        {
            // Workers 0 to 7, then the servers of both sites.
            const auto site = rank < 8 ? rank / 4 : rank - 8;
            AddLink(AddNode(NodeKind::Host, 0), sites[site], 1'000'000'000);
        }
        AddLink(AddNode(NodeKind::Host, 0), core, globalBitsPerSecond);
        return Run("geo-hips", MakeRequest("geo-hips", 8, 93'950'000));
    }
};

TEST_F(FluidScheme, ParameterHubOfTenNicsKeepsUpWithItsRack)
{
    // 16 workers and 10 NICs of the same rate: one way max(1, 16/10) tau; both ways overlap but for
    // the first of 2 chunks a NIC.
    MakeServers(0, 0, 26);
    const uint64_t gradient = 20 << 10;
    const auto request = MakeRequest(
        "parameter-hub",
        16,
        gradient,
        {{"boxes", int64_t{1}}, {"nics", int64_t{10}}, {"chunkBytes", int64_t{1 << 10}}});
    EXPECT_NEAR(Run("parameter-hub", request), 1.5 * 1.6 * gradient * 1e-6, 1e-9);
}

TEST_F(FluidGeo, TakesTheTimeOfTheReferenceOverASlowUplink)
{
    // 2(mK/B_LAN + PK/B_WAN), m = 4, P = 2, K = 93.95 MB: 2(3.0064 + 9.69806) s.
    EXPECT_NEAR(RunGeo(155'000'000), 25.409, 0.0005);
}

TEST_F(FluidGeo, TakesTheTimeOfTheReferenceOverAFastUplink)
{
    // 2(3.0064 + 1.5032) s.
    EXPECT_NEAR(RunGeo(1'000'000'000), 9.019, 0.0005);
}

} // namespace
} // namespace ns3::gradsync
