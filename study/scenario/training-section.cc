// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/training-section.h"

#include "ns3/gradient-buckets.h"
#include "ns3/scenario-sections.h"

namespace ns3::gradsync
{

namespace
{

constexpr double MAX_RANKS = 1 << 20;
constexpr double MAX_MICROBATCHES = 1 << 16;
constexpr auto MAX_BYTES = static_cast<double>(MAX_GRADIENT_BYTES);

ParameterSpec
MakeSchemeSpec(const char* name, const char* help)
{
    return Optional({name, SharedShape{"scheme"}, help});
}

ParameterSpec
MakeSizeSpec(const char* name, const char* help)
{
    return {name, ByteCount{0}, help, {}, 0, MAX_BYTES};
}

std::vector<ParameterSpec>
MakeLayoutSpecs()
{
    return {{"tensor", int64_t{1}, "tensor-parallel ranks", {}, 1, MAX_RANKS},
            {"pipeline", int64_t{1}, "stages of the pipeline", {}, 1, MAX_RANKS},
            Optional({"data",
                      int64_t{8},
                      "data-parallel ranks; by default as many as the endpoints allow",
                      {},
                      1,
                      MAX_RANKS}),
            {"schedule",
             std::string("1f1b"),
             "in which order stages do their passes",
             {"gpipe", "1f1b", "interleaved", "zb-h1"}},
            {"microbatches",
             int64_t{1},
             "of a rank in an iteration; without a pipeline those whose gradients are accumulated",
             {},
             1,
             MAX_MICROBATCHES},
            {"chunks", int64_t{1}, "of the model at each stage (interleaved)", {}, 1, 4096}};
}

std::vector<ParameterSpec>
MakeExchangeSpecs()
{
    const BucketCaps caps;
    return {
        {"zero",
         int64_t{0},
         "stage of ZeRO: 0 all-reduces gradients (DDP); 1 and 2 scatter them and gather "
         "parameters; 3 gathers parameters block by block (FSDP)",
         {},
         0,
         3},
        {"overlap", true, "exchanges gradients while backward passes go on"},
        {"bucket", ByteCount{caps.bytes}, "of gradients, at least", {}, 1, MAX_BYTES},
        {"firstBucket", ByteCount{caps.firstBytes}, "the first one", {}, 1, MAX_BYTES},
        {"parameterShare",
         1.0,
         "bytes of parameters for one of gradients (ZeRO 1 and 2): 0.5 for bf16 after "
         "gradients in fp32",
         {},
         1.0 / 64,
         64},
        MakeSchemeSpec("tensorScheme", "of tensor-parallel ranks; by default the job's, or ring"),
        MakeSchemeSpec("gradientScheme",
                       "an all-reduce, by default the job's, or ring; with ZeRO a "
                       "reduce-scatter, by default reduce-scatter"),
        MakeSchemeSpec("parameterScheme", "ZeRO: an all-gather, by default all-gather")};
}

/// What hides exchanges behind computations.
std::vector<ParameterSpec>
MakeOverlapSpecs()
{
    return {
        {"exchange",
         std::string("all-reduce"),
         "of gradients without ZeRO: at once; as a reduce-scatter and an all-gather that is put "
         "off; or within inner groups, among these, and within them",
         {"all-reduce", "scatter-gather", "hierarchical"}},
        {"innerRanks",
         int64_t{0},
         "hierarchical: data-parallel ranks of an inner group; 0: those that the innermost "
         "level of the topology has together",
         {},
         0,
         MAX_RANKS},
        MakeSchemeSpec("outerScheme",
                       "hierarchical: an all-reduce among inner groups, by default the job's, "
                       "or ring"),
        {"streamPolicy",
         std::string("program"),
         "what of the gradients is exchanged first: in the order of the program, what was "
         "ready first or last, or the first blocks",
         {"program", "fifo", "lifo", "priority"}},
        MakeSizeSpec("credit", "of gradients under way at once on a stream; 0: one piece"),
        MakeSizeSpec("piece", "into which buckets are cut; 0: whole"),
        {"streams", int64_t{1}, "that pieces of gradients take in turn", {}, 1, 64},
        {"slices",
         int64_t{1},
         "of a microbatch: one computes while another communicates",
         {},
         1,
         1024},
        {"barrier",
         true,
         "between iterations; without, the forward pass of a block waits for its own sum of "
         "the iteration before"}};
}

} // namespace

const std::vector<ParameterSpec>&
GetBlockParameters()
{
    static const std::vector<ParameterSpec> specs{
        Optional({"name", std::string("conv1"), "by default block0, block1, ...", {}, 1}),
        {"count", int64_t{1}, "so many of them", {}, 1, static_cast<double>(MAX_BLOCKS)},
        {"forward", Time(), "of a microbatch on one rank"},
        {"backward", Time(), "likewise; to the input alone where the schedule is zb-h1"},
        {"weight", Time(), "likewise, the gradient of the weights where the schedule is zb-h1"},
        MakeSizeSpec("gradient", "of a rank's own share of the parameters"),
        MakeSizeSpec("tensorForward",
                     "that tensor-parallel ranks all-reduce after the forward pass of a "
                     "microbatch; 0: nothing"),
        MakeSizeSpec("tensorBackward", "likewise after the backward pass")};
    return specs;
}

const std::vector<ParameterSpec>&
GetTrainingParameters()
{
    static const std::vector<ParameterSpec> specs = [] {
        auto blocks = Required(
            MakeObjectSpec("blocks", "the model, what is computed as one", GetBlockParameters()));
        blocks.isList = true;
        std::vector<ParameterSpec> list{
            blocks,
            MakeSizeSpec("activation",
                         "that a rank sends to the next stage for a microbatch; 0: none")};
        for (const auto& more : {MakeLayoutSpecs(), MakeExchangeSpecs(), MakeOverlapSpecs()})
        {
            list.insert(list.end(), more.begin(), more.end());
        }
        return list;
    }();
    return specs;
}

} // namespace ns3::gradsync
