// SPDX-License-Identifier: GPL-2.0-only
#include "oracles/oracle-network.h"
#include "support/picosecond-clock.h"

#include "ns3/exchange-engine.h"
#include "ns3/fault-injector.h"
#include "ns3/fluid-transport.h"
#include "ns3/recorder.h"
#include "ns3/scheme.h"
#include "ns3/simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <utility>

namespace ns3::gradsync
{
namespace
{

/// Share of the reduce-phase bytes that arrive when rank 3 never sends, on a fluid network.
class SilentHost : public testing::Test
{
  protected:
    static double DeliverReduces(const std::string& name, uint32_t workers, uint32_t racks)
    {
        tests::UsePicoseconds();
        const auto* scheme = FindScheme(name);
        SchemeRequest request;
        request.workers = workers;
        request.gradientBytes = uint64_t{workers} * workers * 720;
        request.groups = oracles::MakeRackGroups(racks, workers / racks, 4.0);
        request.parameters = MakeDefaultParameters(*scheme);
        const auto plan = std::make_shared<Plan>(scheme->build(request));
        const auto network =
            oracles::MakeRackNetwork(racks,
                                     workers / racks,
                                     {DataRate("8Mbps"), DataRate("8Mbps"), Time(0)});
        auto transport = CreateObject<FluidTransport>();
        transport->Install(network.topology, network.routes);
        auto engine = CreateObject<ExchangeEngine>();
        engine->SetTransport(transport);
        Job job;
        job.name = name;
        job.plan = plan;
        job.endpointOf.resize(workers);
        std::iota(job.endpointOf.begin(), job.endpointOf.end(), 0U);
        engine->AddJob(std::move(job));
        auto injector = CreateObject<FaultInjector>();
        FaultSpec fault{};
        fault.kind = FaultKind::HostPauseSend;
        fault.pool = {3};
        injector->Install({fault}, network.topology, transport, nullptr);
        Recorder recorder(engine, Recorder::Detail::Transfers);
        Simulator::Run();
        EXPECT_TRUE(engine->GetFailure().has_value());
        uint64_t total = 0;
        uint64_t delivered = 0;
        for (OperationId id = 0; id < plan->GetOperations().size(); ++id)
        {
            const bool isReduce = plan->GetOperations()[id].kind == OperationKind::TransferReduce;
            total += isReduce ? plan->GetBytes(id) : 0;
        }
        for (const auto& transfer : recorder.GetTransfers())
        {
            const bool isReduce =
                plan->GetOperations()[transfer.operation].kind == OperationKind::TransferReduce;
            delivered += isReduce ? plan->GetBytes(transfer.operation) : 0;
        }
        injector->Dispose();
        engine->Dispose();
        transport->Dispose();
        Simulator::Destroy();
        return static_cast<double>(delivered) / static_cast<double>(total);
    }
};

TEST_F(SilentHost, BlocksHalfOfTheRing)
{
    // The host j places behind the silent one can send its first j parts: sum of j = 1 … w-1 is
    // w (w-1) / 2 of w (w-1) parts.
    EXPECT_DOUBLE_EQ(DeliverReduces("ring", 8, 2), 0.5);
    EXPECT_DOUBLE_EQ(DeliverReduces("ring", 16, 2), 0.5);
}

TEST_F(SilentHost, CostsParameterServersOnlyItsOwnShare)
{
    EXPECT_DOUBLE_EQ(DeliverReduces("ps", 8, 2), 1.0 - 1.0 / 8);
}

TEST_F(SilentHost, CostsTreesWhatItWouldHaveAggregated)
{
    // reference: 1 - (2w - w_r - r) / (w (w-1)) with w = 8, w_r = 4, r = 2.
    EXPECT_DOUBLE_EQ(DeliverReduces("rat", 8, 2), 1.0 - 10.0 / 56);
}

} // namespace
} // namespace ns3::gradsync
