// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/training-reader.h"

#include "ns3/codec-reader.h"
#include "ns3/model-training-reader.h"
#include "ns3/nearest-name.h"
#include "ns3/parameter-reader.h"
#include "ns3/scheme-reader.h"
#include "ns3/training-section.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// More than any network has endpoints.
constexpr uint64_t MAX_TOPOLOGY_RANKS = uint64_t{1} << 40;

PipelineSchedule
ToSchedule(const std::string& name)
{
    return name == "gpipe"         ? PipelineSchedule::GPipe
           : name == "interleaved" ? PipelineSchedule::Interleaved
           : name == "zb-h1"       ? PipelineSchedule::ZeroBubbleH1
                                   : PipelineSchedule::OneForwardOneBackward;
}

/// The scheme under a key, or the standard one.
SchemeChoice
ReadSchemeOr(const JsonValue& training, const std::string& key, const SchemeChoice& standard)
{
    const auto own = training.Find(key);
    return own ? ReadScheme(*own) : standard;
}

SchemeChoice
MakeStandard(const std::string& name)
{
    const auto* scheme = FindScheme(name);
    return {scheme, MakeDefaultParameters(*scheme)};
}

ModelBlock
MakeBlock(const ParameterSet& parameters, const SchemeChoice& tensorScheme)
{
    ModelBlock block;
    block.forwardPicoseconds = GetPicoseconds(parameters, "forward");
    block.backwardPicoseconds = GetPicoseconds(parameters, "backward");
    block.weightPicoseconds = GetPicoseconds(parameters, "weight");
    block.gradientBytes = parameters.Get<ByteCount>("gradient").bytes;
    if (const auto bytes = parameters.Get<ByteCount>("tensorForward").bytes)
    {
        block.afterForward.push_back({tensorScheme, bytes});
    }
    if (const auto bytes = parameters.Get<ByteCount>("tensorBackward").bytes)
    {
        block.afterBackward.push_back({tensorScheme, bytes});
    }
    return block;
}

std::vector<ModelBlock>
ReadBlocks(const JsonValue& list, const SchemeChoice& tensorScheme)
{
    std::vector<ModelBlock> blocks;
    for (const auto& item : list.GetItems())
    {
        const auto parameters = ReadParameters(item, GetBlockParameters());
        auto block = MakeBlock(parameters, tensorScheme);
        const auto count = static_cast<uint64_t>(parameters.Get<int64_t>("count"));
        if (blocks.size() + count > MAX_BLOCKS)
        {
            item.FailWith(fmt::format("with it the model has more than {} blocks", MAX_BLOCKS));
        }
        const auto* name = parameters.Find<std::string>("name");
        const auto first = blocks.size();
        for (uint64_t i = 0; i < count; ++i)
        {
            block.name = !name        ? fmt::format("block{}", first + i)
                         : count == 1 ? *name
                                      : fmt::format("{} {}", *name, i);
            blocks.push_back(block);
        }
    }
    if (blocks.empty())
    {
        list.Fail("a list of at least one block");
    }
    return blocks;
}

/// `blocks` or `model`, and nothing that goes with the other one alone.
bool
HasModel(const JsonValue& training)
{
    const auto model = training.Find("model");
    if (model && training.Find("blocks"))
    {
        model->FailWith("\"blocks\" and \"model\" are both given, expected one of them");
    }
    if (!model)
    {
        training.Require("blocks",
                         "[{\"forward\": \"1ms\", \"backward\": \"2ms\"}], or \"model\": "
                         "\"../models/llama-2-7b.json\"");
    }
    static const std::vector<std::string> ofBlocks{"activation", "tiedGradient", "parameterShare"};
    for (const auto& key : model ? ofBlocks : GetModelKeys())
    {
        if (const auto other = training.Find(key))
        {
            other->FailWith(
                fmt::format("\"{}\" goes with \"{}\" only", key, model ? "blocks" : "model"));
        }
    }
    return model.has_value();
}

