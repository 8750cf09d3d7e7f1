// SPDX-License-Identifier: GPL-2.0-only
// Packet-level times of whole exchanges against closed forms and against the fluid oracle.
#include "oracles/oracle-network.h"
#include "support/picosecond-clock.h"

#include "ns3/exchange-engine.h"
#include "ns3/fluid-transport.h"
#include "ns3/recorder.h"
#include "ns3/roce-transport.h"
#include "ns3/scheme.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <string>

namespace ns3::gradsync
{
namespace
{

/// One iteration of a scheme on a network; everything at its default unless set.
struct Exchange
{
    std::string scheme;
    std::map<std::string, ParameterValue> parameters;
    uint32_t racks;
    uint32_t hostsPerRack;
    oracles::RackNetworkRates rates;
    double oversubscription{1.0};
    uint64_t gradientBytes;
    uint32_t elementBytes{4};

    Time Run(const Ptr<Transport>& transport) const
    {
        const auto network = oracles::MakeRackNetwork(racks, hostsPerRack, rates);
        transport->Install(network.topology, network.routes);
        auto engine = CreateObject<ExchangeEngine>();
        engine->SetTransport(transport);
        engine->AddJob(MakeJob());
        Time ict;
        {
            Recorder recorder(engine, Recorder::Detail::Iterations);
            Simulator::Run();
            EXPECT_FALSE(engine->GetFailure().has_value());
            ict = recorder.GetIterations()[0].end - recorder.GetIterations()[0].start;
        }
        engine->Dispose();
        Simulator::Destroy();
        return ict;
    }

    Job MakeJob() const
    {
        const auto* definition = FindScheme(scheme);
        SchemeRequest request;
        request.workers = racks * hostsPerRack;
        request.gradientBytes = gradientBytes;
        request.elementBytes = elementBytes;
        request.groups = oracles::MakeRackGroups(racks, hostsPerRack, oversubscription);
        request.parameters = MakeDefaultParameters(*definition);
        for (const auto& [name, value] : parameters)
        {
            request.parameters.Set(name, value);
        }
        Job job;
        job.name = scheme;
        job.plan = std::make_shared<Plan>(definition->build(request));
        job.endpointOf.resize(request.workers);
        std::iota(job.endpointOf.begin(), job.endpointOf.end(), 0);
        return job;
    }
};

Ptr<RoceTransport>
MakeRoce(uint32_t mtuBytes, uint32_t ackEvery)
{
    auto roce = CreateObject<RoceTransport>();
    roce->SetAttribute("Mtu", UintegerValue(mtuBytes));
    roce->SetAttribute("AckEvery", UintegerValue(ackEvery));
    roce->SetAttribute("KeptQueuePairs", UintegerValue(0)); // small networks reserve, too
    roce->GetFabric()->SetAttribute("LoadBalancing", StringValue("destination"));
    return roce;
}

/**
 * Reference section 6: 4 hosts on one switch, 1 Gb/s, 1 us a link, 1500 B on the wire a packet
 * (1418 B of payload), 100 packets a chunk of the ring, no acknowledgements.
 */
class FourHostsOnOneSwitch : public ::testing::Test
{
  protected:
    void SetUp() override
    {
        tests::UsePicoseconds();
        exchange.racks = 1;
        exchange.hostsPerRack = 4;
        exchange.rates = {DataRate("1Gbps"), DataRate("1Gbps"), MicroSeconds(1)};
        exchange.gradientBytes = uint64_t{4} * 100 * 1418;
        exchange.elementBytes = 2; // 1418 is no multiple of 4
    }

