// SPDX-License-Identifier: GPL-2.0-only
// Faults and foreign flows without end: what is refused, and how a run ends that has too many.
#include "scenario/scenario-runs.h"

#include "ns3/config.h"
#include "ns3/scenario-checker.h"
#include "ns3/uinteger.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;

/// Of STAR: a ring of four sends 2 * 3/4 MB from each host, which take 12 ms at 1 Gb/s.
std::string
ErrorOfCheck(const std::vector<ScenarioOverride>& overrides)
{
    const auto scenario = ParseScenario(STAR, "x.json", overrides);
    return ErrorOf(
        [&] { CheckScenario(scenario, false, [](const ResolvedRun&, const RunCheck&) {}); });
}

std::string
MakeFaults(const std::string& kind, const std::string& every, const std::string& more = "")
{
    return fmt::format(R"([{{"kind": "{}", "random": 1, "every": "{}", "duration": "1ps"{}}}])",
                       kind,
                       every,
                       more);
}

std::string
MakeFrequentIncast(const std::string& every, const std::string& more = "")
{
    return fmt::format(R"([{{"kind": "incast", "fanIn": 2, "size": "10kB", "every": "{}"{}}}])",
                       every,
                       more);
}

TEST(RunLimits, FaultsThatBeginMoreThanTenMillionTimesAreRefused)
{
    // Every ns in 12 ms: 1.2e7. Every 2 ns: 6e6.
    const auto error = ErrorOfCheck({{"faults", MakeFaults("host-pause", "1ns")}});
    EXPECT_THAT(error, HasSubstr("x.json: faults: in the 0.012 s"));
    EXPECT_THAT(error, HasSubstr("1.2e+07 times, most of them host-pause"));
    EXPECT_EQ(ErrorOfCheck({{"faults", MakeFaults("host-pause", "2ns")}}), "no error");
    // Never more than `count`, none before `start`, and no longer than the timeout of 1 ms.
    for (const auto* more : {R"(, "count": 9000000)", R"(, "start": "11ms")"})
    {
        EXPECT_EQ(ErrorOfCheck({{"faults", MakeFaults("host-pause", "1ns", more)}}), "no error")
            << more;
    }
    EXPECT_EQ(ErrorOfCheck({{"faults", MakeFaults("host-pause", "1ns")}, {"job.timeout", "1ms"}}),
              "no error");
    // The job may end at the first crash.
    EXPECT_EQ(ErrorOfCheck({{"faults", MakeFaults("host-crash", "1ns")}}), "no error");
}

TEST(RunLimits, FailuresByChanceCountByTheirMean)
{
    const auto make = [](const std::string& up, const std::string& repair) {
        return fmt::format(R"([{{"kind": "host-pause", "mtbf": "{}"{}}}])",
                           up,
                           repair.empty() ? "" : fmt::format(R"(, "mttr": "{}")", repair));
    };
    // Four hosts, a cycle of 4 ns: 4 * 12 ms / 4 ns = 1.2e7. Without repair four in all.
    EXPECT_THAT(ErrorOfCheck({{"faults", make("3ns", "1ns")}}), HasSubstr("1.2e+07 times"));
    EXPECT_EQ(ErrorOfCheck({{"faults", make("4ns", "1ns")}}), "no error");
    EXPECT_EQ(ErrorOfCheck({{"faults", make("1ps", "")}}), "no error");
}

TEST(RunLimits, MoreThanTenMillionFlowsAreRefused)
{
    // Two every 2 ns in 12 ms: 1.2e7; every 3 ns: 8e6.
    EXPECT_THAT(ErrorOfCheck({{"traffic", MakeFrequentIncast("2ns")}}),
                HasSubstr("x.json: traffic.0: in the 0.012 s that the jobs take at least 1.2e+07"));
    EXPECT_EQ(ErrorOfCheck({{"traffic", MakeFrequentIncast("3ns")}}), "no error");
    EXPECT_EQ(ErrorOfCheck({{"traffic", MakeFrequentIncast("1ps", R"(, "duration": "1us")")}}),
              "no error");
    // 4 Gb/s of a byte each: 5e8 a second, 6e6 in 12 ms.
    EXPECT_EQ(ErrorOfCheck({{"traffic", R"([{"kind": "poisson", "load": 1, "size": "1B"}])"}}),
              "no error");
    EXPECT_THAT(ErrorOfCheck({{"job.gradient", "2MB"},
                              {"traffic", R"([{"kind": "poisson", "load": 1, "size": "1B"}])"}}),
                HasSubstr("traffic.0"));
}

