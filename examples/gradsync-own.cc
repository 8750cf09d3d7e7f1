// SPDX-License-Identifier: GPL-2.0-only
// A scheme and a congestion control of one's own, both in this file: ./ns3 run gradsync-own
//
// All workers send their gradients to worker 0, which sends everybody the sum. As it has one link
// for m = 8 others, every flow is paced to the m-th part of the line rate. With n packets in a
// gradient, t for one on a link and d for the delay of a link, the last packets of the others leave
// (n - 1) m t after the first ones, are at the switch t + d later and go one after the other to
// worker 0, in m t + d. On the way back the last of n m packets leaves (n m - 1) t after the first
// and takes 2 (t + d). Together 2 n m t + 2 t + 4 d. A queue holds one packet of each flow at most,
// where flows at line rate would fill it with nearly all n m.
#include "ns3/congestion-control.h"
#include "ns3/exchange-helper.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-host.h"
#include "ns3/plan-builder.h"
#include "ns3/recorder.h"
#include "ns3/simulator.h"
#include "ns3/star-topology.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <fmt/format.h>

using namespace ns3;
using namespace ns3::gradsync;

constexpr uint32_t OTHERS = 8;
constexpr uint32_t PACKETS = 200;
constexpr uint32_t PACKET_BYTES = 1082; // on the wire: 1000 and headers, preamble and gap

class ShareControl : public CongestionControl
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ShareControl")
                                .SetParent<CongestionControl>()
                                .AddConstructor<ShareControl>()
                                .AddAttribute("Flows",
                                              "Flows that share a line.",
                                              UintegerValue(1),
                                              MakeUintegerAccessor(&ShareControl::m_flows),
                                              MakeUintegerChecker<uint32_t>(1));
        return tid;
    }

    void Open(CongestionFlow& flow) override
    {
        SetRate(flow, flow.lineRate / m_flows);
    }

  private:
    uint32_t m_flows;
};

NS_OBJECT_ENSURE_REGISTERED(ShareControl);

Plan
BuildCollection(const SchemeRequest& request)
{
    const auto w = request.workers;
    PlanBuilder builder(w, w, ChunkLayout::Even(request.gradientBytes, 1, request.elementBytes));
    const auto sum = builder.AddJoin(0);
    for (uint32_t rank = 1; rank < w; ++rank)
    {
        builder.AddEdge(builder.AddReduce(rank, 0, 0, 1), sum);
        builder.AddEdge(sum, builder.AddCopy(0, rank, 0, 1));
    }
    return builder.Build();
}

int
main()
{
    Time::SetResolution(Time::PS);
    const LinkOptions link{DataRate("8Gbps"), MicroSeconds(1)}; // a byte is a nanosecond
    FabricHelper fabric;
    fabric.SetTransportAttribute("Mtu", UintegerValue(1000));
    fabric.SetTransportAttribute("AckEvery", UintegerValue(0)); // they share links with data
    fabric.SetCongestionControl("ShareControl", "Flows", UintegerValue(OTHERS));
    const NodeContainer hosts = fabric.Install(MakeStarTopology({OTHERS + 1, link, {}}));
    ExchangeHelper exchange(Scheme{.name = "collection", .build = BuildCollection});
    exchange.SetAttribute("GradientBytes", UintegerValue(uint64_t{PACKETS} * 1000));
    exchange.Install(hosts);
    const auto network = FabricHost::Of(hosts);
    const Recorder recorder(network->GetEngine(), Recorder::Detail::Iterations);
    Simulator::Run();

    const auto links = network->GetTransport()->GetLinkStatistics();
    const auto queue = std::ranges::max(links, {}, &LinkStatistics::maxQueueBytes).maxQueueBytes;
    const auto ict = recorder.GetIterations().front().end;
    Simulator::Destroy();
    const auto packet = NanoSeconds(PACKET_BYTES);
    const auto expected = 2 * (PACKETS * OTHERS + 1) * packet + 4 * link.delay;
    fmt::print("collection: {} ps, by the closed form {} ps; longest queue {} bytes\n",
               ict.GetPicoSeconds(),
               expected.GetPicoSeconds(),
               queue);
    return ict == expected && queue <= uint64_t{OTHERS} * PACKET_BYTES ? 0 : 1;
}