/// "tp-cp-ep-dp-pp", in any order.
std::vector<ParallelAxis>
ReadOrder(const JsonValue& training, const std::string& text)
{
    static const std::vector<std::string> names{"tp", "cp", "ep", "dp", "pp"};
    std::vector<ParallelAxis> order;
    for (size_t begin = 0; begin <= text.size(); begin += 3)
    {
        const auto found = std::ranges::find(names, text.substr(begin, 2));
        const auto axis = static_cast<ParallelAxis>(found - names.begin());
        const bool isLast = begin + 2 >= text.size();
        if (found == names.end() || std::ranges::count(order, axis) > 0 ||
            (!isLast && text[begin + 2] != '-'))
        {
            training.Find("order")->Fail("tp, cp, ep, dp and pp in any order, as "
                                         "\"tp-cp-ep-dp-pp\"");
        }
        order.push_back(axis);
    }
    if (order.size() != names.size())
    {
        training.Find("order")->Fail("each of tp, cp, ep, dp and pp");
    }
    return order;
}

/// Data-parallel ranks: those that are given, or as many as the endpoints allow.
uint32_t
ReadDataRanks(const JsonValue& training, const ParameterSet& parameters, size_t endpoints)
{
    const auto tensor = GetNumber(parameters, "tensor");
    const auto context = GetNumber(parameters, "context");
    const auto stages = GetNumber(parameters, "pipeline");
    const auto ofContext = context > 1 ? fmt::format("{} context-parallel x ", context) : "";
    const auto model = std::min(uint64_t{tensor} * context * stages, MAX_TOPOLOGY_RANKS);
    const auto* given = parameters.Find<int64_t>("data");
    const auto data = given ? static_cast<uint64_t>(*given) : endpoints / model;
    if (data == 0 || data > endpoints / model)
    {
        training.FailWith(fmt::format("{} tensor-parallel x {}{} stages x {} data-parallel ranks "
                                      "are {}, but there are {} endpoints",
                                      tensor,
                                      ofContext,
                                      stages,
                                      std::max<uint64_t>(data, 1),
                                      model * std::max<uint64_t>(data, 1),
                                      endpoints));
    }
    if (!given && endpoints % model != 0)
    {
        training.FailWith(fmt::format("{} endpoints are no multiple of {} tensor-parallel ranks x "
                                      "{}{} stages; give \"data\" to leave some out",
                                      endpoints,
                                      tensor,
                                      ofContext,
                                      stages));
    }
    return static_cast<uint32_t>(data);
}

DataParallelism
ReadDataParallelism(const JsonValue& training, const ParameterSet& parameters)
{
    const auto& exchange = parameters.Get<std::string>("exchange");
    if (parameters.Get<int64_t>("zero") != 0)
    {
        if (exchange != "all-reduce")
        {
            training.Find("exchange")
                ->FailWith(
                    fmt::format("\"{}\" does not go with \"zero\", which exchanges in its own way",
                                exchange));
        }
        return parameters.Get<int64_t>("zero") == 3 ? DataParallelism::FullySharded
                                                    : DataParallelism::ShardedOptimizer;
    }
    return exchange == "hierarchical"     ? DataParallelism::Hierarchical
           : exchange == "scatter-gather" ? DataParallelism::ScatterGather
                                          : DataParallelism::AllReduce;
}

StreamPolicy
ToPolicy(const std::string& name)
{
    return name == "fifo"       ? StreamPolicy::Fifo
           : name == "lifo"     ? StreamPolicy::Lifo
           : name == "priority" ? StreamPolicy::Priority
                                : StreamPolicy::Program;
}

/// What gradients that are scattered block by block have no use for.
void
CheckFullySharded(const JsonValue& training)
{
    for (const auto* key : {"overlap",
                            "bucket",
                            "firstBucket",
                            "parameterShare",
                            "innerRanks",
                            "outerScheme",
                            "streamPolicy",
                            "credit",
                            "piece",
                            "streams",
                            "slices",
                            "auto",
                            "barrier"})
    {
        if (const auto given = training.Find(key))
        {
            given->FailWith(fmt::format("\"{}\" does not go with \"zero\": 3", key));
        }
    }
}

