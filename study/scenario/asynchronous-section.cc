// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/asynchronous-section.h"

#include <cstdint>
#include <string>

namespace ns3::gradsync
{

namespace
{

constexpr double MAX_STEPS = 1e6;
constexpr double MAX_WORKERS = 65536;
constexpr double MAX_REQUEST_BYTES = 1 << 20;

ParameterSpec
MakeStagesSpec()
{
    auto spec = MakeObjectSpec(
        "stages",
        "one after the other, when all of the one before is applied (FlexPS); by default one of "
        "all workers and the job's iterations",
        {Optional({"workers",
                   int64_t{4},
                   "the first ones of the job; by default all",
                   {},
                   1,
                   MAX_WORKERS}),
         Required({"steps", int64_t{100}, "of each worker", {}, 1, MAX_STEPS}),
         Optional({"compute", Time(), "of a step of each; by default as the job has it"})});
    spec.isList = true;
    return spec;
}

ParameterSpec
MakeBoundSpec()
{
    auto spec = Optional({"bound",
                          int64_t{3},
                          "a worker begins no step that is more than so many ahead of what is "
                          "applied of the slowest (stale-synchronous); 0 with a push and a fetch "
                          "every step: synchronous; by default none",
                          {},
                          0,
                          MAX_STEPS});
    spec.forms = {{"bound", std::string("none"), "", {"none"}}};
    return spec;
}

} // namespace

const std::vector<ParameterSpec>&
GetAsynchronousParameters()
{
    static const std::vector<ParameterSpec> specs{
        {"pushEvery",
         int64_t{1},
         "steps whose gradients a worker adds up and pushes; then it goes on at once",
         {},
         1,
         MAX_STEPS},
        {"fetchEvery",
         int64_t{1},
         "steps after which a worker fetches parameters, and waits for them",
         {},
         1,
         MAX_STEPS},
        {"overlapFetch",
         false,
         "a worker computes while it fetches; it waits only where the next fetch is due, or the "
         "bound asks for it (DistBelief)"},
        MakeBoundSpec(),
        {"servers",
         int64_t{0},
         "dedicated servers, which have a shard each; 0: every worker also serves one shard",
         {},
         0,
         MAX_WORKERS},
        {"requestSize",
         ByteCount{64},
         "with which a worker asks each server, where no push does",
         {},
         1,
         MAX_REQUEST_BYTES},
        MakeStagesSpec()};
    return specs;
}

} // namespace ns3::gradsync
