// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/scenario-sections.h"

#include "ns3/asynchronous-section.h"
#include "ns3/codec-reader.h"
#include "ns3/differential-transmission.h"
#include "ns3/fault-kinds.h"
#include "ns3/fidelity-reader.h"
#include "ns3/job-spec.h"
#include "ns3/model-reader.h"
#include "ns3/protocol-reader.h"
#include "ns3/scenario-reader.h"
#include "ns3/scheme-reader.h"
#include "ns3/topology-section.h"
#include "ns3/traffic-kinds.h"
#include "ns3/training-section.h"
#include "ns3/transport-registry.h"
#include "ns3/workload-trace-section.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr double MAX_UNSIGNED = std::numeric_limits<uint32_t>::max();
constexpr double MAX_ITERATIONS = 1e6;

ParameterSpec
MakeText(const char* name, const char* help)
{
    return Optional({name, std::string(), help});
}

/// A part that stands elsewhere.
ParameterSpec
MakeShared(const char* name, const char* shape, const char* help)
{
    return Optional({name, SharedShape{shape}, help});
}

/// One time for all workers, or a list with one for each.
ParameterSpec
MakeComputeSpec()
{
    ParameterSpec spec{"compute",
                       Time(),
                       "forward and backward pass before each exchange, of all workers or of each"};
    spec.forms = {{"compute", SharedShape{"times"}, ""}};
    return spec;
}

ParameterSpec
MakeReduceRateSpec()
{
    auto spec = Optional({"reduceRate",
                          DataRate("100Gbps"),
                          "rate at which a receiver adds what it gets; by default unlimited"});
    spec.forms = {{"reduceRate", std::string("unlimited"), "", {"unlimited"}}};
    return spec;
}

ParameterSpec
MakeTensorsSpec()
{
    auto spec = MakeObjectSpec("tensors",
                               "in place of gradient: what it is made of. Each is exchanged on "
                               "its own, all at once, in this order where they compete",
                               GetTensorParameters());
    spec.isList = true;
    return spec;
}

std::vector<ParameterSpec>
MakeRankSpecs()
{
    return {Optional({"workers",
                      int64_t{16},
                      "by default all endpoints but the dedicated servers",
                      {},
                      1,
                      MAX_UNSIGNED}),
            MakeShared("endpoints",
                       "endpoints",
                       "names or numbers of the endpoints: workers first, dedicated servers last; "
                       "by default the first endpoints work, the last ones serve"),
            MakeShared("serverEndpoints",
                       "serverEndpoints",
                       "names or numbers of the endpoints where dedicated servers stand, of which "
                       "a scheme takes as many as it wants from the front, and no worker stands: "
                       "a list, or a list for each scheme")};
}

} // namespace

std::span<const KindSection>
GetKindSections()
{
    static const std::vector<KindSection> sections{
        {"topology", &GetTopologyKinds, "The network."},
        {"transport",
         &GetTransportKinds,
         "How messages travel; the name alone stands for its defaults. Default roce."},
        {"scheme",
         &GetSchemeKinds,
         "How gradients are exchanged; the name alone stands for its defaults."},
        {"codec", &GetCodecKinds, "How gradients are compressed. Default fp32: not at all."},
        {"protocol",
         &GetProtocolKinds,
         "What messages cost beside their bytes, as in NCCL: doc/nccl.rst. Default none."},
        {"model", &GetModelKinds, "What is trained: doc/models.rst."},
        {"fault", &GetFaultKinds, "One fault, once, repeated or by chance; or a trace of faults."},
        {"traffic", &GetTrafficKinds, "Background traffic: doc/traffic.rst."}};
    return sections;
}

const KindSection*
FindKindSection(std::string_view name)
{
    const auto sections = GetKindSections();
    const auto found = std::ranges::find(sections, name, &KindSection::name);
    return found == sections.end() ? nullptr : &*found;
}

const std::vector<ParameterSpec>&
GetScenarioParameters()
{
    static const std::vector<ParameterSpec> specs = [] {
        auto jobs = MakeObjectSpec("jobs", "several jobs on one network", GetJobParameters());
        jobs.isList = true;
        return std::vector<ParameterSpec>{
            MakeText("$schema", "where the schema is, for editors"),
            MakeText("title", "of plots and reports; by default the name of the file"),
            Required({"topology", SharedShape{"topology"}, "the network"}),
            MakeShared("transport", "transport", "how messages travel"),
            MakeObjectSpec("fabric",
                           "the packet-level network of roce: doc/fabric.rst",
                           DescribeAttributes(GetFabricTypeId())),
            MakeObjectSpec("fidelity",
                           "how exactly tiers of the network are simulated; by default all by "
                           "packets",
                           GetFidelityParameters()),
            MakeObjectSpec("job", "a training job", GetJobParameters()),
            jobs,
            MakeShared("scheme", "scheme", "of all jobs that give none of their own"),
            MakeShared("faults", "faults", "what goes wrong, and when: doc/faults.rst"),
            MakeShared("traffic",
                       "trafficList",
                       "background traffic that shares the network with the jobs: "
                       "doc/traffic.rst"),
            {"seed", int64_t{1}, "of all random numbers", {}, 1, MAX_UNSIGNED},
            Optional({"repeat",
                      int64_t{1},
                      "runs of each point, with seeds from seed on; by default one",
                      {},
                      1,
                      MAX_RUNS}),
            MakeShared("sweep",
                       "sweep",
                       "dotted path -> values; all combinations are run, the last path moves "
                       "fastest"),
            MakeObjectSpec("plot", "hints for the plot", GetPlotParameters()),
            MakeObjectSpec("results", "what is recorded", GetResultsParameters())};
    }();
    return specs;
}

