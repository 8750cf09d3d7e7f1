// SPDX-License-Identifier: GPL-2.0-only
#include "unit/study/scenario-test-support.h"

#include "ns3/scenario-reader.h"
#include "ns3/time-resolution.h"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace ns3::gradsync
{

namespace
{

using testing::AllOf;
using testing::HasSubstr;

/// A valid scenario that tests change.
constexpr const char* GOOD = R"({
  "title": "test",
  "topology": {"kind": "spine-leaf", "spines": 2, "leaves": 2, "hostsPerLeaf": 4,
               "hostLink": {"rate": "10Gbps", "delay": "1us"}, "fabricLink": {"rate": "10Gbps"}},
  "transport": {"kind": "roce", "mtu": "4096B"},
  "job": {"gradient": "1MB", "iterations": 2},
  "scheme": {"kind": "ring"}
})";

Scenario
Read(const std::vector<ScenarioOverride>& overrides, const std::string& text = GOOD)
{
    UsePicoseconds();
    return ParseScenario(text, "x.json", overrides);
}

/// The error of the first run that cannot be resolved.
std::string
ErrorWith(const std::vector<ScenarioOverride>& overrides, const std::string& text = GOOD)
{
    return ErrorOf([&] {
        const auto scenario = Read(overrides, text);
        for (uint32_t i = 0; i < scenario.runCount; ++i)
        {
            ResolveRun(scenario, i);
        }
    });
}

ResolvedRun
Resolve(const std::vector<ScenarioOverride>& overrides, uint32_t index = 0)
{
    return ResolveRun(Read(overrides), index);
}

TEST(ScenarioReader, ReadsAWholeScenario)
{
    const auto run = Resolve({});
    EXPECT_EQ(run.topology->GetEndpoints().size(), 8U);
    // 4 leaf-spine links and 8 host links
    EXPECT_EQ(run.topology->GetLinks().size(), 12U);
    ASSERT_EQ(run.jobs.size(), 1U);
    EXPECT_EQ(run.jobs[0].gradientBytes, 1'000'000U);
    EXPECT_EQ(run.jobs[0].iterations, 2U);
    EXPECT_EQ(run.jobs[0].workers, 8U);
    EXPECT_EQ(run.jobs[0].scheme.scheme->name, "ring");
    EXPECT_EQ(run.transport.kind, "roce");
    EXPECT_EQ(run.transport.attributes, (AttributeSettings{{"Mtu", "4096"}}));
    EXPECT_EQ(run.seed, 1U);
    EXPECT_TRUE(run.recordMessages);
}

TEST(ScenarioReader, NeedsOnlyATopologyAndAScheme)
{
    const auto run = ResolveRun(
        Read(
            {},
            R"({"topology": {"kind": "star", "hosts": 2, "hostLink": {"rate": "1Gbps"}}, "scheme": "ps"})"),
        0);
    EXPECT_EQ(run.transport.kind, "roce");
    // ResNet-50: 25,557,032 parameters of 4 bytes
    EXPECT_EQ(run.jobs[0].gradientBytes, 102'228'128U);
    EXPECT_EQ(run.jobs[0].iterations, 1U);
    EXPECT_EQ(run.topology->GetLinks()[0].delay, MicroSeconds(1));
}

TEST(ScenarioReader, NamesMissingParts)
{
    EXPECT_THAT(ErrorWith({}, "{}"),
                AllOf(HasSubstr("x.json"), HasSubstr("\"topology\" is missing")));
    EXPECT_THAT(
        ErrorWith({},
                  R"({"topology": {"kind": "star", "hosts": 2, "hostLink": {"rate": "1Gbps"}}})"),
        HasSubstr("\"scheme\" is missing"));
    EXPECT_THAT(ErrorWith({}, R"({"topology": {"kind": "star", "hosts": 2}, "scheme": "ps"})"),
                HasSubstr("topology: \"hostLink\" is missing"));
    EXPECT_THAT(ErrorWith({}, R"({"topology": {}, "scheme": "ps"})"),
                HasSubstr("topology: \"kind\" is missing"));
    EXPECT_THAT(ErrorWith({{"topology.hostLink", "{}"}}),
                HasSubstr("topology.hostLink: \"rate\" is missing"));
}

