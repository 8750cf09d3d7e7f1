// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/model-kinds.h"

#include "ns3/convolution-model.h"
#include "ns3/workload-builder.h"

#include <fmt/format.h>
#include <string>
#include <utility>

namespace ns3::gradsync
{

namespace
{

// So that what follows from them fits in 64 bits.
constexpr double MOST_LAYERS = 10'000;
constexpr double MOST_COUNT = 1U << 16;
constexpr double MOST_TOKENS = 1U << 20;
constexpr double MOST_HEADS = 1U << 12;
constexpr double MOST_WORDS = 1U << 22;
constexpr double MOST_CELLS = 1U << 7;
constexpr double MOST_PARAMETERS = 1ULL << 44;
constexpr double MOST_SIZE = 1ULL << 44;
constexpr double MOST_FLOPS = 1e18;

/// A number of something, from 1 on.
ParameterSpec
MakeNumber(const char* name, const char* help, int64_t example, double most = MOST_COUNT)
{
    return {name, example, help, {}, 1, most};
}

// ---- convolutional networks ---------------------------------------------------------------------

const std::vector<std::pair<std::string, ConvolutionOperation>> OPERATIONS{
    {"convolution", ConvolutionOperation::Convolution},
    {"pool", ConvolutionOperation::Pool},
    {"average", ConvolutionOperation::Average},
    {"linear", ConvolutionOperation::Linear},
    {"basic", ConvolutionOperation::Basic},
    {"bottleneck", ConvolutionOperation::Bottleneck}};

std::vector<ParameterSpec>
MakeStepSpecs()
{
    std::vector<std::string> names;
    names.reserve(OPERATIONS.size());
    for (const auto& [name, operation] : OPERATIONS)
    {
        names.push_back(name);
    }
    return {Required({"op",
                      std::string("convolution"),
                      "what it does; basic and bottleneck are residual blocks",
                      names}),
            MakeNumber("outputs", "channels that come out; of average: cells along a side", 1),
            MakeNumber("kernel", "cells along a side", 1, MOST_CELLS),
            MakeNumber("stride", "cells; of repeated ones, that of the first", 1),
            {"padding", int64_t{0}, "cells on each side", {}, 0, MOST_CELLS},
            MakeNumber("repeat", "so many of them", 1, MOST_LAYERS),
            {"bias", false, "whether it adds one"},
            {"norm", false, "whether its batch is normalised after it"}};
}

ConvolutionStep
MakeStep(const ParameterSet& parameters)
{
    ConvolutionStep step;
    const auto& name = parameters.Get<std::string>("op");
    for (const auto& [known, operation] : OPERATIONS)
    {
        step.operation = name == known ? operation : step.operation;
    }
    step.outputs = GetNumber(parameters, "outputs");
    step.kernel = GetNumber(parameters, "kernel");
    step.stride = GetNumber(parameters, "stride");
    step.padding = GetNumber(parameters, "padding");
    step.repeat = GetNumber(parameters, "repeat");
    step.hasBias = parameters.Get<bool>("bias");
    step.isNormalised = parameters.Get<bool>("norm");
    return step;
}

ModelSpec
MakeConvolution(const ParameterSet& parameters)
{
    std::vector<ConvolutionStep> steps;
    for (const auto& step : parameters.Get<std::vector<ParameterSet>>("steps"))
    {
        steps.push_back(MakeStep(step));
    }
    return MakeConvolutionModel({GetNumber(parameters, "image"), GetNumber(parameters, "channels")},
                                steps);
}

KindSpec
DescribeConvolution()
{
    auto steps = Required(MakeObjectSpec("steps", "from the image on", MakeStepSpecs()));
    steps.isList = true;
    return {"cnn",
            "a convolutional network, step by step",
            {{"image", int64_t{224}, "pixels along a side", {}, 1, MOST_IMAGE_CELLS},
             MakeNumber("channels", "of the image", 3),
             steps}};
}

// ---- layer tables -------------------------------------------------------------------------------

std::vector<ParameterSpec>
MakeLayerSpecs()
{
    return {
        Required({"name", std::string("conv1"), "for people", {}, 1}),
        {"parameters", int64_t{0}, "trained numbers", {}, 0, MOST_PARAMETERS},
        {"flops", 0.0, "of a forward pass of the batch", {}, 0.0, MOST_FLOPS},
        Optional({"forward", MilliSeconds(1), "time of a forward pass of the batch"}),
        Optional(
            {"backward", MilliSeconds(2), "of a backward pass, to the input and to the weights"}),
        {"kept",
         ByteCount{0},
         "bytes that are kept of the batch for the backward pass",
         {},
         0,
         MOST_SIZE},
        {"output", ByteCount{0}, "bytes of the batch to the next layer", {}, 0, MOST_SIZE}};
}

ModelLayer
MakeTableLayer(const ParameterSet& parameters, const std::string& path, uint32_t batch)
{
    ModelLayer layer;
    layer.name = parameters.Get<std::string>("name");
    layer.parameters = static_cast<uint64_t>(parameters.Get<int64_t>("parameters"));
    layer.samples = batch;
    layer.forwardFlops = parameters.Get<double>("flops");
    layer.kept.split.bytes = parameters.Get<ByteCount>("kept").bytes;
    layer.output.bytes = parameters.Get<ByteCount>("output").bytes;
    const auto* forward = parameters.Find<Time>("forward");
    const auto* backward = parameters.Find<Time>("backward");
    if ((forward != nullptr) != (backward != nullptr))
    {
        throw ParameterError(path,
                             "has one of \"forward\" and \"backward\", expected both or none");
    }
    if (forward != nullptr)
    {
        layer.times = LayerTimes{static_cast<uint64_t>(forward->GetPicoSeconds()),
                                 static_cast<uint64_t>(backward->GetPicoSeconds())};
    }
    return layer;
}

ModelSpec
MakeTable(const ParameterSet& parameters)
{
    ModelSpec model;
    const auto& layers = parameters.Get<std::vector<ParameterSet>>("layers");
    for (size_t i = 0; i < layers.size(); ++i)
    {
        model.layers.push_back(
            MakeTableLayer(layers[i], fmt::format("layers.{}", i), GetNumber(parameters, "batch")));
    }
    return model;
}

KindSpec
DescribeTable()
{
    auto layers =
        Required(MakeObjectSpec("layers", "in the order of the forward pass", MakeLayerSpecs()));
    layers.isList = true;
    return {"table",
            "a list of layers with what was counted or measured of each",
            {MakeNumber("batch", "samples that the figures are of", 1), layers}};
}

// ---- transformers -------------------------------------------------------------------------------

KindSpec
DescribeTransformer()
{
    return {
        "transformer",
        "a decoder by its dimensions",
        {Required(MakeNumber("layers", "transformer layers", 32, MOST_LAYERS)),
         Required(MakeNumber("hidden", "elements of a token between layers", 4096)),
         Required(MakeNumber("heads", "of attention", 32, MOST_HEADS)),
         Optional(MakeNumber("kvHeads", "of keys and values; by default as heads", 8, MOST_HEADS)),
         Optional(MakeNumber("headSize", "elements; by default hidden / heads", 128, MOST_HEADS)),
         Required(
             MakeNumber("feedForward", "columns of the feed-forward part", 11008, MOST_TOKENS)),
         Required(MakeNumber("vocabulary", "tokens that there are", 32000, MOST_WORDS)),
         Required(MakeNumber("sequence", "tokens of a sample", 4096, MOST_TOKENS)),
         {"positions", int64_t{0}, "learned position embeddings; 0: none", {}, 0, MOST_COUNT},
         {"experts", int64_t{0}, "of each layer; 0: no mixture of experts", {}, 0, MOST_HEADS},
         MakeNumber("expertsPerToken", "that a token goes to", 2, MOST_HEADS),
         {"gated", false, "whether the feed-forward part has three matrices (SwiGLU)"},
         {"biases", false, "whether products with weights add one"},
         {"norm",
          std::string("rms"),
          "layer: weight and bias of each; rms: weight alone",
          {"layer", "rms"}},
         {"tiedEmbedding", false, "whether the output has the weights of the embedding"},
         {"dropout", false, "whether activations are dropped, whose masks are kept"}}};
}

ModelSpec
MakeTransformerModel(const ParameterSet& parameters)
{
    TransformerShape shape;
    shape.layers = GetNumber(parameters, "layers");
    shape.hidden = GetNumber(parameters, "hidden");
    shape.heads = GetNumber(parameters, "heads");
    shape.kvHeads = parameters.Has("kvHeads") ? GetNumber(parameters, "kvHeads") : shape.heads;
    if (!parameters.Has("headSize") && shape.hidden % shape.heads != 0)
    {
        throw ParameterError("heads",
                             fmt::format("{} do not divide \"hidden\", {}; give \"headSize\"",
                                         shape.heads,
                                         shape.hidden));
    }
    shape.headSize =
        parameters.Has("headSize") ? GetNumber(parameters, "headSize") : shape.hidden / shape.heads;
    shape.feedForward = GetNumber(parameters, "feedForward");
    shape.vocabulary = GetNumber(parameters, "vocabulary");
    shape.sequence = GetNumber(parameters, "sequence");
    shape.positions = GetNumber(parameters, "positions");
    shape.experts = GetNumber(parameters, "experts");
    shape.expertsPerToken = shape.experts == 0 ? 0 : GetNumber(parameters, "expertsPerToken");
    shape.isGated = parameters.Get<bool>("gated");
    shape.hasBiases = parameters.Get<bool>("biases");
    shape.hasMeanNorm = parameters.Get<std::string>("norm") == "layer";
    shape.tiesEmbedding = parameters.Get<bool>("tiedEmbedding");
    shape.dropsOut = parameters.Get<bool>("dropout");
    return MakeTransformer(shape);
}

/// What models of all kinds have.
KindSpec
AddCommonKeys(KindSpec kind)
{
    kind.parameters.insert(kind.parameters.begin(),
                           {Optional({"name", std::string("Llama 2 7B"), "for people", {}, 1}),
                            Optional({"source", std::string(), "where its figures are from"})});
    return kind;
}

} // namespace

std::span<const ModelKind>
GetModels()
{
    static const std::vector<ModelKind> models{
        {AddCommonKeys(DescribeConvolution()), &MakeConvolution},
        {AddCommonKeys(DescribeTable()), &MakeTable},
        {AddCommonKeys(DescribeTransformer()), &MakeTransformerModel}};
    return models;
}

ModelSpec
MakeModel(const ModelKind& kind, const ParameterSet& parameters)
{
    auto model = kind.make(parameters);
    model.kind = kind.spec.name;
    const auto* name = parameters.Find<std::string>("name");
    const auto* source = parameters.Find<std::string>("source");
    model.name = name != nullptr ? *name : "the model";
    model.source = source != nullptr ? *source : "";
    if (model.layers.empty())
    {
        throw WorkloadError("a model has at least one layer");
    }
    double count = 0.0;
    for (const auto& layer : model.layers)
    {
        count += static_cast<double>(layer.parameters) +
                 static_cast<double>(layer.sharedParameters) +
                 static_cast<double>(layer.expertParameters);
    }
    if (count > MOST_PARAMETERS)
    {
        throw WorkloadError(fmt::format("found {:.4g} parameters, expected {:.4g} at most",
                                        count,
                                        MOST_PARAMETERS));
    }
    return model;
}

} // namespace ns3::gradsync
