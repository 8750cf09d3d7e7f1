// SPDX-License-Identifier: GPL-2.0-only
#include "support/training-models.h"
#include "support/training-volumes.h"

#include "ns3/workload-builder.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <tuple>

namespace ns3::gradsync
{
namespace
{

using tests::CountVolumes;
using tests::MakeGpt;
using tests::MakeLlama7b;
using tests::MakeModelTraining;
using tests::Volumes;

/// GPT-13B as AICB has it: 40 layers, 5120 hidden, 2048 tokens.
ModelTraining
MakeGpt13b(uint32_t tensor)
{
    auto training = MakeModelTraining(MakeGpt(40, 5120, 40, 2048, 50257));
    training.degrees.tensor = tensor;
    return training;
}

constexpr uint64_t BYTES_13B = 20'971'520; // 2 b s h = 2 x 1 x 2048 x 5120

// Reference 2, section 3: two all-reduces a layer and direction of 2 b s h bytes, one more of the
// embedding, on the way back of the output; three of 4 bytes a token for the loss.
TEST(TrainingBlocks, TensorRanksSumTwiceALayerAndDirection)
{
    const auto spec = MakeTrainingSpec(MakeGpt13b(8));
    EXPECT_EQ(CountVolumes(spec, true),
              (Volumes{{{ParallelGroup::Tensor, "ring", BYTES_13B}, 81},
                       {{ParallelGroup::Tensor, "ring", 8192}, 3}}));
    EXPECT_EQ(CountVolumes(spec, false),
              (Volumes{{{ParallelGroup::Tensor, "ring", BYTES_13B}, 81}}));
}

// With sequence parallelism a layer has two all-gathers and two reduce-scatters forward, four and
// two backward; the embedding one scatter, gathered backward; the output one gather, two backward.
TEST(TrainingBlocks, SequenceParallelRanksGatherAndScatter)
{
    auto training = MakeGpt13b(8);
    training.sequenceParallel = true;
    const auto spec = MakeTrainingSpec(training);
    EXPECT_EQ(CountVolumes(spec, true),
              (Volumes{{{ParallelGroup::Tensor, "all-gather", BYTES_13B}, 2 * 40 + 1},
                       {{ParallelGroup::Tensor, "reduce-scatter", BYTES_13B}, 2 * 40 + 1},
                       {{ParallelGroup::Tensor, "ring", 8192}, 3}}));
    EXPECT_EQ(CountVolumes(spec, false),
              (Volumes{{{ParallelGroup::Tensor, "all-gather", BYTES_13B}, 4 * 40 + 2},
                       {{ParallelGroup::Tensor, "reduce-scatter", BYTES_13B}, 2 * 40 + 1}}));
}

/// Collectives of a file of AICB's by their bytes, of one group and part of the iteration.
std::map<uint64_t, uint32_t>
ReadAicb(const std::string& file, const std::string& collective, const std::string& stage)
{
    std::map<uint64_t, uint32_t> found;
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);)
    {
        std::vector<std::string> fields;
        std::istringstream row(line);
        for (std::string field; std::getline(row, field, ',');)
        {
            fields.push_back(field);
        }
        if (fields.size() > 4 && fields[0] == "CommType." + collective &&
            fields[4].starts_with(stage))
        {
            ++found[std::stoull(fields[3])];
        }
    }
    return found;
}

