// SPDX-License-Identifier: GPL-2.0-only
#include "support/message-collector.h"

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

using tests::MessageCollector;

class RocePostTest : public ::testing::Test
{
  protected:
    Message MakeMessage(uint64_t bytes, uint64_t tag)
    {
        return {1, 2, 3, bytes, tag, &m_handler, {}};
    }

    RocePost MakePost(uint64_t bytes, uint64_t tag)
    {
        return {.at = -1,
                .messages = {bytes, tag, &m_handler},
                .src = 1,
                .receiver = 2,
                .stream = 3,
                .index = m_queuePair.index,
                .generation = m_queuePair.generation,
                .firstPsn = 6};
    }

    RocePostTest()
    {
        m_queuePair.index = 4;
        m_queuePair.generation = 5;
    }

    MessageCollector m_handler;
    RoceQueuePair m_queuePair{};
};

TEST_F(RocePostTest, HoldsMessagesOfOneQueuePair)
{
    auto post = MakePost(1000, 70);
    EXPECT_TRUE(post.Append(m_queuePair, MakeMessage(1000, 75)));
    EXPECT_TRUE(post.Append(m_queuePair, MakeMessage(1004, 80)));
    EXPECT_FALSE(post.Append(m_queuePair, MakeMessage(1000, 86))); // see MessageSeries
    EXPECT_EQ(post.messages.GetCount(), 3U);
    EXPECT_EQ(post.messages.GetTag(2), 80U);
    EXPECT_EQ(post.messages.GetBytes(2), 1004U);
}

TEST_F(RocePostTest, TagsThatGoBackOrTooFarStandAlone)
{
    const auto takes = [this](uint64_t tag) {
        auto post = MakePost(1000, 70);
        const bool isTaken = post.Append(m_queuePair, MakeMessage(1000, tag));
        EXPECT_EQ(post.messages.GetCount(), isTaken ? 2U : 1U);
        return isTaken;
    };
    EXPECT_FALSE(takes(69));
    EXPECT_FALSE(takes(71 + uint64_t{UINT32_MAX}));
    EXPECT_TRUE(takes(70 + uint64_t{UINT32_MAX}));
}

TEST_F(RocePostTest, WhatIsOfAThirdSizeStandsAlone)
{
    auto post = MakePost(1000, 70);
    EXPECT_TRUE(post.Append(m_queuePair, MakeMessage(1001, 71)));
    EXPECT_FALSE(post.Append(m_queuePair, MakeMessage(1002, 72)));
    EXPECT_EQ(post.messages.GetCount(), 2U);
}

TEST_F(RocePostTest, WhatIsOfAnotherConnectionStandsAlone)
{
    auto post = MakePost(1000, 70);
    auto other = RoceQueuePair{};
    other.index = m_queuePair.index + 1;
    other.generation = m_queuePair.generation;
    EXPECT_FALSE(post.Append(other, MakeMessage(1000, 71)));
    other.index = m_queuePair.index; // another connection of the same queue pair
    other.generation = m_queuePair.generation + 1;
    EXPECT_FALSE(post.Append(other, MakeMessage(1000, 71)));
    EXPECT_EQ(post.messages.GetCount(), 1U);
}

TEST_F(RocePostTest, WhatIsForAnotherHandlerStandsAlone)
{
    MessageCollector another;
    auto post = MakePost(1000, 70);
    auto message = MakeMessage(1000, 71);
    message.handler = &another;
    EXPECT_FALSE(post.Append(m_queuePair, message));
    EXPECT_EQ(post.messages.GetCount(), 1U);
}

TEST_F(RocePostTest, WhoseTimesAreToldStandAlone)
{
    auto post = MakePost(1000, 70);
    post.at = 12;
    EXPECT_FALSE(post.Append(m_queuePair, MakeMessage(1000, 71)));
    EXPECT_EQ(post.messages.GetCount(), 1U);
}

TEST_F(RocePostTest, WhatIsToldIsWhatWasSent)
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
            const auto& [bytes, next] = sent.back();
            if (told.empty() || !told.back().Append(m_queuePair, MakeMessage(bytes, next)))
            {
                told.push_back(MakePost(bytes, next));
            }
        }
        std::vector<std::pair<uint64_t, uint64_t>> heard;
        for (const auto& post : told)
        {
            for (uint32_t place = 0; place < post.messages.GetCount(); ++place)
            {
                heard.emplace_back(post.messages.GetBytes(place), post.messages.GetTag(place));
            }
        }
        EXPECT_EQ(heard, sent);
        EXPECT_LT(told.size(), sent.size()); // of the steps many are 1 twice, or 2
    }
}

} // namespace
} // namespace ns3::gradsync
