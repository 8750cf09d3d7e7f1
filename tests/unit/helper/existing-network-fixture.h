// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TESTS_EXISTING_NETWORK_FIXTURE_H
#define GRADSYNC_TESTS_EXISTING_NETWORK_FIXTURE_H

#include "unit/helper/helper-fixture.h"

#include "ns3/double.h"
#include "ns3/exchange-helper.h"
#include "ns3/fabric-helper.h"
#include "ns3/group-finder.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/ipv4.h"
#include "ns3/node.h"
#include "ns3/plan.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <map>
#include <memory>
#include <tuple>

namespace ns3::gradsync::tests
{

/// Networks as ns-3's users build them, and exchanges on them whose data are followed.
class ExistingNetworkFixture : public HelperFixture
{
  public:
    static void InstallStack(const NodeContainer& nodes)
    {
        InternetStackHelper().Install(nodes);
    }

    /// Each link is a network of its own: 10.0.0.0/24, 10.0.1.0/24, ...
    static void Link(const Ptr<Node>& a,
                     const Ptr<Node>& b,
                     const std::string& rate,
                     const Time& delay)
    {
        PointToPointHelper helper;
        helper.SetDeviceAttribute("DataRate", StringValue(rate));
        helper.SetChannelAttribute("Delay", TimeValue(delay));
        const auto base = Ipv4Address((10U << 24U) + (m_links << 8U));
        ++m_links;
        Ipv4AddressHelper(base, "255.255.255.0").Assign(helper.Install(a, b));
    }

    static void Route()
    {
        // Of two networks in a simulation: PopulateRoutingTables would lose the first one's
        // database.
        Ipv4GlobalRoutingHelper::RecomputeRoutingTables();
    }

  protected:
    void TearDown() override
    {
        HelperFixture::TearDown();
        m_links = 0;
    }

    static NodeContainer BuildStar(uint32_t count, const std::string& rate, const Time& delay)
    {
        NodeContainer hosts(count);
        const NodeContainer router(1);
        InstallStack(NodeContainer(hosts, router));
        for (uint32_t i = 0; i < count; ++i)
        {
            Link(hosts.Get(i), router.Get(0), rate, delay);
        }
        Route();
        return hosts;
    }

    /// \param perSide hosts \returns those of the left, then those of the right
    static NodeContainer BuildDumbbell(uint32_t perSide, const std::string& rate, const Time& delay)
    {
        NodeContainer hosts(2 * perSide);
        const NodeContainer routers(2);
        InstallStack(NodeContainer(hosts, routers));
        for (uint32_t i = 0; i < 2 * perSide; ++i)
        {
            Link(hosts.Get(i), routers.Get(i / perSide), rate, delay);
        }
        Link(routers.Get(0), routers.Get(1), rate, delay);
        Route();
        return hosts;
    }

    static Ipv4Address AddressOf(const Ptr<Node>& node)
    {
        return node->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
    }

    /// On all links, of the exchanges.
    static uint64_t CountPayload(const NodeContainer& hosts)
    {
        uint64_t bytes = 0;
        for (const auto& link : FabricHost::Of(hosts)->GetTransport()->GetLinkStatistics())
        {
            bytes += link.payloadBytes;
        }
        return bytes;
    }

    /**
     * Runs what is installed, follows the data that transfers move, and expects each job's bytes to
     * be those of its plan and the sums of its workers to be exact.
     * \returns the end of the iteration of each job, in the order of ends
     */
    static std::vector<Time> RunExactly(const NodeContainer& hosts)
    {
        const auto network = FabricHost::Of(hosts);
        const auto engine = network->GetEngine();
        const Recorder recorder(engine, Recorder::Detail::Transfers);
        Simulator::Run();
        EXPECT_FALSE(engine->GetFailure().has_value());
        uint64_t bytes = 0;
        for (uint32_t job = 0; job < engine->GetJobCount(); ++job)
        {
            const auto& plan = *engine->GetPlans(job).front().plan;
            bytes += CountTransfers(plan);
            ExpectSums(plan, job, recorder.GetTransfers());
        }
        EXPECT_EQ(network->GetTransport()->GetStatistics().goodputBytes, bytes);
        EXPECT_EQ(engine->GetDeliveredBytes(), bytes);
        std::vector<Time> ends;
        for (const auto& iteration : recorder.GetIterations())
        {
            ends.push_back(iteration.end);
        }
        return ends;
    }

  private:
    static uint64_t CountTransfers(const Plan& plan)
    {
        uint64_t bytes = 0;
        for (OperationId id = 0; id < plan.GetOperations().size(); ++id)
        {
            bytes += plan.GetOperations()[id].IsTransfer() ? plan.GetBytes(id) : 0;
        }
        return bytes;
    }

    /// One number a chunk stands for its data: of rank r and chunk c a digit of its own of each, so
    /// that no other sum is the same.
    static void ExpectSums(const Plan& plan,
                           uint32_t job,
                           std::span<const TransferRecord> transfers)
    {
        const auto chunks = plan.GetLayout().GetChunkCount();
        const auto workers = plan.GetWorkerCount();
        std::vector<std::vector<uint64_t>> held(plan.GetRankCount(),
                                                std::vector<uint64_t>(chunks, 0));
        for (uint32_t rank = 0; rank < workers; ++rank)
        {
            std::ranges::fill(held[rank], uint64_t{1} << (8 * rank)); // fewer than 256 of each
        }
        // What arrives at an instant is there for what leaves at it.
        std::vector<std::tuple<Time, bool, size_t>> steps;
        for (size_t i = 0; i < transfers.size(); ++i)
        {
            if (transfers[i].job == job)
            {
                steps.emplace_back(transfers[i].end, false, i);
                steps.emplace_back(transfers[i].start, true, i);
            }
        }
        std::ranges::sort(steps);
        std::map<size_t, std::vector<uint64_t>> onTheWay;
        for (const auto& [time, leaves, i] : steps)
        {
            const auto operation = plan.GetOperations()[transfers[i].operation];
            ASSERT_EQ(operation.buffers.src + operation.buffers.dst,
                      0); // no staging, so no local moves
            if (leaves)
            {
                const auto first = held[operation.src].begin() + operation.firstChunk;
                onTheWay[i].assign(first, first + operation.chunkCount);
                continue;
            }
            for (uint32_t chunk = 0; chunk < operation.chunkCount; ++chunk)
            {
                auto& own = held[operation.dst][operation.firstChunk + chunk];
                own = onTheWay.at(i)[chunk] +
                      (operation.kind == OperationKind::TransferReduce ? own : 0);
            }
        }
        const auto sum = (uint64_t{1} << (8 * workers)) / 255; // of 1, 256, 256^2, ...
        for (uint32_t rank = 0; rank < workers; ++rank)
        {
            EXPECT_THAT(held[rank], testing::Each(sum)) << "job " << job << " rank " << rank;
        }
    }

    static inline uint32_t m_links{0}; //!< so far, of this simulation
};

} // namespace ns3::gradsync::tests

#endif // GRADSYNC_TESTS_EXISTING_NETWORK_FIXTURE_H
