// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/workload-trace-section.h"

#include "ns3/model-reader.h"

#include <string>

namespace ns3::gradsync
{

namespace
{

constexpr double MAX_TRACE_RANKS = 1 << 20;

ParameterSpec
MakeTraceScheme(const char* name, const char* help)
{
    return Optional({name, SharedShape{"scheme"}, help});
}

ParameterSpec
MakeTraceDevice()
{
    auto device = MakeDeviceSpec();
    device.help = "PyTorch: by what products of matrices take their times, a file or what one has";
    return device;
}

std::vector<ParameterSpec>
MakeTraceSpecs()
{
    return {
        Required(
            {"file",
             std::string("traces/all_reduce.{rank}.et"),
             "a file of all ranks, or with {rank} one of each, from the folder of the scenario",
             {},
             1}),
        {"format",
         std::string("auto"),
         "auto: as the name ends, .txt AICB's layers, .csv AICB's communications, .et Chakra's "
         "protobuf, .json its JSON or, by what is in it, a PyTorch execution trace; any of them "
         "with "
         ".gz behind it",
         {"auto", "aicb", "aicb-table", "chakra", "chakra-json", "pytorch"}},
        Optional({"ranks",
                  int64_t{8},
                  "that run it; by default as many as the trace says, or all endpoints",
                  {},
                  1,
                  MAX_TRACE_RANKS}),
        Optional({"groups",
                  std::string("traces/groups.json"),
                  "Chakra, PyTorch: a file with the ranks of process groups, as {\"1\": [0, 1]}",
                  {},
                  1}),
        Optional(MakeTraceDevice()),
        Optional({"datatype",
                  std::string("tf32"),
                  "PyTorch: which peak of the device counts; by default that of the tensors",
                  {"fp32", "tf32", "fp16", "bf16", "fp8"}}),
        Optional({"achievedShare",
                  0.4,
                  "PyTorch: of the device's peak; by default as its file says",
                  {},
                  1e-6,
                  1.0}),
        {"computeScale", 1.0, "of the times of computations", {}, 0.0, 1e6},
        {"controlDependencies",
         true,
         "Chakra: nodes wait for their control dependencies too, not for their data alone"},
        {"onUnsupported",
         std::string("refuse"),
         "what is done with nodes and dependencies that cannot be simulated: the trace is refused, "
         "or run without them",
         {"refuse", "skip"}},
        MakeTraceScheme("allReduceScheme", "of all-reduces; by default the job's, or ring"),
        MakeTraceScheme("allGatherScheme", "of all-gathers, by default all-gather"),
        MakeTraceScheme("reduceScatterScheme", "of reduce-scatters, by default reduce-scatter"),
        MakeTraceScheme("allToAllScheme", "of all-to-alls, by default all-to-all"),
        MakeTraceScheme("broadcastScheme", "of broadcasts, by default broadcast"),
        MakeTraceScheme("reduceScheme", "of reduces, by default reduce"),
        MakeTraceScheme("barrierScheme", "of barriers, by default barrier"),
        {"digest",
         std::string(),
         "what the content of the files has to hash to; empty: whatever it does",
         {}}};
}

} // namespace

const std::array<const char*, 7>&
GetTraceSchemeKeys()
{
    static const std::array<const char*, 7> keys{"allReduceScheme",
                                                 "allGatherScheme",
                                                 "reduceScatterScheme",
                                                 "allToAllScheme",
                                                 "broadcastScheme",
                                                 "reduceScheme",
                                                 "barrierScheme"};
    return keys;
}

const std::vector<ParameterSpec>&
GetWorkloadTraceParameters()
{
    static const auto specs = MakeTraceSpecs();
    return specs;
}

} // namespace ns3::gradsync
