// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/roce-post.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

RocePost
MakePost(uint64_t bytes, uint64_t tag)
{
    return {.at = -1,
            .bytes = bytes,
            .tag = tag,
            .src = 1,
            .receiver = 2,
            .stream = 3,
            .index = 4,
            .generation = 5,
            .firstPsn = 6};
}

TEST(RocePost, HoldsMessagesWhoseTagsHaveEqualSteps)
{
    auto post = MakePost(1000, 70);
    EXPECT_TRUE(post.Append(MakePost(1000, 75)));
    EXPECT_TRUE(post.Append(MakePost(1000, 80)));
    EXPECT_FALSE(post.Append(MakePost(1000, 86)));
    EXPECT_EQ(post.count, 3U);
    EXPECT_EQ(post.GetTag(0), 70U);
    EXPECT_EQ(post.GetTag(2), 80U);
}

TEST(RocePost, WhatIsOfAnotherKindStandsAlone)
{
    const auto first = MakePost(1000, 70);
    const auto refuses = [&first](RocePost next) {
        auto post = first;
        return !post.Append(next) && post.count == 1;
    };
    EXPECT_TRUE(refuses(MakePost(1001, 71)));
    auto other = MakePost(1000, 71);
    other.index = 9; // another queue pair
    EXPECT_TRUE(refuses(other));
    other = MakePost(1000, 71);
    other.generation = 9; // or another connection of the same
    EXPECT_TRUE(refuses(other));
    other = MakePost(1000, 71);
    other.receiver = 9;
    EXPECT_TRUE(refuses(other));
    EXPECT_TRUE(refuses(MakePost(1000, 69)));                        // back
    EXPECT_TRUE(refuses(MakePost(1000, 71 + uint64_t{UINT32_MAX}))); // too far
    EXPECT_FALSE(refuses(MakePost(1000, 70 + uint64_t{UINT32_MAX})));
}

TEST(RocePost, WhoseTimesAreToldStandAlone)
{
    auto post = MakePost(1000, 70);
    post.at = 12;
    EXPECT_FALSE(post.Append(MakePost(1000, 71)));
}

TEST(RocePost, WhatIsToldIsWhatWasSent)
{
    // Any messages: as Tell does, with the last one or else anew.
    std::mt19937 random(1);
    for (int round = 0; round < 50; ++round)
    {
        std::vector<std::pair<uint64_t, uint64_t>> sent; // (bytes, tag)
        std::vector<RocePost> told;
        uint64_t tag = 0;
        for (int i = 0; i < 40; ++i)
        {
            tag += random() % 4 == 0 ? random() : uint64_t{1} + random() % 2;
            sent.emplace_back(1000 + random() % 8 / 7, tag);
            const auto next = MakePost(sent.back().first, tag);
            if (told.empty() || !told.back().Append(next))
            {
                told.push_back(next);
            }
        }
        std::vector<std::pair<uint64_t, uint64_t>> heard;
        for (const auto& post : told)
        {
            for (uint32_t place = 0; place < post.count; ++place)
            {
                heard.emplace_back(post.bytes, post.GetTag(place));
            }
        }
        EXPECT_EQ(heard, sent);
        EXPECT_LT(told.size(), sent.size()); // of the steps many are 1 twice, or 2
    }
}

} // namespace
} // namespace ns3::gradsync
