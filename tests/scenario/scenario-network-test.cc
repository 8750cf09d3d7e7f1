// SPDX-License-Identifier: GPL-2.0-only
#include "scenario/scenario-runs.h"
#include "support/message-collector.h"

#include "ns3/network-parts.h"
#include "ns3/roce-transport.h"
#include "ns3/simulator-guard.h"

#include <cstdint>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>

namespace ns3::gradsync
{

namespace
{

/// Queue pairs that there are when a host has something to send on a number of connections, which
/// have none that waits for its turn. \param programs of switches, in JSON
uint32_t
CountQueuePairs(uint32_t connections, const std::string& programs)
{
    const auto run = ResolveText(fmt::format(R"({{
      "topology": {{"kind": "star", "hosts": 2, "hostLink": {{"rate": "1Gbps", "delay": "1us"}}}},
      "transport": {{"kind": "roce", "keptQueuePairs": 0, "aggregation": {{"programs": [{}]}}}},
      "job": {{"gradient": "4kB"}}, "scheme": "ring"}})",
                                             programs));
    const SimulatorGuard guard;
    UsePicoseconds();
    const auto transport = InstallTransport(run);
    tests::MessageCollector messages;
    for (uint32_t stream = 0; stream < connections; ++stream)
    {
        transport->Send({0, 1, stream, 100, stream, &messages});
    }
    const auto count = DynamicCast<RoceTransport>(transport)->CountQueuePairs();
    transport->Dispose();
    return count;
}

TEST(ScenarioNetwork, GivesQueuePairsOnlyToWhatHasItsTurnUnlessAProgramReadsAllPackets)
{
    // One packet is under way at once: the NIC has taken the first, the second has the next turn at
    // most. A program that only adds sees the queue pairs of what it adds, one for all packets sees
    // the numbers of all of them.
    constexpr uint32_t CONNECTIONS = 60;
    const auto makeProgram = [](const std::string& packets) {
        return fmt::format(R"({{"switches": ["leaf0"], "packets": "{}",
                                "program": "{}/p4-behavioral/compiled/queues.json"}})",
                           packets,
                           GRADSYNC_SOURCE_DIR);
    };
    EXPECT_LE(CountQueuePairs(CONNECTIONS, ""), 2U);
    EXPECT_LE(CountQueuePairs(CONNECTIONS, makeProgram("aggregation")), 2U);
    EXPECT_EQ(CountQueuePairs(CONNECTIONS, makeProgram("all")), CONNECTIONS);
}

} // namespace

} // namespace ns3::gradsync