TEST(ScenarioReader, RefusesWrongTypes)
{
    EXPECT_THAT(ErrorWith({}, "[]"), HasSubstr("expected a scenario"));
    EXPECT_THAT(ErrorWith({}, "3"), HasSubstr("expected a scenario"));
    EXPECT_THAT(ErrorWith({{"topology", "[1]"}}), HasSubstr("topology: found [1]"));
    EXPECT_THAT(ErrorWith({{"topology.hostsPerLeaf", "\"4\""}}),
                HasSubstr("topology.hostsPerLeaf: found \"4\", expected a whole number from 1"));
    EXPECT_THAT(ErrorWith({{"topology.hostsPerLeaf", "4.5"}}), HasSubstr("found 4.5"));
    EXPECT_THAT(ErrorWith({{"title", "7"}}), HasSubstr("title: found 7"));
    EXPECT_THAT(ErrorWith({{"job", "[]"}}), HasSubstr("job: found []"));
    EXPECT_THAT(ErrorWith({{"scheme", "7"}}), HasSubstr("scheme: found 7"));
    EXPECT_THAT(ErrorWith({{"scheme", "null"}}), HasSubstr("scheme: found null"));
    EXPECT_THAT(ErrorWith({{"results", "{\"messages\": 1}"}}),
                HasSubstr("results.messages: found 1"));
    EXPECT_THAT(ErrorWith({{"plot", "{\"logY\": \"yes\"}"}}), HasSubstr("plot.logY"));
    EXPECT_THAT(ErrorWith({{"sweep", "[]"}}), HasSubstr("sweep: found []"));
}

TEST(ScenarioReader, RefusesNegativeAndZeroCounts)
{
    EXPECT_THAT(ErrorWith({{"topology.hostsPerLeaf", "0"}}),
                HasSubstr("topology.hostsPerLeaf: found 0"));
    EXPECT_THAT(ErrorWith({{"topology.hostsPerLeaf", "-4"}}), HasSubstr("found -4"));
    EXPECT_THAT(ErrorWith({{"topology.spines", "0"}}), HasSubstr("topology.spines: found 0"));
    EXPECT_THAT(ErrorWith({{"job.gradient", "-1MB"}}),
                AllOf(HasSubstr("job.gradient"), HasSubstr("negative")));
    EXPECT_THAT(ErrorWith({{"job.gradient", "0B"}}), HasSubstr("job.gradient: found \"0B\""));
    EXPECT_THAT(ErrorWith({{"job.iterations", "0"}}), HasSubstr("job.iterations: found 0"));
    EXPECT_THAT(ErrorWith({{"job.start", "-1us"}}), HasSubstr("negative"));
    EXPECT_THAT(ErrorWith({{"seed", "0"}}), HasSubstr("seed: found 0"));
    EXPECT_THAT(ErrorWith({{"topology.hostsPerLeaf", "99999999999999999999"}}),
                HasSubstr("topology.hostsPerLeaf: found 1e+20"));
}

TEST(ScenarioReader, RefusesQuantitiesWithoutUnit)
{
    EXPECT_THAT(ErrorWith({{"topology.hostLink.rate", "40"}}),
                AllOf(HasSubstr("topology.hostLink.rate: found 40"), HasSubstr("40Gbps")));
    EXPECT_THAT(ErrorWith({{"topology.hostLink.rate", "\"40\""}}),
                AllOf(HasSubstr("topology.hostLink.rate"), HasSubstr("no unit")));
    EXPECT_THAT(ErrorWith({{"job.gradient", "97"}}),
                HasSubstr("expected a size such as \"97MiB\""));
    EXPECT_THAT(ErrorWith({{"transport.mtu", "4096"}}), HasSubstr("transport.mtu: found 4096"));
}

