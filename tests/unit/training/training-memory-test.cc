// SPDX-License-Identifier: GPL-2.0-only
#include "support/training-models.h"

#include "ns3/workload-builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ns3::gradsync
{
namespace
{

using tests::MakeGpt;
using tests::MakeLlama7b;
using tests::MakeModelTraining;

constexpr uint64_t S = 128;
constexpr uint64_t H = 256;
constexpr uint64_t A = 8;
constexpr uint64_t B = 2;
constexpr uint64_t V = 1000;
constexpr uint64_t LAYERS = 8;
constexpr uint64_t SBH = S * B * H;

ModelTraining
MakeSmall()
{
    auto training = MakeModelTraining(MakeGpt(LAYERS, H, A, S, V));
    training.microbatchSize = B;
    return training;
}

/// What is kept of one microbatch of one layer: of a model of 8 layers less one of 7.
uint64_t
KeepALayer(ModelTraining training)
{
    const auto all = EstimateMemory(training, 0).activations;
    training.model = MakeTransformer(MakeGpt(LAYERS - 1, H, A, S, V));
    return all - EstimateMemory(training, 0).activations;
}

// Korthikanti et al., MLSys'23, table 2: sbh (34 + 5 a s/h) bytes; of t tensor-parallel ranks
// sbh (10 + 24/t + 5 a s/(h t)); with sequence parallelism all of it through t; with selective
// recomputation 34 sbh/t; with full 2 sbh, of which sequence-parallel ranks have parts too.
TEST(TrainingMemory, ALayerKeepsWhatItsClosedFormSays)
{
    auto training = MakeSmall();
    EXPECT_EQ(KeepALayer(training), 34 * SBH + 5 * A * S * S * B);
    training.degrees.tensor = 4;
    EXPECT_EQ(KeepALayer(training), 10 * SBH + (24 * SBH + 5 * A * S * S * B) / 4);
    training.sequenceParallel = true;
    EXPECT_EQ(KeepALayer(training), (34 * SBH + 5 * A * S * S * B) / 4);
    training.recomputation = Recomputation::Selective;
    EXPECT_EQ(KeepALayer(training), 34 * SBH / 4);
    training.recomputation = Recomputation::Full;
    EXPECT_EQ(KeepALayer(training), 2 * SBH / 4);
    training.sequenceParallel = false;
    EXPECT_EQ(KeepALayer(training), 2 * SBH);
    // Parts of each sequence: half the tokens, against all keys.
    training = MakeSmall();
    training.degrees.context = 2;
    EXPECT_EQ(KeepALayer(training), (34 * SBH + 5 * A * S * S * B) / 2);
}

// The embedding's dropout mask, sbh, and of the output 2 + 2 sbh and fp32 logits, 4 sbv (section
// 4.3). Full recomputation computes a whole layer again.
TEST(TrainingMemory, EmbeddingAndOutputKeepTheirs)
{
    auto training = MakeSmall();
    const auto all = EstimateMemory(training, 0);
    EXPECT_EQ(all.activations,
              LAYERS * (34 * SBH + 5 * A * S * S * B) + SBH + 4 * SBH + 4 * S * B * V);
    EXPECT_EQ(all.working, 0);
    training.recomputation = Recomputation::Full;
    EXPECT_EQ(EstimateMemory(training, 0).working, 34 * SBH + 5 * A * S * S * B);
    training.recomputation = Recomputation::Selective;
    EXPECT_EQ(EstimateMemory(training, 0).working, 5 * A * S * S * B);
}

// bf16 with Adam: 2 + 4 + 12 bytes of each parameter; ZeRO splits states, gradients, parameters
// among 8 ranks (Rajbhandari et al., SC'20, section 3).
TEST(TrainingMemory, ZeroSplitsStatesThenGradientsThenParameters)
{
    auto training = MakeModelTraining(MakeLlama7b());
    training.degrees.data = 8;
    constexpr uint64_t P = 6'738'415'616;
    for (uint32_t zero = 0; zero <= 3; ++zero)
    {
        training.zeroStage = zero;
        const auto memory = EstimateMemory(training, 0);
        EXPECT_EQ(memory.optimizer, 12 * P / (zero >= 1 ? 8 : 1));
        EXPECT_EQ(memory.gradients, 4 * P / (zero >= 2 ? 8 : 1));
        EXPECT_EQ(memory.parameters, 2 * P / (zero >= 3 ? 8 : 1));
        // Two layers are there as a whole: one is computed, the next is gathered.
        const auto layer = 4 * 4096ULL * 4096 + 3 * 4096ULL * 11008 + 2 * 4096;
        EXPECT_EQ(memory.working, zero == 3 ? 2 * 2 * layer : 0);
    }
    // Gathered once an iteration all of them are; gradients of several microbatches, too.
    training.zeroStage = 3;
    training.parameterGather = ParameterGather::Iteration;
    EXPECT_EQ(EstimateMemory(training, 0).working, 2 * P);
    EXPECT_EQ(EstimateMemory(training, 0).gradients, 4 * P / 8);
    training.microbatches = 2;
    EXPECT_EQ(EstimateMemory(training, 0).gradients, 4 * P);
    EXPECT_EQ(EstimateMemory(training, 0).parameters, 2 * P / 8);
    training.parameterGather = ParameterGather::Pass;
    EXPECT_EQ(EstimateMemory(training, 0).gradients, 4 * P / 8);
    training.microbatches = 1;
    training.zeroStage = 0;
    training.precision = MakePrecision("fp32");
    const auto memory = EstimateMemory(training, 0);
    EXPECT_EQ(memory.parameters + memory.gradients + memory.optimizer, (4 + 4 + 8) * P);
}

// 1F1B: stage s of p holds p - s microbatches, GPipe all m of them; 2 layers a stage. The first has
// the embedding's mask too.
TEST(TrainingMemory, StagesHoldWhatTheirScheduleLeavesInFlight)
{
    auto training = MakeSmall();
    training.degrees.pipeline = 4;
    training.microbatches = 6;
    const auto layers = 2 * (34 * SBH + 5 * A * S * S * B);
    EXPECT_EQ(EstimateMemory(training, 0).activations, 4 * (layers + SBH));
    EXPECT_EQ(EstimateMemory(training, 1).activations, 3 * layers);
    EXPECT_EQ(EstimateMemory(training, 3).activations, layers + 4 * SBH + 4 * S * B * V);
    EXPECT_EQ(EstimateMemory(training, 1).inFlight, 3);
    training.schedule = PipelineSchedule::GPipe;
    EXPECT_EQ(EstimateMemory(training, 1).activations, 6 * layers);
    // Interleaved: stage 0 holds p v + p - 1 chunks of half as many layers (section 3 of reference
    // 2); 5 of them are its first chunk, with the embedding, 6 the second: v = 2, p = 4.
    training.schedule = PipelineSchedule::Interleaved;
    training.chunks = 2;
    training.microbatches = 8;
    EXPECT_EQ(EstimateMemory(training, 0).inFlight, 11);
    const auto held = EstimateMemory(training, 0).activations;
    EXPECT_EQ(held % SBH, (11 * layers / 2) % SBH);
    EXPECT_EQ(EstimateMemory(training, 1).activations, 9 * layers / 2);
}

// Tensor ranks split matrices, keep norms and biases of what they sum; the last stage has a copy of
// the tied embedding.
TEST(TrainingMemory, RanksHoldTheirParts)
{
    auto training = MakeSmall();
    training.degrees.tensor = 2;
    training.degrees.pipeline = 2;
    training.microbatches = 2;
    const auto layer = (12 * H * H + 7 * H) / 2 + 6 * H; // biases of 3 h and 4 h columns are split
    EXPECT_EQ(EstimateMemory(training, 0).parameters,
              2 * (4 * layer + V * H / 2 + S * H)); // and positions
    EXPECT_EQ(EstimateMemory(training, 1).parameters, 2 * (4 * layer + V * H / 2 + 2 * H));
    // Experts are split by expert ranks; what they are replicated by splits their states.
    auto shape = MakeLlama7b();
    shape.experts = 8;
    shape.expertsPerToken = 2;
    training = MakeModelTraining(shape);
    training.degrees.data = 8;
    training.degrees.expert = 4;
    training.zeroStage = 1;
    constexpr uint64_t EXPERT = 3 * 4096ULL * 11008;
    constexpr uint64_t DENSE = 6'738'415'616 - 32 * EXPERT + 32 * 8 * 4096;
    const auto memory = EstimateMemory(training, 0);
    EXPECT_EQ(memory.parameters, 2 * (DENSE + 32 * 2 * EXPERT));
    EXPECT_EQ(memory.optimizer, 12 * DENSE / 8 + 12 * 32 * 2 * EXPERT / 2);
}

TEST(TrainingMemory, NamesTheStageThatDoesNotFit)
{
    auto training = MakeModelTraining(MakeLlama7b());
    training.device.name = "a device";
    training.device.memoryBytes = 80'000'000'000;
    training.zeroStage = 3;
    training.degrees.data = 8;
    training.recomputation = Recomputation::Full;
    EXPECT_NO_THROW(CheckMemory(training));
    training.zeroStage = 0;
    // 2, 4 and 12 bytes of 6.738 G; 2 s h bytes of each of 32 layers, 4 s h + 4 s v of the output:
    // 1.074 + 0.067 + 0.524 GB; a layer again, 2 (8 s h + 3 s f + a s^2) bytes: 1.613 GB.
    EXPECT_THAT([&] { CheckMemory(training); },
                testing::ThrowsMessage<WorkloadError>(
                    "each rank of stage 0 would hold 124.57 GB (parameters 13.48, gradients 26.95, "
                    "optimizer 80.86, activations 1.67 with 1 in flight, working space 1.61), but "
                    "a device has 80.00 GB"));
}

} // namespace
} // namespace ns3::gradsync