TEST(RunLimits, EachRunOfASweepIsCheckedThoughPlansAreAlike)
{
    EXPECT_THAT(ErrorOfCheck({{"faults", MakeFaults("host-pause", "2ns")},
                              {"sweep.faults.0.every", R"(["1ms", "1ps"])"}}),
                HasSubstr("(run 1: faults.0.every=1ps)"));
}

/// Defaults of Attributes that hold as long as it lives.
class SmallLimits
{
  public:
    SmallLimits()
    {
        Set(1000, 1000, 100);
    }

    ~SmallLimits()
    {
        Set(MAX_FAULT_BEGINNINGS, MAX_FLOWS, MAX_ACTIVE_FLOWS);
    }

    SmallLimits(const SmallLimits&) = delete;
    SmallLimits& operator=(const SmallLimits&) = delete;

  private:
    static void Set(uint64_t beginnings, uint64_t flows, uint64_t active)
    {
        const std::string prefix = "ns3::gradsync::";
        Config::SetDefault(prefix + "FaultInjector::MaxBeginnings", UintegerValue(beginnings));
        Config::SetDefault(prefix + "TrafficGenerator::MaxFlows", UintegerValue(flows));
        Config::SetDefault(prefix + "TrafficGenerator::MaxActiveFlows", UintegerValue(active));
    }
};

TEST(RunLimits, RunWithTooManyFaultsEndsByName)
{
    const SmallLimits limits;
    // One is down for good, so that nothing but the pauses goes on.
    const std::string faults = R"([{"kind": "link-down", "links": [["host0", "leaf0"]]},
                                   {"kind": "host-pause", "random": 1, "every": "10us"}])";
    const auto result = Simulate({{"faults", faults}, {"job.timeout", "0s"}});
    EXPECT_FALSE(result.summary.finished);
    EXPECT_THAT(result.summary.failure,
                HasSubstr("ended after more than 1000 beginnings of faults"));
    // The first at 0 and with it that of the link: the 1001st begins at 999 * 10 us.
    EXPECT_EQ(result.duration, MicroSeconds(9990));
    EXPECT_EQ(result.faults.size(), 1001U + 999U); // all but two have ended
}

TEST(RunLimits, RunWithMoreFlowsThanTheNetworkCarriesEndsByName)
{
    const SmallLimits limits;
    // 160 Gb/s for four hosts of 1 Gb/s: 101 are soon under way.
    for (const auto* transport : {"fluid", "roce", "tcp"})
    {
        const auto result =
            Simulate({{"transport", transport}, {"traffic", MakeFrequentIncast("1us")}});
        EXPECT_FALSE(result.summary.finished) << transport;
        EXPECT_THAT(result.summary.failure, HasSubstr("more than the network carries"))
            << transport;
        EXPECT_LT(result.duration, MicroSeconds(60)) << transport;
    }
}

TEST(RunLimits, RunWithTooManyFlowsEndsByName)
{
    const SmallLimits limits;
    // 1 Mb/s of 10 bytes now and then, and an exchange that waits for a link.
    const auto result =
        Simulate({{"job.timeout", "0s"},
                  {"faults", R"([{"kind": "link-down", "links": [["host0", "leaf0"]]}])"},
                  {"traffic",
                   R"([{"kind": "incast", "hosts": ["host1", "host2"], "fanIn": 1, "size": "10B",
               "every": "80us"}])"}});
    EXPECT_THAT(result.summary.failure, HasSubstr("1001 flows have begun"));
    EXPECT_EQ(result.flows.size(), 1001U);
}

} // namespace
} // namespace ns3::gradsync
