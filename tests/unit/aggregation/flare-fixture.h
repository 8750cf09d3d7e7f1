// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FLARE_FIXTURE_H
#define GRADSYNC_FLARE_FIXTURE_H

#include "unit/aggregation/slot-aggregation-fixture.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// 1,024 and 86 bytes take t = 1 us; d = 2 us.
inline const DataRate FLARE_RATE(uint64_t{8} * 1110 * 1'000'000);
inline constexpr uint64_t FLARE_PAYLOAD = 1024;
inline const Time ONE_WAY = MicroSeconds(1 + 2);

inline const std::vector<std::string> SUMS{"single", "multiple", "tree"};

/// What handlers take, of full packets.
struct Costs
{
    Time fixed;
    Time copy; //!< of 256 values
    Time add;  //!< likewise
};

class FlareTest : public SlotAggregationTest
{
  protected:
    /// Of full packets.
    static Job MakeFlareJob(uint32_t workers,
                            uint64_t packets,
                            const std::string& sum,
                            int64_t pieces = 1,
                            uint32_t iterations = 1)
    {
        return MakeFlareJobOf(workers, packets * FLARE_PAYLOAD, sum, pieces, iterations);
    }

    static Job MakeFlareJobOf(uint32_t workers,
                              uint64_t bytes,
                              const std::string& sum,
                              int64_t pieces = 1,
                              uint32_t iterations = 1)
    {
        auto request = MakeRequest("flare", workers, bytes);
        request.parameters.Set("sum", sum);
        request.parameters.Set("pipelineChunks", pieces);
        return MakeJob("flare", request, iterations);
    }

    /// Nanoseconds of a packet, and of each of its 256 values.
    Costs SetCosts(int64_t fixed, int64_t copy, int64_t add)
    {
        Set("flare.HandlerTime", TimeValue(NanoSeconds(fixed)));
        Set("flare.CopyTime", TimeValue(NanoSeconds(copy)));
        Set("flare.AddTime", TimeValue(NanoSeconds(add)));
        return {NanoSeconds(fixed), NanoSeconds(256 * copy), NanoSeconds(256 * add)};
    }

    void Restart()
    {
        TearDown();
        SetUp();
    }

    void InstallFlareRacks(uint32_t racks, uint32_t hostsPerRack)
    {
        Install(
            oracles::MakeRackNetwork(racks, hostsPerRack, {FLARE_RATE, FLARE_RATE, MicroSeconds(2)})
                .topology);
    }

    AggregationStatistics GetAggregated() const
    {
        return m_transport->GetAggregation()->GetStatistics();
    }

    void ExpectExactSums(uint64_t sums) const
    {
        EXPECT_EQ(GetAggregated().checkedSums, sums);
        EXPECT_EQ(GetAggregated().wrongSums, 0U);
    }
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FLARE_FIXTURE_H
