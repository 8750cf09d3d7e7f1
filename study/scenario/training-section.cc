// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/training-section.h"

#include "ns3/gradient-buckets.h"
#include "ns3/model-reader.h"
#include "ns3/parameter-reader.h"
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
            {"context", int64_t{1}, "ranks that split each sequence", {}, 1, MAX_RANKS},
            {"expert",
             int64_t{1},
             "ranks that split the experts, of those that context and data have",
             {},
             1,
             MAX_RANKS},
            Optional({"expertTensor",
                      int64_t{1},
                      "ranks that split each expert; by default as tensor",
                      {},
                      1,
                      MAX_RANKS}),
            {"order",
             std::string("tp-cp-ep-dp-pp"),
             "which ranks follow each other first: tensor, context, expert, data, pipeline, as "
             "Megatron-LM writes them",
             {},
             1},
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

/// What goes with `model` alone.
std::vector<ParameterSpec>
MakeModelSpecs()
{
    auto firstLayers =
        Optional({"firstLayers",
                  std::vector<double>{0, 8},
                  "where each chunk of each stage begins, [chunk * stages + stage]: a transformer "
                  "layer, else a layer; by default as many each",
                  {},
                  0,
                  static_cast<double>(MAX_BLOCKS)});
    firstLayers.isWhole = true;
    return {Optional({"model",
                      SharedShape{"model"},
                      "in place of blocks: a file, from the folder of the scenario, or what one "
                      "has: doc/models.rst"}),
            Optional(MakeDeviceSpec()),
            {"microbatchSize", int64_t{1}, "samples of a microbatch", {}, 1, MAX_MICROBATCHES},
            {"datatype",
             std::string("bf16"),
             "of matrix products; with fp32 and tf32 all numbers have 4 bytes, else those of "
             "parameters and activations 2",
             {"fp32", "tf32", "fp16", "bf16", "fp8"}},
            {"recompute",
             std::string("none"),
             "what of the forward pass is computed again: nothing, attention's scores, every layer",
             {"none", "selective", "full"}},
            {"contextExchange",
             std::string("all-gather"),
             "how context-parallel ranks come to the keys and values of others: gathered before "
             "attention, or block by block round a ring while they attend to the block before",
             {"all-gather", "ring"}},
            {"sequenceParallel",
             false,
             "whether tensor-parallel ranks split sequences where they do not split matrices"},
            Optional({"achievedShare",
                      0.4,
                      "of the device's peak; by default as its file says",
                      {},
                      1e-6,
                      1.0}),
            firstLayers,
            {"ignoreMemory", false, "runs what does not fit in the device's memory"},
            MakeSchemeSpec("gatherScheme",
                           "all-gathers of tensor- and context-parallel ranks, by default "
                           "all-gather"),
            MakeSchemeSpec("scatterScheme", "their reduce-scatters, by default reduce-scatter"),
            MakeSchemeSpec("expertScheme",
                           "all-to-alls of expert-parallel ranks, by default all-to-all")};
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
        Optional({"parameterGather",
                  std::string("pass"),
                  "ZeRO-3: gathers parameters for each pass of a microbatch, or once an iteration; "
                  "by default once where there is a pipeline",
                  {"pass", "iteration"}}),
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
        {"auto",
         false,
         "exchange, bucket and slices are chosen by estimates where they are not given"},
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
GetCodecRuleParameters()
{
    static const std::vector<ParameterSpec> specs{
        Optional({"blocks",
                  SharedShape{"texts"},
                  "names of blocks, where `*` stands for any text; by default all"}),
        {"above",
         int64_t{0},
         "those whose gradient has more float32 elements than this",
         {},
         0,
         static_cast<double>(MAX_GRADIENT_BYTES) / 4.0},
        Required({"codec", SharedShape{"codec"}, "of their gradients; fp32: none"})};
    return specs;
}

const std::vector<std::string>&
GetModelKeys()
{
    static const std::vector<std::string> keys = [] {
        auto all = GetKeys(MakeModelSpecs());
        std::erase(all, "model");
        return all;
    }();
    return keys;
}

const std::vector<ParameterSpec>&
GetTrainingParameters()
{
    static const std::vector<ParameterSpec> specs = [] {
        auto blocks = MakeObjectSpec("blocks", "what is computed as one", GetBlockParameters());
        blocks.isList = true;
        auto codecs = MakeObjectSpec("codecs",
                                     "in place of the job's codec: that of the first of these "
                                     "rules which the gradient of a block meets",
                                     GetCodecRuleParameters());
        codecs.isList = true;
        std::vector<ParameterSpec> list{
            blocks,
            codecs,
            MakeSizeSpec("activation",
                         "that a rank sends to the next stage for a microbatch; 0: none"),
            MakeSizeSpec("tiedGradient",
                         "of parameters that the first block and the last one share: both stages "
                         "sum them; 0: none")};
        for (const auto& more :
             {MakeModelSpecs(), MakeLayoutSpecs(), MakeExchangeSpecs(), MakeOverlapSpecs()})
        {
            list.insert(list.end(), more.begin(), more.end());
        }
        return list;
    }();
    return specs;
}

} // namespace ns3::gradsync