TEST(TrainingBlocks, VolumesAreThoseOfAicb)
{
    const std::filesystem::path folder = GRADSYNC_SOURCE_DIR "/../shared/traces/aicb";
    if (!std::filesystem::exists(folder))
    {
        GTEST_SKIP() << "no traces of AICB here";
    }
    const auto file = folder / "G13B-M1-C01_GPT13B_megatron_tp8_pp1_mbs1.csv";
    const auto spec = MakeTrainingSpec(MakeGpt13b(8));
    for (const bool isForward : {true, false})
    {
        std::map<uint64_t, uint32_t> volumes;
        for (const auto& [key, count] : CountVolumes(spec, isForward))
        {
            volumes[std::get<2>(key)] += count;
        }
        EXPECT_EQ(ReadAicb(file, "all_reduce", isForward ? "forward" : "backward"), [&] {
            auto expected = volumes;
            if (isForward)
            {
                // The mean of the loss over data-parallel ranks, which nobody waits for.
                expected[4] = 1;
            }
            return expected;
        }());
    }
    // DeepSpeed gathers tensor after tensor: 2 bytes of each of 6,738,415,616 parameters.
    uint64_t gathered = 0;
    for (const auto& [bytes, count] :
         ReadAicb(folder / "L7B-D1-C02_Llama7B_zero3_mbs1.csv", "all_gather", "forward"))
    {
        gathered += bytes * count;
    }
    EXPECT_EQ(gathered, 13'476'831'232);
}

// Section 3: 2 bytes of each parameter, in each direction and of the gradients.
TEST(TrainingBlocks, FullyShardedRanksGatherAllParameters)
{
    auto training = MakeModelTraining(MakeLlama7b());
    training.zeroStage = 3;
    training.degrees.data = 128;
    auto spec = MakeTrainingSpec(training);
    EXPECT_EQ(spec.dataParallelism, DataParallelism::FullySharded);
    const auto countUnits = [&spec] {
        return std::ranges::count(spec.blocks, false, &ModelBlock::joinsPrevious);
    };
    EXPECT_EQ(countUnits(), 34); // the embedding, 32 layers, the output
    EXPECT_EQ(
        std::accumulate(spec.blocks.begin(),
                        spec.blocks.end(),
                        uint64_t{0},
                        [](uint64_t sum, const auto& block) { return sum + block.gradientBytes; }),
        13'476'831'232);
    EXPECT_EQ(spec.blocks[1].name, "layer0 attention");
    EXPECT_TRUE(spec.blocks[2].joinsPrevious);
    // Tensor-parallel ranks split matrices, and have the 65 norms of 4096 each.
    training.degrees.tensor = 4;
    training.degrees.pipeline = 2;
    training.microbatches = 2;
    spec = MakeTrainingSpec(training);
    EXPECT_EQ(countUnits(), 34);
    EXPECT_EQ(
        std::accumulate(spec.blocks.begin(),
                        spec.blocks.end(),
                        uint64_t{0},
                        [](uint64_t sum, const auto& block) { return sum + block.gradientBytes; }),
        (13'476'831'232 - 2 * 65 * 4096) / 4 + 2 * 65 * 4096);
}

// Section 3: four all-to-alls a layer and microbatch of b s h k elements (a rank keeps 1/ep of
// them), which tensor-parallel ranks split: 2 x 25,165,824 x 4/2 bytes, and all-gathers among those
// that have parts of the same experts of twice as many, as AICB's workload_analytical.txt has them.
TEST(TrainingBlocks, TokensGoToExpertsAndBack)
{
    auto shape = MakeGpt(2, 12288, 96, 2048, 50257);
    shape.experts = 16;
    shape.expertsPerToken = 4;
    auto training = MakeModelTraining(shape);
    training.degrees.tensor = 2;
    training.degrees.data = 16;
    training.degrees.expert = 16;
    training.sequenceParallel = true;
    auto volumes = CountVolumes(MakeTrainingSpec(training), true);
    constexpr uint64_t OWN = 100'663'296;
    EXPECT_EQ((volumes[{ParallelGroup::Expert, "all-to-all", OWN}]), 2 * 2);
    EXPECT_EQ((volumes[{ParallelGroup::ExpertTensor, "all-gather", 2 * OWN}]), 2);
    EXPECT_EQ((volumes[{ParallelGroup::ExpertTensor, "reduce-scatter", 2 * OWN}]), 2);
    volumes = CountVolumes(MakeTrainingSpec(training), false);
    EXPECT_EQ((volumes[{ParallelGroup::Expert, "all-to-all", OWN}]), 2 * 2);
    // Whole experts: nothing to gather, and gradients of one expert each.
    training.degrees.expertTensor = 1;
    const auto spec = MakeTrainingSpec(training);
    volumes = CountVolumes(spec, true);
    EXPECT_EQ((volumes[{ParallelGroup::ExpertTensor, "all-gather", OWN}]), 0);
    const auto expert = 8 * 12288ULL * 12288 + 5 * 12288;
    EXPECT_EQ(spec.blocks[2].expertGradientBytes, 4 * expert);
    EXPECT_EQ(spec.blocks[2].gradientBytes, 4 * (2 * 12288 + 16 * 12288)); // a norm, the router
}

// Keys and values of the whole sequence, 2 x 2048 x 2 x 8 heads of 64, of which tensor ranks have
// halves: gathered forward and again backward, their gradients scattered.
TEST(TrainingBlocks, ContextRanksGatherKeysAndValues)
{
    auto shape = MakeGpt(3, 1024, 16, 2048, 1000);
    shape.kvHeads = 8;
    auto training = MakeModelTraining(shape);
    training.degrees.tensor = 2;
    training.degrees.context = 4;
    const auto spec = MakeTrainingSpec(training);
    constexpr uint64_t BYTES = 2 * 2048 * 2 * 8 * 64 / 2;
    auto volumes = CountVolumes(spec, true);
    EXPECT_EQ((volumes[{ParallelGroup::Context, "all-gather", BYTES}]), 3);
    // What tensor-parallel ranks sum is of a quarter of the tokens.
    EXPECT_EQ((volumes[{ParallelGroup::Tensor, "ring", 2 * 512 * 1024}]), 7);
    volumes = CountVolumes(spec, false);
    EXPECT_EQ((volumes[{ParallelGroup::Context, "all-gather", BYTES}]), 3);
    EXPECT_EQ((volumes[{ParallelGroup::Context, "reduce-scatter", BYTES}]), 3);
}

// A quarter of these bytes goes round in place of gathers; attention's scores and sums, 4 b s^2 h
// FLOPs forward, are computed in pieces, twice as many backward and, where they are computed again,
// once more; all else as it was.
TEST(TrainingBlocks, KeysAndValuesGoRound)
{
    auto shape = MakeGpt(3, 1024, 16, 2048, 1000);
    shape.kvHeads = 8;
    auto training = MakeModelTraining(shape);
    training.degrees.tensor = 2;
    training.degrees.context = 4;
    for (const auto recomputation :
         {Recomputation::None, Recomputation::Selective, Recomputation::Full})
    {
        training.recomputation = recomputation;
        training.ringAttention = false;
        const auto gathers = MakeTrainingSpec(training).blocks[1];
        training.ringAttention = true;
        const auto spec = MakeTrainingSpec(training);
        const auto& block = spec.blocks[1];
        constexpr double SCORES = 4.0 * 2048 * 2048 * 1024 / 8; // in picoseconds
        const bool isFull = recomputation == Recomputation::Full;
        EXPECT_EQ(block.ring.bytes, 2 * 2048 * 2 * 8 * 64 / 2 / 4);
        EXPECT_EQ(block.ring.forwardPicoseconds, SCORES);
        EXPECT_EQ(block.ring.backwardPicoseconds,
                  (recomputation == Recomputation::Selective ? 3 : 2) * SCORES);
        EXPECT_EQ(block.ring.isRecomputed, isFull);
        EXPECT_EQ(block.forwardPicoseconds + SCORES, gathers.forwardPicoseconds);
        EXPECT_EQ(block.backwardPicoseconds + block.ring.backwardPicoseconds +
                      (isFull ? SCORES : 0),
                  gathers.backwardPicoseconds);
        for (const auto& [key, count] : CountVolumes(spec, true))
        {
            EXPECT_NE(std::get<0>(key), ParallelGroup::Context) << count;
        }
    }
}

// Section 3: 2 b s h/t bytes between stages. Without sequence parallelism the tensor-parallel ranks
// then gather the whole (SC'21, section 4.1).
TEST(TrainingBlocks, StagesSendATensorRanksPart)
{
    auto training = MakeGpt13b(8);
    training.degrees.pipeline = 4;
    training.microbatches = 8;
    auto spec = MakeTrainingSpec(training);
    // The embedding and 10 layers of two blocks, then 10 layers each.
    EXPECT_THAT(spec.firstBlocks, testing::ElementsAre(0, 21, 41, 61));
    EXPECT_EQ(spec.blocks[20].outputBytes, BYTES_13B / 8);
    ASSERT_EQ(spec.blocks[21].beforeForward.front().bytes, BYTES_13B);
    EXPECT_EQ(spec.blocks[21].beforeForward.front().scheme.scheme->name, "all-gather");
    EXPECT_EQ(spec.blocks[20].beforeBackward.front().bytes, BYTES_13B);
    training.sequenceParallel = true;
    spec = MakeTrainingSpec(training);
    EXPECT_EQ(spec.blocks[20].outputBytes, BYTES_13B / 8);
    EXPECT_EQ(spec.blocks[21].beforeForward.size(), 2); // its own, and of one context rank
    training.firstLayers = {0, 8, 20, 30};
    EXPECT_THAT(MakeTrainingSpec(training).firstBlocks, testing::ElementsAre(0, 17, 41, 61));
}

// Of a transformer layer of h = 64, s = 32, t = 2, two samples: products with weights 24 b s h^2
// FLOPs, 8 of attention and 16 of the other part; scores and sums 4 b s^2 h. On 1 TFLOP/s, twice as
// many backward.
TEST(TrainingBlocks, ComputationTakesItsFlops)
{
    auto training = MakeModelTraining(MakeGpt(2, 64, 4, 32, 100));
    training.degrees.tensor = 2;
    training.microbatchSize = 2;
    constexpr double H2 = 2.0 * 32 * 64 * 64 / 2; // b s h^2 / t, in picoseconds
    constexpr double S2 = 2.0 * 32 * 32 * 64 / 2; // b s^2 h / t
    auto spec = MakeTrainingSpec(training);
    const auto* attention = &spec.blocks[1];
    EXPECT_EQ(attention->forwardPicoseconds, 8 * H2 + 4 * S2);
    EXPECT_EQ(attention->backwardPicoseconds, 2 * (8 * H2 + 4 * S2));
    EXPECT_EQ(spec.blocks[2].forwardPicoseconds, 16 * H2);
    EXPECT_EQ(spec.blocks[0].forwardPicoseconds, 0);
    EXPECT_EQ(spec.blocks[5].forwardPicoseconds, 2.0 * 2 * 32 * 64 * 100 / 2);
    // Scores have no weights: their gradients all go to the input.
    training.schedule = PipelineSchedule::ZeroBubbleH1;
    spec = MakeTrainingSpec(training);
    attention = &spec.blocks[1];
    EXPECT_EQ(attention->backwardPicoseconds, 8 * H2 + 8 * S2);
    EXPECT_EQ(attention->weightPicoseconds, 8 * H2);
    // What is computed again comes on top.
    training.schedule = PipelineSchedule::OneForwardOneBackward;
    training.recomputation = Recomputation::Selective;
    EXPECT_EQ(MakeTrainingSpec(training).blocks[1].backwardPicoseconds, 16 * H2 + 12 * S2);
    training.recomputation = Recomputation::Full;
    spec = MakeTrainingSpec(training);
    EXPECT_EQ(spec.blocks[1].backwardPicoseconds, 24 * H2 + 12 * S2);
    // The keys of the forward pass, its sum, and keys again.
    EXPECT_EQ(spec.blocks[1].beforeBackward.size(), 3);
    training.achievedShare = 0.5;
    EXPECT_EQ(MakeTrainingSpec(training).blocks[1].forwardPicoseconds, 2 * (8 * H2 + 4 * S2));
    // Of 3 microbatches of 2 samples, without what is computed again.
    training.microbatches = 3;
    const auto work = CountWork(training);
    EXPECT_EQ(work.samples, 6);
    EXPECT_EQ(work.tokens, 6 * 32);
    EXPECT_DOUBLE_EQ(work.flops, 3 * 6 * CountForwardFlops(training.model));
}

TEST(TrainingBlocks, GivenTimesAreScaledToTheMicrobatch)
{
    ModelTraining training = MakeModelTraining(MakeGpt(1, 64, 4, 32, 100));
    training.model = ModelSpec{};
    training.model.name = "table";
    ModelLayer layer;
    layer.name = "layer";
    layer.samples = 4;
    layer.times = LayerTimes{4000, 9000};
    layer.parameters = 10;
    layer.output.bytes = 6;
    training.model.layers = {layer, layer};
    training.microbatchSize = 2;
    auto spec = MakeTrainingSpec(training);
    EXPECT_EQ(spec.blocks[1].forwardPicoseconds, 2000);
    EXPECT_EQ(spec.blocks[1].backwardPicoseconds, 4500);
    EXPECT_EQ(spec.blocks[1].outputBytes, 3);
    EXPECT_EQ(spec.blocks[1].gradientBytes, 40);
    training.schedule = PipelineSchedule::ZeroBubbleH1;
    spec = MakeTrainingSpec(training);
    EXPECT_EQ(spec.blocks[1].backwardPicoseconds, 2250);
    EXPECT_EQ(spec.blocks[1].weightPicoseconds, 2250);
}

TEST(TrainingBlocks, NamesWhatCannotBe)
{
    const auto fails = [](const ModelTraining& training) {
        try
        {
            MakeTrainingSpec(training);
        }
        catch (const WorkloadError& error)
        {
            return std::string(error.what());
        }
        return std::string();
    };
    auto training = MakeGpt13b(16);
    EXPECT_EQ(fails(training), "the 40 heads of the model do not divide by 16 tensor ranks");
    training = MakeGpt13b(8);
    training.degrees.pipeline = 41;
    EXPECT_EQ(fails(training),
              "a pipeline of 41 stages with 1 chunks each needs at least as many layers; the model "
              "has 40");
    training.degrees.pipeline = 2;
    training.firstLayers = {0, 40};
    EXPECT_EQ(fails(training),
              "first layers ascend from 0 to less than 40, one for each chunk of each stage, 2 in "
              "all");
    training = MakeGpt13b(1);
    training.degrees.data = 2;
    training.degrees.expert = 2;
    EXPECT_EQ(fails(training), "the model has no experts to be parallel");
    training = MakeGpt13b(1);
    training.precision = MakePrecision("tf32");
    EXPECT_EQ(fails(training), "the device a device has no peak of tf32, only of bf16");
    training = MakeGpt13b(1);
    training.achievedShare = 0.0;
    EXPECT_EQ(fails(training),
              "nobody has measured what share of its bf16 peak the device a device reaches with a "
              "transformer; give \"achievedShare\"");
    training = MakeModelTraining(MakeLlama7b());
    training.model = ModelSpec{};
    training.model.name = "the model";
    training.model.layers.resize(2);
    training.zeroStage = 3;
    EXPECT_EQ(fails(training), "the model has no parameters to gather");
    EXPECT_THAT([] { MakePrecision("int8"); },
                testing::ThrowsMessage<WorkloadError>(
                    "\"int8\" is no datatype of training: fp32, tf32, fp16, bf16, fp8"));
    auto shape = MakeLlama7b();
    shape.experts = 8;
    shape.expertsPerToken = 2;
    training = MakeModelTraining(shape);
    training.degrees.tensor = 2;
    EXPECT_EQ(fails(training),
              "experts on tensor-parallel ranks need sequence parallelism, or each of these would "
              "send the same tokens");
}

} // namespace
} // namespace ns3::gradsync
