// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TESTS_HELPER_FIXTURE_H
#define GRADSYNC_TESTS_HELPER_FIXTURE_H

#include "support/picosecond-clock.h"

#include "ns3/fabric-host.h"
#include "ns3/recorder.h"
#include "ns3/simulator.h"
#include "ns3/star-topology.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3::gradsync::tests
{

/// A fresh simulator for each test.
class HelperFixture : public testing::Test
{
  protected:
    static void SetUpTestSuite()
    {
        UsePicoseconds();
    }

    void TearDown() override
    {
        Simulator::Destroy();
    }

    static Topology MakeStar(uint32_t hosts,
                             const std::string& rate = "8Gbps",
                             const Time& delay = Time(0))
    {
        StarOptions options;
        options.hosts = hosts;
        options.hostLink = {DataRate(rate), delay};
        return MakeStarTopology(options);
    }

    /// Runs what is installed. \returns the end of each iteration, in the order of their ends
    static std::vector<Time> RunToEnd(const NodeContainer& hosts)
    {
        const auto engine = FabricHost::Of(hosts)->GetEngine();
        const Recorder recorder(engine, Recorder::Detail::Iterations);
        Simulator::Run();
        EXPECT_FALSE(engine->GetFailure().has_value());
        std::vector<Time> ends;
        for (const auto& iteration : recorder.GetIterations())
        {
            ends.push_back(iteration.end);
        }
        return ends;
    }

    /// What a call says when it refuses its arguments.
    template <typename CALL>
    static std::string RefusalOf(const CALL& call)
    {
        try
        {
            call();
        }
        catch (const std::invalid_argument& error)
        {
            return error.what();
        }
        return "no refusal";
    }
};

} // namespace ns3::gradsync::tests

#endif // GRADSYNC_TESTS_HELPER_FIXTURE_H
