// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/gradient-buckets.h"
#include "ns3/workload-builder.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <vector>

namespace ns3::gradsync
{
namespace
{

/// Values of a convolution of width x width without bias, and of the batch normalisation behind it.
void
AddConvolution(std::vector<uint64_t>& values, uint64_t in, uint64_t out, uint64_t width)
{
    values.push_back(in * out * width * width);
    values.push_back(out); // scale
    values.push_back(out); // shift
}

/// [parameter tensor] values of ResNet-50 (He et al., CVPR'16, table 1; a block's shortcut comes
/// after its convolutions, as torchvision has it).
std::vector<uint64_t>
ListResNet50()
{
    std::vector<uint64_t> values;
    AddConvolution(values, 3, 64, 7);
    uint64_t in = 64;
    uint64_t width = 64;
    for (const uint32_t blocks : {3, 4, 6, 3})
    {
        for (uint32_t block = 0; block < blocks; ++block)
        {
            AddConvolution(values, in, width, 1);
            AddConvolution(values, width, width, 3);
            AddConvolution(values, width, 4 * width, 1);
            if (block == 0)
            {
                AddConvolution(values, in, 4 * width, 1);
            }
            in = 4 * width;
        }
        width *= 2;
    }
    values.push_back(2'048'000); // 2048 x 1000
    values.push_back(1000);
    return values;
}

// Reference 2, section 2: floats of each bucket, equal to those of a real trace of DDP.
TEST(GradientBuckets, ResNet50HasTheBucketsOfARealTrace)
{
    auto values = ListResNet50();
    EXPECT_EQ(std::accumulate(values.begin(), values.end(), uint64_t{0}), 25'557'032);
    std::ranges::reverse(values);
    std::vector<uint64_t> bytes;
    bytes.reserve(values.size());
    for (const auto value : values)
    {
        bytes.push_back(4 * value);
    }
    std::vector<uint64_t> floats;
    for (const auto& bucket : MakeGradientBuckets(bytes))
    {
        floats.push_back(bucket.bytes / 4);
    }
    EXPECT_THAT(floats,
                testing::ElementsAre(2'049'000, 7'875'584, 6'563'840, 6'637'568, 2'431'040));
}

TEST(GradientBuckets, KeepEveryTensorOnceAndCloseAtTheirCaps)
{
    std::mt19937_64 random(3);
    const auto draw = [&random](uint64_t most) {
        return std::uniform_int_distribution<uint64_t>(0, most)(random);
    };
    for (int round = 0; round < 200; ++round)
    {
        std::vector<uint64_t> bytes(draw(30));
        std::ranges::generate(bytes, [&] { return draw(1000); });
        const BucketCaps caps{1 + draw(500), 1 + draw(2000)};
        const auto buckets = MakeGradientBuckets(bytes, caps);
        uint32_t next = 0;
        for (size_t i = 0; i < buckets.size(); ++i)
        {
            const auto& bucket = buckets[i];
            EXPECT_EQ(bucket.first, next);
            next = bucket.last + 1;
            const auto first = bytes.begin() + bucket.first;
            const auto last = bytes.begin() + bucket.last;
            const auto cap = i == 0 ? caps.firstBytes : caps.bytes;
            EXPECT_EQ(bucket.bytes, std::accumulate(first, last + 1, uint64_t{0}));
            EXPECT_LT(std::accumulate(first, last, uint64_t{0}), cap); // open before its last one
            EXPECT_TRUE(bucket.bytes >= cap || i + 1 == buckets.size());
        }
        EXPECT_EQ(next, bytes.size());
    }
}

TEST(GradientBuckets, RefusesBucketsOfNothing)
{
    const std::vector<uint64_t> bytes{4};
    EXPECT_THAT(
        [&] {
            MakeGradientBuckets(bytes, {0, 1});
        },
        testing::ThrowsMessage<WorkloadError>("a bucket of gradients holds at least 1 byte"));
}

} // namespace
} // namespace ns3::gradsync