    Exchange exchange;
};

TEST_F(FourHostsOnOneSwitch, RingThatForwardsWholeMessagesTakes7284us)
{
    // 6 steps of 100 * 12 us + 12 us (stored once) + 2 * 1 us.
    exchange.scheme = "ring";
    exchange.parameters = {{"pipelineChunks", int64_t{1}}};
    EXPECT_EQ(exchange.Run(MakeRoce(1418, 0)), MicroSeconds(7284));
}

TEST_F(FourHostsOnOneSwitch, RingThatForwardsPacketsTakes7214us)
{
    // The NIC never pauses: 600 * 12 us, then 12 + 2 * 1 us for the last packet.
    exchange.scheme = "ring";
    exchange.parameters = {{"pipelineChunks", int64_t{100}}};
    EXPECT_EQ(exchange.Run(MakeRoce(1418, 0)), MicroSeconds(7214));
}

TEST_F(FourHostsOnOneSwitch, CoLocatedPsWithBarrierTakes7228us)
{
    // Two phases of 3 * 100 * 12 + 12 + 2 * 1 us: rotation leaves no two packets for one port at a
    // time.
    exchange.scheme = "ps";
    exchange.parameters = {{"barrier", true}};
    EXPECT_EQ(exchange.Run(MakeRoce(1418, 0)), MicroSeconds(7228));
}

TEST_F(FourHostsOnOneSwitch, AcknowledgementsCostTheRingTheirBandwidth)
{
    // Every 16 packets and at the end of a message of 100: 7 acknowledgements of 86 B a message.
    // Each NIC sends 6 messages and 6 * 7 acknowledgements: at most 42 * 0.688 us more than
    // without, at least one.
    exchange.scheme = "ring";
    exchange.parameters = {{"pipelineChunks", int64_t{1}}};
    const auto ict = exchange.Run(MakeRoce(1418, 16));
    EXPECT_GT(ict, MicroSeconds(7284));
    EXPECT_LE(ict, MicroSeconds(7284) + NanoSeconds(uint64_t{42} * 688));
}

/// Packet level against fluid: the headers' share and store-and-forward latency, and little else.
struct StudyCase
{
    const char* scheme;
    uint32_t hostsPerRack; //!< four racks with two uplinks' worth of capacity: o = hostsPerRack / 2
};

class PacketAgainstFluid : public ::testing::TestWithParam<StudyCase>
{
};

TEST_P(PacketAgainstFluid, DiffersByHeadersAndLatencyOnly)
{
    tests::UsePicoseconds();
    Exchange exchange;
    exchange.scheme = GetParam().scheme;
    exchange.racks = 4;
    exchange.hostsPerRack = GetParam().hostsPerRack;
    exchange.rates = {DataRate("40Gbps"), DataRate("80Gbps"), MicroSeconds(1)};
    exchange.oversubscription = GetParam().hostsPerRack / 2.0;
    exchange.gradientBytes = 20'000'000;
    const auto fluid = exchange.Run(CreateObject<FluidTransport>());
    const auto packets = exchange.Run(MakeRoce(4096, 16));
    // 4096 B of payload take 4178 B on the wire, 2.0 % more; acknowledgements 86 B in 16 packets,
    // 0.13 %.
    const auto ratio = packets.GetDouble() / fluid.GetDouble();
    EXPECT_GT(ratio, 1.0);
    EXPECT_LT(ratio, 1.06) << packets.As(Time::US) << " against " << fluid.As(Time::US);
}

std::string
NameCase(const ::testing::TestParamInfo<StudyCase>& info)
{
    return std::string(info.param.scheme) + std::to_string(info.param.hostsPerRack);
}

INSTANTIATE_TEST_SUITE_P(Study,
                         PacketAgainstFluid,
                         ::testing::Values(StudyCase{"ps", 4},
                                           StudyCase{"ps", 12},
                                           StudyCase{"ring", 4},
                                           StudyCase{"ring", 12},
                                           StudyCase{"rat", 4},
                                           StudyCase{"rat", 12},
                                           StudyCase{"hierarchical", 4},
                                           StudyCase{"hierarchical", 12}),
                         NameCase);

} // namespace
} // namespace ns3::gradsync
