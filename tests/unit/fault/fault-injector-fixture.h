// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FAULT_INJECTOR_FIXTURE_H
#define GRADSYNC_FAULT_INJECTOR_FIXTURE_H

#include "support/message-collector.h"
#include "support/picosecond-clock.h"

#include "ns3/fault-injector.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/roce-transport.h"
#include "ns3/simulator.h"
#include "ns3/spine-leaf-topology.h"
#include "ns3/uinteger.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// Two leaves of two hosts, two spines; 8 Mb/s (a byte a microsecond) to the hosts, the same
/// between switches, no delays. Hosts 0, 1 | 2, 3.
class FaultInjectorTest : public testing::Test
{
  protected:
    void SetUp() override
    {
        tests::UsePicoseconds();
        RngSeedManager::SetSeed(1);
        SpineLeafOptions options;
        options.spines = 2;
        options.leaves = 2;
        options.hostsPerLeaf = 2;
        options.hostLink = {DataRate("8Mbps"), Time(0)};
        options.fabricLink = {DataRate("8Mbps"), Time(0)};
        topology = std::make_shared<const Topology>(MakeSpineLeafTopology(options));
        injector->TraceConnectWithoutContext("Fault",
                                             MakeCallback(&FaultInjectorTest::OnFault, this));
    }

    void TearDown() override
    {
        injector->Dispose();
        if (transport)
        {
            transport->Dispose();
        }
        Simulator::Destroy();
    }

    void OnFault(const FaultRecord& record)
    {
        records.push_back(record);
    }

    template <typename Kind>
    Ptr<Kind> Install(const std::vector<FaultSpec>& faults, Ptr<Kind> chosen = CreateObject<Kind>())
    {
        transport = chosen;
        transport->Install(topology, std::make_shared<const RoutingTables>(*topology));
        injector->Install(faults, topology, transport, nullptr);
        return chosen;
    }

    static Ptr<RoceTransport> MakeRoce(uint32_t mtu = 918, const char* timeout = "20ms")
    {
        auto roce = CreateObject<RoceTransport>();
        roce->SetAttribute("Mtu", UintegerValue(mtu)); // 918 + 82: 1 ms a packet and hop
        roce->SetAttribute("Timeout", TimeValue(Time(timeout)));
        roce->SetAttribute("KeptQueuePairs", UintegerValue(0)); // small networks reserve, too
        return roce;
    }

    void Send(uint32_t src, uint32_t dst, uint64_t bytes, uint64_t tag, uint32_t stream = 0)
    {
        transport->Send({src, dst, stream, bytes, tag, &collector});
    }

    LinkId FindLink(std::string_view a, std::string_view b) const
    {
        const auto from = topology->FindNode(a).value();
        for (const auto& port : topology->GetPorts(from))
        {
            if (port.peer == topology->FindNode(b).value())
            {
                return port.link;
            }
        }
        throw std::invalid_argument("no such link");
    }

    static FaultSpec MakeFault(FaultKind kind,
                               std::vector<uint32_t> pool,
                               const Time& start,
                               const Time& duration)
    {
        FaultSpec fault{};
        fault.kind = kind;
        fault.pool = std::move(pool);
        fault.start = start;
        fault.duration = duration;
        return fault;
    }

    std::shared_ptr<const Topology> topology;
    Ptr<Transport> transport;
    Ptr<FaultInjector> injector{CreateObject<FaultInjector>()};
    std::vector<FaultRecord> records;
    tests::MessageCollector collector;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FAULT_INJECTOR_FIXTURE_H