TEST(ScenarioReader, NamesTheNearestKeyAndValue)
{
    const auto error = ErrorWith(
        {},
        R"({"topology": {"kind": "star", "host": 4, "hostLink": {"rate": "1Gbps"}}, "scheme": "ps"})");
    EXPECT_THAT(
        error,
        AllOf(HasSubstr("topology: unknown key \"host\""), HasSubstr("did you mean \"hosts\"?")));
    EXPECT_THAT(
        ErrorWith({{"scheme.kind", "rign"}}),
        AllOf(HasSubstr("scheme.kind: found \"rign\""), HasSubstr("did you mean \"ring\"?")));
    EXPECT_THAT(ErrorWith({{"topology.kind", "spine_leaf"}}),
                HasSubstr("did you mean \"spine-leaf\"?"));
    EXPECT_THAT(ErrorWith({{"transport.kind", "rocee"}}), HasSubstr("did you mean \"roce\"?"));
    EXPECT_THAT(ErrorWith({}, R"({"topolgy": {}})"), HasSubstr("did you mean \"topology\"?"));
    EXPECT_THAT(
        ErrorWith({{"transport", R"({"kind": "roce", "mtuu": "1KiB"})"}}),
        AllOf(HasSubstr("transport: unknown key \"mtuu\""), HasSubstr("did you mean \"mtu\"?")));
}

TEST(ScenarioReader, ChecksAttributesWithTheirOwnCheckers)
{
    EXPECT_THAT(ErrorWith({{"transport.mtu", "0B"}}), HasSubstr("transport.mtu: found \"0B\""));
    EXPECT_THAT(ErrorWith({{"transport.ackEvery", "-1"}}),
                HasSubstr("transport.ackEvery: found -1"));
    EXPECT_THAT(ErrorWith({{"transport.congestionControl", "dcqnc"}}),
                HasSubstr("transport.congestionControl: found \"dcqnc\""));
    EXPECT_THAT(ErrorWith({{"transport.dcqcn.alphaGian", "0.1"}}),
                HasSubstr("did you mean \"transport.dcqcn.alphaGain\"?"));
    EXPECT_THAT(ErrorWith({{"transport.dcqcn.cnpInterval", "fast"}}),
                HasSubstr("transport.dcqcn.cnpInterval: found \"fast\""));
    const auto parts =
        Resolve({{"transport.congestionControl", "dcqcn"}, {"transport.dcqcn.cnpInterval", "4us"}})
            .transport.parts;
    ASSERT_EQ(parts.size(), 1U);
    EXPECT_EQ(parts[0].first, "dcqcn");
    EXPECT_EQ(parts[0].second, (AttributeSettings{{"CnpInterval", "4000000ps"}}));
    EXPECT_THAT(ErrorWith({{"transport.timeout", "5"}}), HasSubstr("expected a time"));
    EXPECT_THAT(
        ErrorWith({{"fabric.loadBalancing", "destinatoin"}}),
        AllOf(HasSubstr("fabric.loadBalancing"), HasSubstr("did you mean \"destination\"?")));
    EXPECT_THAT(ErrorWith({{"fabric.pfc", "1"}}),
                HasSubstr("fabric.pfc: found 1, expected true or false"));
    EXPECT_EQ(
        Resolve({{"fabric.loadBalancing", "destination"}, {"fabric.bufferBytes", "32MiB"}}).fabric,
        (AttributeSettings{{"LoadBalancing", "destination"}, {"BufferBytes", "33554432"}}));
}