const std::vector<ParameterSpec>&
GetJobParameters()
{
    static const std::vector<ParameterSpec> specs = [] {
        std::vector<ParameterSpec> list{
            Optional({"name", std::string("job0"), "by default job0, job1, ...", {}, 1}),
            {"gradient",
             ByteCount{DEFAULT_GRADIENT_BYTES},
             "bytes that every worker contributes; by default those of ResNet-50",
             {},
             1,
             static_cast<double>(MAX_GRADIENT_BYTES)},
            MakeTensorsSpec(),
            MakeObjectSpec("training",
                           "whole training iterations in place of one exchange each: "
                           "doc/iterations.rst",
                           GetTrainingParameters()),
            MakeObjectSpec("asynchronous",
                           "in place of a scheme: workers push and fetch the shards of parameter "
                           "servers on their own, a step each iteration: doc/asynchronous.rst",
                           GetAsynchronousParameters()),
            MakeObjectSpec("trace",
                           "the iterations of a workload trace by others: doc/traces.rst",
                           GetWorkloadTraceParameters()),
            {"iterations", int64_t{1}, "one after the other", {}, 1, MAX_ITERATIONS},
            MakeComputeSpec(),
            {"start", Time(), "when the first iteration starts"},
            MakeReduceRateSpec(),
            {"maxOutstandingSends",
             int64_t{0},
             "transfers that a rank has under way at once; 0: no limit",
             {},
             0,
             MAX_UNSIGNED},
            MakeShared("aggregationRoots",
                       "switches",
                       "switches at which aggregations in the network come together, those of the "
                       "groups of the plan in turn; by default the nearest one"),
            MakeObjectSpec("dgt",
                           "differential gradient transmission: the network may lose blocks that "
                           "contribute little: doc/dgt.rst",
                           GetTransmissionParameters()),
            Optional({"timeout",
                      Seconds(60),
                      "an iteration that takes longer has failed; 0s: no limit; by default no "
                      "limit, with faults 60s"}),
            {"reaction",
             std::string("none"),
             "when a rank crashes: the job fails, or goes on with a new plan of the survivors",
             {"none", "replan"}},
            MakeShared("scheme", "scheme", "in place of the one at the top"),
            MakeShared("codec", "codec", "how gradients are compressed"),
            MakeShared("protocol",
                       "protocol",
                       "what messages cost beside their bytes, as in NCCL: doc/nccl.rst"),
            MakeShared("profile",
                       "profile",
                       "profile file with the times of the codec, from the folder of the scenario; "
                       "without it the codec takes no time")};
        const auto ranks = MakeRankSpecs();
        list.insert(list.begin() + 9, ranks.begin(), ranks.end());
        return list;
    }();
    return specs;
}

const std::vector<ParameterSpec>&
GetTransmissionParameters()
{
    static const std::vector<ParameterSpec> specs{
        {"reliableShare",
         0.8,
         "of the blocks of a message that its receiver adds: those that contribute most; the "
         "network may lose the others, but for the last one",
         {},
         0.0,
         1.0},
        {"block",
         ByteCount{DifferentialTransmission::BLOCK_BYTES},
         "size of a block",
         {},
         1,
         static_cast<double>(MAX_GRADIENT_BYTES)}};
    return specs;
}

const std::vector<ParameterSpec>&
GetTensorParameters()
{
    static const std::vector<ParameterSpec> specs{
        Optional({"name", std::string("conv"), "for people", {}, 1}),
        Optional({"size",
                  ByteCount{9408},
                  "its bytes; or give elements",
                  {},
                  1,
                  static_cast<double>(MAX_GRADIENT_BYTES)}),
        Optional({"elements",
                  int64_t{2352},
                  "its float32 elements; or give size",
                  {},
                  1,
                  static_cast<double>(MAX_GRADIENT_BYTES) / 4}),
        {"count", int64_t{1}, "so many of them", {}, 1, static_cast<double>(MAX_TENSORS)},
        MakeShared("codec", "codec", "by default the job's")};
    return specs;
}

const std::vector<ParameterSpec>&
GetPlotParameters()
{
    static const std::vector<ParameterSpec> specs{
        MakeText("x", "a column of runs.csv"),
        MakeText("y", "a column of runs.csv"),
        MakeText("series", "a column of runs.csv"),
        MakeText("title", "a text"),
        MakeShared("labels", "labels", "column -> text"),
        MakeShared("panels",
                   "texts",
                   "columns of runs.csv: a panel for each, with a row for each series and a mark "
                   "for each x, in place of lines over x"),
        Optional({"logX",
                  true,
                  "whether x is logarithmic; by default where swept sizes, rates or times are far "
                  "apart"}),
        {"logY", false, "whether y is logarithmic"}};
    return specs;
}

const std::vector<ParameterSpec>&
GetResultsParameters()
{
    static const std::vector<ParameterSpec> specs{
        {"messages",
         true,
         "rows in messages.csv, faults.csv and blocked.csv; `trace` asks for them too"},
        {"links", true, "rows in links.csv"},
        {"trace", false, "write trace.json, which Perfetto opens"},
        Optional({"every",
                  MicroSeconds(100),
                  "roce: interval of simulated time between the rows of a link in samples.csv",
                  {},
                  1}),
        MakeShared("pcap", "links", "links to capture to pcap files, by the names of their ends")};
    return specs;
}

} // namespace ns3::gradsync