/// By default what PyTorch does: torchtitan reshards after forward unless there is a pipeline, and
/// torch.distributed.pipelining then scatters gradients after the last microbatch.
ParameterGather
ReadParameterGather(const JsonValue& training, const ParameterSet& parameters)
{
    const auto* given = parameters.Find<std::string>("parameterGather");
    if (given && parameters.Get<int64_t>("zero") != 3)
    {
        training.Find("parameterGather")
            ->FailWith("\"parameterGather\" goes with \"zero\": 3 only");
    }
    const bool isOnce = given ? *given == "iteration" : parameters.Get<int64_t>("pipeline") > 1;
    return isOnce ? ParameterGather::Iteration : ParameterGather::Pass;
}

/// How and in which order gradients are exchanged.
void
ReadExchange(const JsonValue& training,
             const ParameterSet& parameters,
             const SchemeChoice& standard,
             TrainingSpec& spec)
{
    spec.dataParallelism = ReadDataParallelism(training, parameters);
    spec.gradientScheme = ReadSchemeOr(training,
                                       "gradientScheme",
                                       spec.dataParallelism == DataParallelism::AllReduce
                                           ? standard
                                           : MakeStandard("reduce-scatter"));
    spec.parameterScheme = ReadSchemeOr(training, "parameterScheme", MakeStandard("all-gather"));
    spec.outerScheme = ReadSchemeOr(training, "outerScheme", standard);
    spec.innerRanks = GetNumber(parameters, "innerRanks");
    spec.parameterGather = ReadParameterGather(training, parameters);
    spec.parameterShare = parameters.Get<double>("parameterShare");
    spec.buckets = {parameters.Get<ByteCount>("firstBucket").bytes,
                    parameters.Get<ByteCount>("bucket").bytes};
    spec.overlaps = parameters.Get<bool>("overlap");
    spec.streams = {ToPolicy(parameters.Get<std::string>("streamPolicy")),
                    parameters.Get<ByteCount>("credit").bytes,
                    parameters.Get<ByteCount>("piece").bytes,
                    GetNumber(parameters, "streams")};
    spec.slices = GetNumber(parameters, "slices");
    if (spec.dataParallelism == DataParallelism::FullySharded)
    {
        CheckFullySharded(training);
    }
}

/// What does not depend on where the model is from.
TrainingSpec
ReadCommonSpec(const JsonValue& training,
               const ParameterSet& parameters,
               const SchemeChoice& standard,
               size_t endpoints)
{
    TrainingSpec spec;
    spec.tensor = GetNumber(parameters, "tensor");
    spec.context = GetNumber(parameters, "context");
    spec.expert = GetNumber(parameters, "expert");
    spec.expertTensor = parameters.Has("expertTensor") ? GetNumber(parameters, "expertTensor") : 0;
    spec.order = ReadOrder(training, parameters.Get<std::string>("order"));
    spec.data = ReadDataRanks(training, parameters, endpoints);
    spec.schedule = ToSchedule(parameters.Get<std::string>("schedule"));
    spec.pipeline = {GetNumber(parameters, "pipeline"),
                     GetNumber(parameters, "microbatches"),
                     GetNumber(parameters, "chunks")};
    ReadExchange(training, parameters, standard, spec);
    return spec;
}

void
ReadBlockSpec(const JsonValue& training,
              const ParameterSet& parameters,
              const SchemeChoice& standard,
              TrainingSpec& spec)
{
    spec.blocks =
        ReadBlocks(*training.Find("blocks"), ReadSchemeOr(training, "tensorScheme", standard));
    spec.activationBytes = parameters.Get<ByteCount>("activation").bytes;
    spec.tied = {parameters.Get<ByteCount>("tiedGradient").bytes, MakeStandard("ring")};
}