TEST(ScenarioReader, ChecksSchemeParameters)
{
    EXPECT_THAT(
        ErrorWith({{"scheme", R"({"kind": "ps", "server": 2})"}}),
        AllOf(HasSubstr("scheme: unknown key \"server\""), HasSubstr("did you mean \"servers\"?")));
    EXPECT_THAT(ErrorWith({{"scheme", R"({"kind": "ps", "servers": -2})"}}),
                HasSubstr("scheme.servers: found -2"));
    EXPECT_THAT(ErrorWith({{"scheme", R"({"kind": "ps", "servers": "two"})"}}),
                HasSubstr("scheme.servers: found \"two\""));
    EXPECT_THAT(
        ErrorWith({{"scheme", R"({"kind": "ps", "servers": 7})"}}),
        HasSubstr(
            "8 endpoints are too few: the scheme ps needs at least 2 workers and 7 dedicated"));
}

TEST(ScenarioReader, GivesDedicatedServersTheLastEndpoints)
{
    const auto job = Resolve({{"scheme", R"({"kind": "ps", "servers": 2})"}}).jobs[0];
    EXPECT_EQ(job.workers, 6U);
    EXPECT_EQ(job.endpointOf, (std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
    const auto few =
        Resolve({{"scheme", R"({"kind": "ps", "servers": 2})"}, {"job.workers", "3"}}).jobs[0];
    EXPECT_EQ(few.endpointOf, (std::vector<uint32_t>{0, 1, 2, 6, 7}));
}

TEST(ScenarioReader, PlacesRanksOnNamedEndpoints)
{
    EXPECT_EQ(Resolve({{"job.endpoints", R"(["host5", 0, "host2"])"}}).jobs[0].endpointOf,
              (std::vector<uint32_t>{5, 0, 2}));
    EXPECT_THAT(ErrorWith({{"job.endpoints", R"(["host5", 5])"}}),
                HasSubstr("job.endpoints.1: the endpoint 5 is"));
    EXPECT_THAT(ErrorWith({{"job.endpoints", R"(["hots5", 5])"}}),
                HasSubstr("did you mean \"host"));
    EXPECT_THAT(ErrorWith({{"job.endpoints", "[0, 8]"}}), HasSubstr("job.endpoints.1: found 8"));
    EXPECT_THAT(ErrorWith({{"job.endpoints", "[0]"}}), HasSubstr("1 endpoints are too few"));
    EXPECT_THAT(ErrorWith({{"job.workers", "9"}}), HasSubstr("job.workers: found 9"));
}

TEST(ScenarioReader, PlacesDedicatedServersWhereTheyAreListed)
{
    const ScenarioOverride ps{"scheme", R"({"kind": "ps", "servers": 2})"};
    const auto ranks = [](const JobSpec& job) { return job.endpointOf; };
    using Ranks = std::vector<uint32_t>;
    // As many as the scheme wants, from the front; all that are listed are for servers only.
    const std::string list = R"(["host3", 0, 7])";
    EXPECT_EQ(ranks(Resolve({ps, {"job.serverEndpoints", list}}).jobs[0]),
              (Ranks{1, 2, 4, 5, 6, 3, 0}));
    EXPECT_EQ(ranks(Resolve({{"job.serverEndpoints", list}}).jobs[0]), (Ranks{1, 2, 4, 5, 6}));
    EXPECT_EQ(ranks(Resolve({ps,
                             {"job.serverEndpoints", list},
                             {"job.endpoints", "[0, 6, 5, 4]"},
                             {"job.workers", "3"}})
                        .jobs[0]),
              (Ranks{6, 5, 4, 3, 0}));
    // A list for each scheme.
    EXPECT_EQ(
        ranks(Resolve({ps, {"job.serverEndpoints", R"({"ps": [1, 2], "ring": [0]})"}}).jobs[0]),
        (Ranks{0, 3, 4, 5, 6, 7, 1, 2}));
    EXPECT_EQ(ranks(Resolve({ps, {"job.serverEndpoints", R"({"geo-hips": [0]})"}}).jobs[0]),
              (Ranks{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_THAT(ErrorWith({ps, {"job.serverEndpoints", "[4]"}}),
                HasSubstr("job.serverEndpoints: 1 endpoints are too few: the scheme ps has 2"));
    EXPECT_THAT(ErrorWith({ps, {"job.serverEndpoints", R"({"pss": [4]})"}}),
                HasSubstr("did you mean \"ps\""));
    EXPECT_THAT(ErrorWith({ps, {"job.serverEndpoints", "[4, 4]"}}),
                HasSubstr("the endpoint 4 is listed twice"));
}

TEST(ScenarioReader, ReadsSeveralJobs)
{
    const std::string text =
        R"({"topology": {"kind": "star", "hosts": 4, "hostLink": {"rate": "1Gbps"}}, "scheme": "ring",
            "jobs": [{"name": "a", "endpoints": [0, 1]},
                     {"endpoints": [2, 3], "start": "5ms", "scheme": "ps", "reduceRate": "80Gbps",
                      "maxOutstandingSends": 3}]})";
    const auto jobs = ResolveRun(Read({}, text), 0).jobs;
    ASSERT_EQ(jobs.size(), 2U);
    EXPECT_EQ(jobs[0].name, "a");
    EXPECT_EQ(jobs[1].name, "job1");
    EXPECT_EQ(jobs[1].start, MilliSeconds(5));
    EXPECT_EQ(jobs[1].scheme.scheme->name, "ps");
    EXPECT_EQ(jobs[1].reduceRate->GetBitRate(), 80'000'000'000U);
    EXPECT_EQ(jobs[0].maxOutstandingSends, 0U);
    EXPECT_EQ(jobs[1].maxOutstandingSends, 3U);
    EXPECT_THAT(ErrorWith({{"jobs.1.name", "a"}}, text),
                HasSubstr("jobs.1: the name \"a\" is taken"));
    EXPECT_THAT(ErrorWith({{"jobs.2.name", "a"}}, text), HasSubstr("\"jobs\" is a list of 2"));
    EXPECT_THAT(ErrorWith({{"job", "{}"}}, text), HasSubstr("\"job\" and \"jobs\" are both given"));
    EXPECT_THAT(ErrorWith({{"jobs", "[]"}}, text),
                HasSubstr("jobs: found [], expected a list of 1"));
}

/// Two leaves of two hosts below two spines.
constexpr const char* FAULTY = R"({"scheme": "ring",
  "topology": {"kind": "spine-leaf", "spines": 2, "leaves": 2, "hostsPerLeaf": 2,
               "hostLink": {"rate": "1Gbps"}, "fabricLink": {"rate": "1Gbps"}},
  "faults": [{"kind": "link-down", "links": [["leaf0", "spine1"]], "start": "1ms", "duration": "2ms",
              "detectionDelay": "500us"}]})";

TEST(ScenarioReader, ReadsFaults)
{
    const auto link = ResolveRun(Read({}, FAULTY), 0).faults.at(0);
    EXPECT_EQ(link.kind, FaultKind::LinkDown);
    EXPECT_EQ(link.pool.size(), 1U);
    EXPECT_EQ(link.start, MilliSeconds(1));
    EXPECT_EQ(link.duration, MilliSeconds(2));
    EXPECT_EQ(link.detectionDelay, MicroSeconds(500));
    const auto read = [](const std::string& fault) {
        return ResolveRun(Read({{"faults.0", fault}}, FAULTY), 0).faults.at(0);
    };
    const auto pause = read(R"({"kind": "host-pause-send", "random": 3, "every": "5ms"})");
    EXPECT_EQ(pause.pool.size(), 4U);
    EXPECT_EQ(pause.random, 3U);
    EXPECT_EQ(pause.duration, MilliSeconds(5)); // as long as `every`
    // A leaf's two links to spines, not those to its hosts; the links between switches; of a host.
    EXPECT_EQ(read(R"({"kind": "link-down", "at": "leaf1", "random": 1})").pool.size(), 2U);
    EXPECT_EQ(read(R"({"kind": "link-down", "random": 1})").pool.size(), 4U);
    EXPECT_EQ(read(R"({"kind": "link-down", "at": "host1"})").pool.size(), 1U);
    EXPECT_EQ(read(R"({"kind": "switch-down", "random": 1})").pool.size(), 4U);
    const auto loss = read(R"({"kind": "link-degraded", "at": "host0",
                               "loss": {"goodToBad": 0.01, "badToGood": 0.5}})");
    EXPECT_DOUBLE_EQ(loss.degraded.loss.lossBad, 1.0);
    EXPECT_DOUBLE_EQ(loss.degraded.loss.badToGood, 0.5);
}

TEST(ScenarioReader, ReadsFaultsOfHostsAndByChance)
{
    const auto read = [](const std::string& fault, const std::string& scheme = "\"ring\"") {
        return ResolveRun(Read({{"faults.0", fault}, {"scheme", scheme}}, FAULTY), 0).faults.at(0);
    };
    EXPECT_DOUBLE_EQ(read(R"({"kind": "straggler", "hosts": [1], "slowdown": 2.5})").slowdown.first,
                     2.5);
    const auto pareto = read(R"({"kind": "straggler", "random": 1, "slowdown":
        {"distribution": "pareto", "minimum": 1, "shape": 2}})");
    EXPECT_EQ(pareto.slowdown.law, Slowdown::Law::Pareto);
    EXPECT_DOUBLE_EQ(pareto.slowdown.second, 2.0);
    const auto trace = read(R"({"kind": "straggler", "hosts": [1],
        "slowdown": {"distribution": "trace", "values": [1, 3]}})");
    EXPECT_EQ(trace.slowdown.values, (std::vector<double>{1.0, 3.0}));
    const auto flood = read(R"({"kind": "flood", "at": "leaf0", "rate": "400Mbps"})");
    EXPECT_EQ(flood.degraded.floodBitRate, 400'000'000U);
    // Without a target all of its class: 4 links between switches, 4 hosts.
    const auto chance = read(R"({"kind": "link-down", "mtbf": "20ms", "mttr": "2ms"})");
    EXPECT_EQ(chance.pool.size(), 4U);
    EXPECT_EQ(chance.meanUp, MilliSeconds(20));
    EXPECT_EQ(chance.meanRepair, MilliSeconds(2));
    EXPECT_EQ(read(R"({"kind": "host-pause", "ratePerHour": 7200})").meanUp, MilliSeconds(500));
    // Dedicated servers are the last endpoints.
    const auto server =
        read(R"({"kind": "host-pause", "role": "server"})", R"({"kind": "ps", "servers": 2})");
    EXPECT_EQ(server.pool, (std::vector<uint32_t>{2, 3}));
    // Binomial tree over 4: rank 2 adds what rank 3 sends and sends the sum to the root, 0.
    EXPECT_EQ(read(R"({"kind": "host-pause", "role": "aggregator"})", "\"k-nomial\"").pool,
              (std::vector<uint32_t>{2}));
}

