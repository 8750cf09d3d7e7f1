// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RANDOM_RACKS_FIXTURE_H
#define GRADSYNC_RANDOM_RACKS_FIXTURE_H

#include "unit/transport/roce-fixture.h"

#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cstdint>
#include <map>
#include <random>
#include <tuple>
#include <vector>

namespace ns3::gradsync
{

/// Random messages between hosts in racks, and all that came of them, with the scheduler that knows
/// the order of events.
class RandomRacksTest : public RoceTransportTest
{
  protected:
    void SetUp() override
    {
        RoceTransportTest::SetUp();
        UseRadixScheduler();
    }

    /// All that is known of a link.
    using Link = std::tuple<uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, Time, uint64_t>;

    struct Outcome
    {
        std::map<uint64_t, Time> deliveredAt;
        std::vector<Link> links;
        uint64_t events;

        bool operator==(const Outcome&) const = default;
    };

    Outcome GetOutcome()
    {
        const auto statistics = m_transport->GetStatistics();
        Outcome outcome{.deliveredAt = m_handler.deliveredAt,
                        .links = {},
                        .events = Simulator::GetEventCount() + CountBeyondSimulator(statistics)};
        for (const auto& link : m_transport->GetLinkStatistics())
        {
            outcome.links.emplace_back(link.packets,
                                       link.payloadBytes,
                                       link.wireBytes,
                                       link.maxQueueBytes,
                                       link.ecnMarkedPackets,
                                       link.pfcPause,
                                       link.pfcPauses);
        }
        return outcome;
    }

    /// Patient racks with windows, marks, pauses by small buffers, and all ways to choose a path,
    /// in turn.
    void InstallVariedRacks(uint32_t seed)
    {
        const char* const balancings[] = {"hash", "destination", "spray", "adaptive", "flowlet"};
        const char* const controls[] = {"none", "dctcp", "dcqcn", "hpcc", "timely", "swift"};
        SetFabric("LoadBalancing", StringValue(balancings[seed % 5]));
        SetFabric("BufferBytes", UintegerValue(seed % 4 == 0 ? 16'000'000 : 100'000));
        Set("CongestionControl", StringValue(controls[seed % 6]));
        Set("Recovery", StringValue("selective-repeat"));
        Set("ReorderTolerance", UintegerValue(4000));
        InstallPatientRacks();
    }

    /// Up to 300 messages at random between 12 hosts in racks.
    void SendAtRandom(uint32_t seed)
    {
        std::mt19937 random(seed);
        const auto count = 20 + random() % 280;
        for (uint64_t tag = 0; tag < count; ++tag)
        {
            const uint32_t src = random() % 12;
            const uint32_t dst = (src + 1 + random() % 11) % 12;
            const uint64_t size = random() % 60000;
            Simulator::Schedule(NanoSeconds(random() % 300'000),
                                [this, src, dst, size, tag] { Send(src, dst, size, tag); });
        }
    }
};

} // namespace ns3::gradsync

#endif // GRADSYNC_RANDOM_RACKS_FIXTURE_H
