// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_ENGINE_FIXTURE_H
#define GRADSYNC_P4_ENGINE_FIXTURE_H

#include "oracles/oracle-network.h"
#include "support/aggregation-fixture.h"

#include "ns3/double.h"
#include "ns3/recorder.h"
#include "ns3/scheme.h"
#include "ns3/star-topology.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

using tests::PACKET_BYTES;

inline const DataRate P4_LINK_RATE("10Gbps");

/// A frame as it begins on a link.
struct SeenFrame
{
    TimeStepCount start;
    uint32_t port; //!< 2 * link + direction
    std::vector<uint8_t> bytes;

    bool operator==(const SeenFrame&) const = default;
};

/// Sees all packets of aggregations on all links.
class FrameTap final : public PacketTap
{
  public:
    FrameTap(const Topology& topology, const Ptr<RoceTransport>& transport)
        : m_topology(topology),
          m_transport(transport)
    {
        for (LinkId link = 0; link < topology.GetLinks().size(); ++link)
        {
            transport->GetFabric()->SetTap(link, this);
        }
    }

    void OnPacket(uint32_t portIndex, const FabricPacket& packet, TimeStepCount start) override
    {
        if ((packet.flags & PacketFlag::PROGRAM) != 0)
        {
            const auto& link = m_topology.GetLinks()[portIndex / 2];
            const auto sender = portIndex % 2 == 0 ? link.a : link.b;
            const auto receiver = portIndex % 2 == 0 ? link.b : link.a;
            frames.push_back({start,
                              portIndex,
                              m_transport->GetAggregation()->MakeFrame(packet, sender, receiver)});
        }
    }

    std::vector<SeenFrame> frames;

  private:
    const Topology& m_topology;
    Ptr<RoceTransport> m_transport;
};

/// What a run came to.
struct EngineOutcome
{
    std::vector<SeenFrame> frames;
    std::vector<Time> times;
    AggregationStatistics sums;
    TransportStatistics total;
    std::vector<LinkStatistics> links;
};

/// A network and its jobs.
struct EngineCase
{
    std::string name;
    std::function<Topology()> makeTopology;
    std::vector<std::vector<uint32_t>> jobs; //!< endpoints of each
    double lossRate{0.0};
    uint32_t iterations{2};
    std::string values{"real"};
    bool saturate{false};
    uint32_t valueBits{24};
    std::string sharing{"static"};
    uint32_t poolSlots{4096};
};

inline Topology
MakeStar(uint32_t servers, uint32_t accelerators)
{
    StarOptions options;
    options.hosts = servers;
    options.hostLink = {P4_LINK_RATE, MicroSeconds(1)};
    options.server.accelerators = accelerators;
    return MakeStarTopology(options);
}

inline Topology
MakeRacks(uint32_t racks, uint32_t hosts)
{
    return *oracles::MakeRackNetwork(racks, hosts, {P4_LINK_RATE, P4_LINK_RATE, MicroSeconds(1)})
                .topology;
}

inline Job
MakeJob(const std::vector<uint32_t>& endpoints, uint32_t iterations)
{
    SchemeRequest request;
    request.workers = static_cast<uint32_t>(endpoints.size());
    request.gradientBytes = 60 * PACKET_BYTES + 12;
    request.parameters = MakeDefaultParameters(*FindScheme("switchml"));
    request.parameters.Set("pipelineChunks", int64_t{3});
    Job job;
    job.name = "job";
    job.plan = std::make_shared<Plan>(FindScheme("switchml")->build(request));
    job.endpointOf = endpoints;
    job.iterations = iterations;
    return job;
}

/// Every frame on every link of a run is kept.
class P4Engine : public tests::AggregationFixture
{
  protected:
    void SetUp() override
    {
        tests::AggregationFixture::SetUp();
        Set("slot.Slots", UintegerValue(16));
        Set("slot.Timeout", StringValue("100us"));
    }

    void Install(const Topology& topology)
    {
        tests::AggregationFixture::Install(std::make_shared<Topology>(topology));
        m_tap = std::make_unique<FrameTap>(*m_topology, m_transport);
    }

    EngineOutcome Run()
    {
        Recorder recorder(m_engine, Recorder::Detail::Iterations);
        Simulator::Run();
        EXPECT_FALSE(m_engine->GetFailure()) << m_engine->GetFailure()->reason;
        EngineOutcome outcome;
        outcome.frames = std::move(m_tap->frames);
        for (const auto& record : recorder.GetIterations())
        {
            outcome.times.push_back(record.end - record.start);
        }
        outcome.sums = m_transport->GetAggregation()->GetStatistics();
        outcome.total = m_transport->GetStatistics();
        outcome.links = m_transport->GetLinkStatistics();
        return outcome;
    }

    /// A whole run, from nothing.
    EngineOutcome RunCase(const EngineCase& parameters, const std::string& engine)
    {
        TearDown();
        m_engine = nullptr;
        SetUp();
        Set("Engine", StringValue(engine));
        Set("Values", StringValue(parameters.values));
        Set("Saturate", StringValue(parameters.saturate ? "true" : "false"));
        Set("ValueBits", UintegerValue(parameters.valueBits));
        Set("Overflow", StringValue("count"));
        Set("slot.Sharing", StringValue(parameters.sharing));
        Set("slot.PoolSlots", UintegerValue(parameters.poolSlots));
        m_transport->GetFabric()->SetAttribute("LossRate", DoubleValue(parameters.lossRate));
        Install(parameters.makeTopology());
        for (const auto& endpoints : parameters.jobs)
        {
            m_engine->AddJob(MakeJob(endpoints, parameters.iterations));
        }
        return Run();
    }

    std::unique_ptr<FrameTap> m_tap;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_ENGINE_FIXTURE_H