TEST(ScenarioReader, ReadsATraceOfFaults)
{
    const TemporaryFolder folder;
    const auto write = [&folder](const std::string& text) {
        std::ofstream(folder.Get() / "faults.csv") << text;
        UsePicoseconds();
        return ParseScenario(FAULTY,
                             folder.Get() / "x.json",
                             {{"faults.0", R"({"file": "faults.csv"})"}});
    };
    const auto run = ResolveRun(write("time,kind,target,duration,rateShare,detectionDelay\r\n"
                                      "1ms,link-down,leaf0-spine1,2ms,,500us\r\n"
                                      "\n"
                                      "3us,host-pause,host2,,,\n"
                                      "4us,link-degraded,spine0-leaf1,,0.5,\n"),
                                0);
    ASSERT_EQ(run.faults.size(), 3U);
    EXPECT_EQ(run.faults[0].detectionDelay, MicroSeconds(500));
    EXPECT_EQ(run.faults[0].duration, MilliSeconds(2));
    EXPECT_EQ(run.faults[1].pool, (std::vector<uint32_t>{2}));
    EXPECT_DOUBLE_EQ(run.faults[2].degraded.rateShare, 0.5);
    // All that the run depends on is in the document of the run.
    EXPECT_EQ(run.point.document["faults"][0]["rows"].size(), 3U);

    const auto problem = [&write](const std::string& text) {
        return ErrorOf([&] { ResolveRun(write(text), 0); });
    };
    EXPECT_THAT(problem(""), HasSubstr("faults.csv: it is empty"));
    EXPECT_THAT(problem("time,kind,target,durration\n"),
                AllOf(HasSubstr("faults.csv: line 1"), HasSubstr("did you mean \"duration\"?")));
    EXPECT_THAT(problem("time,kind\n"), HasSubstr("the column target is missing"));
    EXPECT_THAT(problem("time,kind,target\n1ms,link-down\n"),
                HasSubstr("faults.csv: line 2: found 2 fields, expected 3"));
    EXPECT_THAT(problem("time,kind,target\n1ms,\"link-down,x\n"), HasSubstr("quote is not closed"));
    EXPECT_THAT(
        problem("time,kind,target\n\n1ms,link-dwon,host1\n"),
        AllOf(HasSubstr("faults.csv: line 3.kind"), HasSubstr("did you mean \"link-down\"?")));
    EXPECT_THAT(problem("time,kind,target\n1ms,host-pause,hots1\n"),
                HasSubstr("line 2.target: no endpoint has the name"));
    EXPECT_THAT(problem("time,kind,target\n1ms,link-down,leaf0-leaf1\n"),
                HasSubstr("expected a link by the names of its ends"));
    EXPECT_THAT(problem("time,kind,target\n1,host-pause,host1\n"), HasSubstr("line 2.start"));
    EXPECT_THAT(ErrorWith({{"faults.0", R"({"file": "nowhere.csv"})"}}, FAULTY),
                HasSubstr("nowhere.csv: cannot be read"));
}