/// Names of the blocks that rules may mean.
std::vector<std::string>
ListBlockNames(const TrainingJobSpec& job)
{
    std::vector<std::string> names;
    if (const auto* spec = std::get_if<TrainingSpec>(&job.spec))
    {
        for (const auto& block : spec->blocks)
        {
            names.push_back(block.name);
        }
    }
    return names;
}

/// A pattern, or a list of them, each of which is some block's.
std::vector<std::string>
ReadBlockPatterns(const JsonValue& value, const std::vector<std::string>& names)
{
    std::vector<std::string> patterns;
    for (const auto& item : value.GetItems())
    {
        const auto& pattern = patterns.emplace_back(item.AsName());
        const bool isSome = std::ranges::any_of(names, [&pattern](const auto& name) {
            return MatchesPattern(name, pattern);
        });
        if (!isSome)
        {
            item.FailWith(fmt::format("no block is called {}{}",
                                      ShowJson(item.Get()),
                                      SuggestName(pattern, names)));
        }
    }
    return patterns;
}

SharedCodec
MakeProfiledCodec(CodecChoice choice, const std::shared_ptr<const CodecProfile>& profile)
{
    return choice.IsCodec()
               ? std::make_shared<const ProfiledCodec>(ProfiledCodec{std::move(choice), profile})
               : nullptr;
}

} // namespace

std::vector<GradientCodecRule>
ReadGradientCodecs(const JsonValue& job, const TrainingJobSpec& spec)
{
    std::vector<GradientCodecRule> rules;
    const auto given = job.Find("profile");
    const auto profile = given ? ReadProfile(*given) : nullptr;
    if (const auto list = job.Find("training")->Find("codecs"))
    {
        const auto names = ListBlockNames(spec);
        for (const auto& item : list->GetItems())
        {
            const auto parameters = ReadParameters(item, GetCodecRuleParameters());
            auto& rule = rules.emplace_back();
            rule.aboveElements = static_cast<uint64_t>(parameters.Get<int64_t>("above"));
            if (const auto blocks = item.Find("blocks"))
            {
                rule.blocks = ReadBlockPatterns(*blocks, names);
            }
            rule.codec =
                MakeProfiledCodec(ReadCodecChoice(item.Require("codec", "\"int8\"")), profile);
        }
    }
    if (const auto codec = job.Find("codec"))
    {
        rules.push_back({{}, 0, MakeProfiledCodec(ReadCodecChoice(*codec), profile)});
    }
    return rules;
}

const std::vector<std::string>&
GetKeysWithoutTraining()
{
    static const std::vector<std::string> keys{"gradient",
                                               "tensors",
                                               "aggregationRoots",
                                               "compute",
                                               "workers",
                                               "serverEndpoints",
                                               "maxOutstandingSends"};
    return keys;
}

TrainingJobSpec
ReadTraining(const JsonValue& training,
             const std::optional<JsonValue>& scheme,
             std::vector<uint32_t> endpoints)
{
    const auto parameters = ReadParameters(training, GetTrainingParameters());
    const bool hasModel = HasModel(training);
    const auto standard = scheme ? ReadScheme(*scheme) : MakeStandard("ring");
    auto spec = ReadCommonSpec(training, parameters, standard, endpoints.size());
    endpoints.resize(uint64_t{spec.tensor} * spec.context * spec.pipeline.stages * spec.data);
    TrainingJobSpec job;
    if (hasModel)
    {
        job = ReadModelTraining(training, parameters, spec);
    }
    else
    {
        ReadBlockSpec(training, parameters, standard, spec);
        job.spec = std::move(spec);
    }
    job.endpointOf = std::move(endpoints);
    job.hasBarrier = parameters.Get<bool>("barrier");
    if (parameters.Get<bool>("auto"))
    {
        job.tuning = {!training.Find("exchange"),
                      !training.Find("bucket") && !training.Find("firstBucket"),
                      !training.Find("slices")};
    }
    return job;
}

} // namespace ns3::gradsync
