// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_AGGREGATION_FIXTURE_H
#define GRADSYNC_SLOT_AGGREGATION_FIXTURE_H

#include "oracles/oracle-network.h"
#include "support/aggregation-fixture.h"

#include "ns3/aggregation-switch.h"
#include "ns3/double.h"
#include "ns3/exchange-application.h"
#include "ns3/recorder.h"
#include "ns3/scheme.h"
#include "ns3/star-topology.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace ns3::gradsync
{

using tests::PACKET_BYTES;

/// 64 values on the wire: 14 + 20 + 8 + 20 + 256 + 4 bytes, preamble and gap.
inline constexpr uint64_t PACKET_BITS = uint64_t{8} * 342;
/// At this rate a packet takes 1 us.
inline const DataRate UNIT_RATE(PACKET_BITS * 1'000'000);

class SlotAggregationTest : public tests::AggregationFixture
{
  protected:
    void SetLoss(double rate)
    {
        m_transport->GetFabric()->SetAttribute("LossRate", DoubleValue(rate));
        Set("Values", StringValue("real"));
        Set("slot.Timeout", StringValue("100us"));
    }

    /// All hosts on one switch.
    void InstallStar(uint32_t hosts,
                     const DataRate& rate = UNIT_RATE,
                     const Time& delay = MicroSeconds(2))
    {
        StarOptions options;
        options.hosts = hosts;
        options.hostLink = {rate, delay};
        Install(std::make_shared<Topology>(MakeStarTopology(options)));
    }

    void InstallRacks(uint32_t racks, uint32_t hostsPerRack)
    {
        Install(
            oracles::MakeRackNetwork(racks, hostsPerRack, {UNIT_RATE, UNIT_RATE, MicroSeconds(2)})
                .topology);
    }

    /// What each link has carried, each way.
    void ExpectOnEachLink(uint64_t payloadBytes, uint64_t wireBytes) const
    {
        for (const auto& direction : m_transport->GetLinkStatistics())
        {
            EXPECT_EQ(direction.payloadBytes, payloadBytes);
            EXPECT_EQ(direction.wireBytes, wireBytes);
        }
    }

    static SchemeRequest MakeRequest(const std::string& scheme, uint32_t workers, uint64_t bytes)
    {
        SchemeRequest request;
        request.workers = workers;
        request.gradientBytes = bytes;
        request.parameters = MakeDefaultParameters(*FindScheme(scheme));
        return request;
    }

    /// Of servers with as many accelerators each.
    static SchemeRequest MakeServerRequest(const std::string& scheme,
                                           uint32_t servers,
                                           uint32_t accelerators,
                                           uint64_t bytes)
    {
        auto request = MakeRequest(scheme, servers * accelerators, bytes);
        GroupLevel level{"server", {}, servers, 1.0};
        for (uint32_t rank = 0; rank < request.workers; ++rank)
        {
            level.groupOf.push_back(rank / accelerators);
        }
        request.groups.levels.push_back(level);
        return request;
    }

    /// Rank i at endpoint i.
    static Job MakeJob(uint32_t workers,
                       uint64_t bytes,
                       uint32_t iterations = 1,
                       int64_t pieces = 1)
    {
        auto request = MakeRequest("switchml", workers, bytes);
        request.parameters.Set("pipelineChunks", pieces);
        return MakeJob("switchml", request, iterations);
    }

    static Job MakeJob(const std::string& scheme, const SchemeRequest& request, uint32_t iterations)
    {
        Job job;
        job.name = "job";
        job.plan = std::make_shared<Plan>(FindScheme(scheme)->build(request));
        job.endpointOf.resize(job.plan->GetRankCount());
        std::iota(job.endpointOf.begin(), job.endpointOf.end(), 0U);
        job.iterations = iterations;
        return job;
    }

    /// As many servers with as many accelerators each on one switch.
    void InstallServers(uint32_t servers, uint32_t accelerators)
    {
        StarOptions options;
        options.hosts = servers;
        options.hostLink = {UNIT_RATE, MicroSeconds(2)};
        options.server.accelerators = accelerators;
        Install(std::make_shared<Topology>(MakeStarTopology(options)));
    }

    /// Message bytes that enter the servers and leave them.
    uint64_t GetHostLinkBytes() const
    {
        uint64_t bytes = 0;
        const auto links = m_transport->GetLinkStatistics();
        for (LinkId link = 0; link < m_topology->GetLinks().size(); ++link)
        {
            const bool isHost = m_topology->GetLinks()[link].kind == LinkKind::Host;
            bytes += isHost ? links[size_t{2} * link].payloadBytes +
                                  links[size_t{2} * link + 1].payloadBytes
                            : 0;
        }
        return bytes;
    }

    /// \returns the times of the iterations
    std::vector<Time> Run()
    {
        Recorder recorder(m_engine, Recorder::Detail::Iterations);
        Simulator::Run();
        std::vector<Time> times;
        for (const auto& record : recorder.GetIterations())
        {
            times.push_back(record.end - record.start);
        }
        return times;
    }

    std::vector<Time> Run(Job job)
    {
        m_engine->AddJob(std::move(job));
        auto times = Run();
        EXPECT_FALSE(m_engine->GetFailure()) << m_engine->GetFailure()->reason;
        return times;
    }

    const SlotSwitch& GetSlots(const std::string& node) const
    {
        return GetPart<AggregationSwitch>(*m_topology->FindNode(node), "slot").GetSlots();
    }
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_AGGREGATION_FIXTURE_H