TEST(ScenarioReader, SaysWhatIsWrongWithAFault)
{
    const auto problem = [](const std::string& fault) {
        return ErrorWith({{"faults.0", fault}}, FAULTY);
    };
    EXPECT_THAT(problem("{}"), HasSubstr("faults.0: \"kind\" is missing"));
    EXPECT_THAT(problem(R"({"kind": "link-dwon"})"), HasSubstr("did you mean \"link-down\"?"));
    EXPECT_THAT(problem(R"({"kind": "link-down", "hosts": [0]})"),
                HasSubstr("faults.0: unknown key \"hosts\""));
    EXPECT_THAT(problem(R"({"kind": "link-down"})"), HasSubstr("does not say where"));
    EXPECT_THAT(problem(R"({"kind": "link-down", "links": [["leaf0", "leaf1"]]})"),
                HasSubstr("faults.0.links.0: there is no link between them"));
    EXPECT_THAT(problem(R"({"kind": "switch-down", "switches": ["spin1"]})"),
                HasSubstr("did you mean \"spine1\"?"));
    EXPECT_THAT(problem(R"({"kind": "host-pause", "random": 5})"), HasSubstr("faults.0.random"));
    EXPECT_THAT(problem(R"({"kind": "host-pause", "random": 1, "count": 2})"),
                HasSubstr("needs \"every\""));
    EXPECT_THAT(
        problem(R"({"kind": "host-pause", "random": 1, "every": "1ms", "duration": "2ms"})"),
        HasSubstr("at most \"every\", 1ms"));
    EXPECT_THAT(problem(R"({"kind": "link-degraded", "random": 1})"), HasSubstr("nothing is"));
    EXPECT_THAT(problem(R"({"kind": "straggler", "random": 1})"),
                HasSubstr("\"slowdown\" is missing"));
    EXPECT_THAT(problem(R"({"kind": "straggler", "random": 1, "slowdown":
                            {"distribution": "uniform", "low": 3, "high": 1}})"),
                HasSubstr("faults.0.slowdown.high"));
    EXPECT_THAT(problem(R"({"kind": "flood", "random": 1})"), HasSubstr("\"rate\" is missing"));
    EXPECT_THAT(problem(R"({"kind": "host-pause", "role": "server"})"),
                HasSubstr("no job has dedicated servers"));
    for (const auto* kind : {"host-pause-send", "host-crash"})
    {
        EXPECT_THAT(ErrorWith({{"faults.0", fmt::format(R"({{"kind": "{}", "random": 1}})", kind)},
                               {"transport", "tcp"}},
                              FAULTY),
                    HasSubstr(fmt::format("the transport tcp does not simulate {}", kind)));
    }
    EXPECT_EQ(ErrorWith({{"transport", "tcp"}}, FAULTY), "no error");
    EXPECT_THAT(problem(R"({"kind": "host-pause", "random": 1, "mtbf": "1s"})"),
                HasSubstr("faults.0.random: it cannot be given with failures by chance"));
    EXPECT_THAT(problem(R"({"kind": "host-pause", "hosts": [1], "mttr": "1s"})"),
                HasSubstr("it needs \"mtbf\""));
    EXPECT_THAT(ErrorWith({{"faults.0", R"({"kind": "link-degraded", "random": 1, "loss": 0.1})"},
                           {"transport", "fluid"}},
                          FAULTY),
                HasSubstr("faults.0.loss: the transport fluid has no packets"));
    EXPECT_EQ(ErrorWith({{"faults", "[]"}}, FAULTY), "no error");
    EXPECT_EQ(ErrorWith({{"faults.0.random", "1"}}, FAULTY), "no error");
}

