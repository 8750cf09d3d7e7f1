// SPDX-License-Identifier: GPL-2.0-only
#include "support/training-models.h"

#include "ns3/convolution-model.h"
#include "ns3/workload-builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

namespace ns3::gradsync
{
namespace
{

using tests::MakeGpt;
using tests::MakeLlama7b;

// 12 h^2 + 13 h a layer: 4 h^2 + 4 h of attention, 8 h^2 + 5 h of the feed-forward part, two norms
// of 2 h; V h + s h of embeddings, one norm at the end (Narayanan et al., SC'21, section 5.1).
// FLOPs of an iteration of B samples, forward and twice as many backward: 72 B s l h^2 (1 + s/(6h)
// + V/(12 l h)), their equation 3 without recomputation.
TEST(ModelSpec, TransformersHaveTheClosedForms)
{
    std::mt19937_64 random(4);
    for (int round = 0; round < 50; ++round)
    {
        const auto heads = static_cast<uint32_t>(1 + random() % 16);
        const uint64_t l = 1 + random() % 20;
        const uint64_t h = heads * (1 + random() % 100);
        const uint64_t s = 1 + random() % 3000;
        const uint64_t v = 1 + random() % 60000;
        const auto model = MakeTransformer(MakeGpt(l, h, heads, s, v));
        EXPECT_EQ(CountParameters(model), l * (12 * h * h + 13 * h) + (v + s) * h + 2 * h);
        // Multiplied out they are integers: 72 s l h^2 + 12 s^2 l h + 6 s h v.
        const auto flops = 72 * s * l * h * h + 12 * s * s * l * h + 6 * s * h * v;
        EXPECT_NEAR(3.0 * CountForwardFlops(model) / static_cast<double>(flops), 1.0, 1e-12);
    }
}

// Attention, three matrices of 4096 x 11008 and two norms of 4096 a layer; two of 32000 x 4096.
TEST(ModelSpec, LlamaHasItsPublishedParameters)
{
    EXPECT_EQ(CountParameters(MakeTransformer(MakeLlama7b())),
              32 * (4 * 4096ULL * 4096 + 3 * 4096ULL * 11008 + 2 * 4096) + 2 * 32000ULL * 4096 +
                  4096);
    EXPECT_EQ(CountParameters(MakeTransformer(MakeLlama7b())), 6'738'415'616);
    // Grouped queries: keys and values of 8 of 32 heads are a quarter of 2 x 4096^2.
    auto grouped = MakeLlama7b();
    grouped.kvHeads = 8;
    EXPECT_EQ(CountParameters(MakeTransformer(grouped)),
              6'738'415'616 - 32 * (2 * 4096ULL * 4096 * 3 / 4));
}

TEST(ModelSpec, AMixtureHasAllExpertsAndComputesSome)
{
    auto shape = MakeLlama7b();
    const auto dense = MakeTransformer(shape);
    shape.experts = 8;
    shape.expertsPerToken = 2;
    const auto mixture = MakeTransformer(shape);
    const auto expert = 3 * 4096ULL * 11008;
    EXPECT_EQ(CountParameters(mixture), CountParameters(dense) + 32 * (7 * expert + 8 * 4096));
    // One expert more, and the router, for each of 4096 tokens.
    EXPECT_DOUBLE_EQ(CountForwardFlops(mixture),
                     CountForwardFlops(dense) + 32 * 2.0 * 4096 * (expert + 8 * 4096));
    EXPECT_EQ(mixture.layers[2].role, LayerRole::Experts);
}

// 8 x 8 x 3 by 4 kernels of 3 x 3, padded: 4 x 27 weights and 4 biases, each weight used 64 times;
// pooled to 4 x 4; 64 inputs by 10 outputs.
TEST(ModelSpec, ConvolutionsAreCounted)
{
    const auto model =
        MakeConvolutionModel({8, 3},
                             {{ConvolutionOperation::Convolution, 4, 3, 1, 1, 1, true, false},
                              {ConvolutionOperation::Pool, 1, 2, 2},
                              {ConvolutionOperation::Linear, 10, 1, 1, 0, 1, true, false}});
    ASSERT_EQ(model.layers.size(), 3);
    EXPECT_EQ(model.layers[0].parameters, 4 * 27 + 4);
    EXPECT_DOUBLE_EQ(model.layers[0].forwardFlops, 2.0 * 4 * 27 * 64);
    EXPECT_EQ(model.layers[0].kept.split.elements, 8 * 8 * 3);
    EXPECT_EQ(model.layers[0].output.elements, 8 * 8 * 4);
    EXPECT_EQ(model.layers[1].parameters, 0);
    EXPECT_EQ(model.layers[1].output.elements, 4 * 4 * 4);
    EXPECT_EQ(model.layers[2].parameters, 640 + 10);
    EXPECT_DOUBLE_EQ(model.layers[2].forwardFlops, 2.0 * 640);
}

// A basic block of 2 channels on 4 x 4 x 2: two convolutions of 36 weights and two norms of 4; one
// with stride 2 and 3 channels has 54 + 81, norms of 6, and a shortcut of 6 with a norm of 6.
TEST(ModelSpec, ResidualBlocksHaveShortcutsWhereShapesDiffer)
{
    const auto same =
        MakeConvolutionModel({4, 2}, {{ConvolutionOperation::Basic, 2, 1, 1, 0, 2, false, false}});
    EXPECT_EQ(CountParameters(same), 2 * (2 * 36 + 2 * 4));
    ASSERT_EQ(same.layers.size(), 8);
    // In the middle of a block its input goes on, too; at its end it does not.
    EXPECT_EQ(same.layers[1].output.elements, 2 * 32);
    EXPECT_EQ(same.layers[3].output.elements, 32);
    const auto other =
        MakeConvolutionModel({4, 2}, {{ConvolutionOperation::Basic, 3, 1, 2, 0, 1, false, false}});
    EXPECT_EQ(CountParameters(other), 54 + 81 + 6 + 3 * 6);
    EXPECT_EQ(other.layers.back().output.elements, 2 * 2 * 3);
}

TEST(ModelSpec, NamesWhatCannotBe)
{
    EXPECT_THAT(
        [] {
            MakeConvolutionModel({8, 3},
                                 {{ConvolutionOperation::Convolution, 4, 9, 1, 0, 1, true, false}});
        },
        testing::ThrowsMessage<WorkloadError>("step0: a kernel of 9 does not fit in 8 cells"));
    auto shape = MakeLlama7b();
    shape.kvHeads = 5;
    EXPECT_THAT([&] { MakeTransformer(shape); },
                testing::ThrowsMessage<WorkloadError>(
                    "32 heads of queries cannot share 5 of keys and values"));
    shape.kvHeads = 8;
    shape.experts = 4;
    shape.expertsPerToken = 5;
    EXPECT_THAT([&] { MakeTransformer(shape); },
                testing::ThrowsMessage<WorkloadError>("a token goes to 1 to 4 experts, not to 5"));
}

} // namespace
} // namespace ns3::gradsync