TEST(ScenarioReader, ReadsAGraph)
{
    const std::string text = R"({"scheme": "ring", "topology": {"kind": "graph",
      "nodes": [{"name": "a", "kind": "host"}, {"name": "b", "kind": "host"},
                {"name": "s", "kind": "switch", "tier": 1}],
      "links": [{"a": "a", "b": "s", "rate": "1Gbps"}, {"a": "b", "b": "s", "rate": "1Gbps", "delay": "2us"}]}})";
    const auto run = ResolveRun(Read({}, text), 0);
    EXPECT_EQ(run.topology->GetEndpoints().size(), 2U);
    EXPECT_EQ(run.topology->GetLinks()[1].delay, MicroSeconds(2));
    EXPECT_EQ(run.topology->GetLinks()[0].kind, LinkKind::Host);
    EXPECT_THAT(ErrorWith({{"topology.links.1.b", "t"}}, text),
                HasSubstr("topology.links.1.b: no node has the name \"t\""));
    EXPECT_THAT(ErrorWith({{"topology.links.1.b", "b"}}, text), HasSubstr("topology.links.1"));
    EXPECT_THAT(ErrorWith({{"topology.nodes.1.name", "a"}}, text),
                HasSubstr("topology.nodes.1.name: the name \"a\" is taken"));
    EXPECT_THAT(ErrorWith({{"topology.nodes.1.kind", "hots"}}, text),
                HasSubstr("did you mean \"host\"?"));
    EXPECT_THAT(ErrorWith({{"topology.links", "[]"}}, text),
                AllOf(HasSubstr("topology"), HasSubstr("reach")));
    EXPECT_THAT(ErrorWith({{"topology.nodes", "[]"}, {"topology.links", "[]"}}, text),
                HasSubstr("no endpoint"));
}

} // namespace

} // namespace ns3::gradsync
