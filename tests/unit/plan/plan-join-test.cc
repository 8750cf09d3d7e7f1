// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-builder.h"
#include "ns3/plan-join.h"
#include "ns3/plan-verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;
using Parts = std::vector<std::shared_ptr<const Plan>>;

/// Rank 0 sums up what others have, chunk by chunk, and gives it back.
PlanBuilder
MakeJoinedStar(uint32_t ranks, const ChunkLayout& layout)
{
    PlanBuilder builder(ranks, ranks, layout);
    for (uint32_t chunk = 0; chunk < layout.GetChunkCount(); ++chunk)
    {
        const auto sum = builder.AddJoin(0);
        for (uint32_t rank = 1; rank < ranks; ++rank)
        {
            builder.AddEdge(builder.AddReduce(rank, 0, chunk, 1, rank), sum);
        }
        for (uint32_t rank = 1; rank < ranks; ++rank)
        {
            builder.AddEdge(sum, builder.AddCopy(0, rank, chunk, 1));
        }
    }
    return builder;
}

std::shared_ptr<const Plan>
Share(PlanBuilder builder)
{
    return std::make_shared<const Plan>(builder.Build());
}

std::string
ErrorOfJoin(const Parts& parts)
{
    try
    {
        JoinPlans(parts);
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
    return "no error";
}

TEST(PlanJoin, PartsStandOneAfterTheOtherAndWaitForNobodyElse)
{
    // 10 elements in 2 chunks and 3 elements in one: bytes 20, 20, 12. 5 operations a chunk.
    const auto first = Share(MakeJoinedStar(3, ChunkLayout::Even(40, 2)));
    const auto second = Share(MakeJoinedStar(3, ChunkLayout::Even(12, 1)));
    const auto plan = JoinPlans(Parts{first, second});
    EXPECT_EQ(plan.GetLayout().GetTotalBytes(), 52U);
    ASSERT_EQ(plan.GetLayout().GetChunkCount(), 3U);
    EXPECT_EQ(plan.GetLayout().GetBytes(2, 1), 12U);
    ASSERT_EQ(plan.GetOperations().size(), 15U);
    for (OperationId id = 10; id < 15; ++id)
    {
        const auto operation = plan.GetOperations()[id];
        const auto own = second->GetOperations()[id - 10];
        EXPECT_EQ(operation.kind, own.kind);
        EXPECT_EQ(operation.src, own.src);
        EXPECT_EQ(operation.dst, own.dst);
        EXPECT_EQ(operation.stream, own.stream);
        EXPECT_EQ(operation.firstChunk, operation.IsMove() ? 2U : 0U);
        EXPECT_EQ(plan.GetBytes(id), second->GetBytes(id - 10));
        for (const auto later : plan.GetSuccessors(id))
        {
            EXPECT_GE(later, 10U);
        }
    }
    EXPECT_FALSE(plan.IsCompressed());
    EXPECT_TRUE(PlanVerifier().Verify(plan).ok);
}

TEST(PlanJoin, MessagesAndComputationsKeepTheirSizes)
{
    const auto make = [](uint64_t bytes, uint64_t picoseconds) {
        auto builder = MakeJoinedStar(2, ChunkLayout::Even(400, 1));
        // #0 joins, #1 is the reduction, #2 the copy.
        builder.SetMessageBytes(1, bytes);
        builder.AddEdge(builder.AddCompute(OperationKind::Encode, 1, picoseconds, 1), 1);
        return Share(std::move(builder));
    };
    const auto plan = JoinPlans(Parts{make(7, 30), make(9, 20), make(11, 30)});
    EXPECT_TRUE(plan.IsCompressed());
    for (uint32_t part = 0; part < 3; ++part)
    {
        EXPECT_EQ(plan.GetBytes(4 * part + 1), 7 + 2 * part);
        EXPECT_EQ(plan.GetBytes(4 * part + 2), 400U);
        EXPECT_EQ(plan.GetComputePicoseconds(4 * part + 3), part == 1 ? 20U : 30U);
        EXPECT_EQ(plan.GetOperations()[4 * part + 3].firstChunk, 1U); // the processor
    }
}

TEST(PlanJoin, GroupsOfTheSameRanksAreOne)
{
    const auto make = [](const std::vector<std::vector<uint32_t>>& groups) {
        PlanBuilder builder(4, 4, ChunkLayout::Even(64, 2));
        for (const auto& group : groups)
        {
            builder.AddAggregate(builder.AddAggregationGroup(group, {"slot"}), 0, 2);
        }
        return Share(std::move(builder));
    };
    const auto plan = JoinPlans(Parts{make({{0, 1, 2, 3}}), make({{0, 1}, {0, 1, 2, 3}})});
    ASSERT_EQ(plan.GetAggregationGroups().size(), 2U);
    std::vector<uint32_t> groups;
    for (const auto& operation : plan.GetOperations())
    {
        groups.push_back(operation.stream);
    }
    EXPECT_EQ(groups, (std::vector<uint32_t>{0, 0, 0, 0, 1, 1, 0, 0, 0, 0}));
    EXPECT_EQ(plan.GetMembers(7).first, 6U);
    EXPECT_EQ(plan.GetMembers(7).last, 10U);
}

TEST(PlanJoin, AnyNumberOfPartsIsTheSumOfThem)
{
    std::mt19937 random(1);
    for (int round = 0; round < 50; ++round)
    {
        const auto ranks = std::uniform_int_distribution<uint32_t>(2, 6)(random);
        Parts parts;
        uint64_t bytes = 0;
        size_t operations = 0;
        for (auto count = std::uniform_int_distribution<>(1, 8)(random); count > 0; --count)
        {
            const auto size = std::uniform_int_distribution<uint64_t>(1, 1000)(random);
            const auto chunks = std::uniform_int_distribution<uint32_t>(1, 4)(random);
            parts.push_back(Share(MakeJoinedStar(ranks, ChunkLayout::Even(size, chunks))));
            bytes += size;
            operations += parts.back()->GetOperations().size();
        }
        const auto plan = JoinPlans(parts);
        EXPECT_EQ(plan.GetLayout().GetTotalBytes(), bytes);
        EXPECT_EQ(plan.GetOperations().size(), operations);
        EXPECT_TRUE(PlanVerifier().Verify(plan).ok);
    }
}

TEST(PlanChain, PartsWaitForWhatCameBeforeAtEachWorker)
{
    // Two stars of three ranks, 16 and 8 bytes, as shares of 96: 64 and 32. Operations: a step of
    // each worker (0 to 2), the first star (3 to 7), a step (8 to 10), the second star (11 to 15),
    // and a step (16 to 18).
    const auto first = Share(MakeJoinedStar(3, ChunkLayout::Even(16, 1)));
    const auto second = Share(MakeJoinedStar(3, ChunkLayout::Even(8, 1)));
    const auto plan = ChainPlans(Parts{first, second},
                                 std::vector<ChainStep>{{OperationKind::Encode, 10},
                                                        {OperationKind::Encode, 20},
                                                        {OperationKind::Decode, 30}},
                                 96);
    EXPECT_TRUE(PlanVerifier().Verify(plan).ok);
    EXPECT_EQ(plan.GetLayout().GetTotalBytes(), 96U);
    EXPECT_EQ(plan.GetLayout().GetBytes(0, 1), 64U);
    ASSERT_EQ(plan.GetOperations().size(), 19U);
    const auto reaches = [&](OperationId from, OperationId to) -> bool {
        std::vector<bool> isLater(plan.GetOperations().size());
        std::vector<OperationId> open{from};
        while (!open.empty())
        {
            const auto id = open.back();
            open.pop_back();
            isLater[id] = true;
            const auto next = plan.GetSuccessors(id);
            open.insert(open.end(), next.begin(), next.end());
        }
        return isLater[to];
    };
    for (uint32_t worker = 0; worker < 3; ++worker)
    {
        for (const auto& [id, picoseconds] : {std::pair{0U, 10U}, {8U, 20U}, {16U, 30U}})
        {
            EXPECT_EQ(plan.GetOperations()[id + worker].src, worker);
            EXPECT_EQ(plan.GetComputePicoseconds(id + worker), picoseconds);
        }
        EXPECT_TRUE(reaches(worker, 8 + worker));
        EXPECT_TRUE(reaches(8 + worker, 16 + worker));
    }
    for (OperationId id = 3; id < 19; ++id)
    {
        const auto operation = plan.GetOperations()[id];
        const bool isStep = operation.IsCompute();
        if (operation.IsTransfer())
        {
            EXPECT_EQ(plan.GetBytes(id), id < 8 ? 16U : 8U);
        }
        if (!isStep && id < 8)
        {
            EXPECT_TRUE(reaches(operation.src, id)); // its worker's first step
            EXPECT_TRUE(reaches(id, 8 + operation.dst));
        }
        if (!isStep && id >= 11)
        {
            EXPECT_TRUE(reaches(8 + operation.src, id));
            EXPECT_TRUE(reaches(id, 16 + operation.dst));
        }
    }
}

TEST(PlanChain, StepsThatTakeNoTimeStayAsWaiting)
{
    const auto star = Share(MakeJoinedStar(3, ChunkLayout::Even(16, 1)));
    const std::vector<ChainStep> steps(3, {OperationKind::Encode, 0});
    const auto plan = ChainPlans(Parts{star, star}, steps, 32);
    EXPECT_EQ(plan.GetOperations().size(), 5U + 3 + 5);
    for (OperationId id = 5; id < 8; ++id)
    {
        EXPECT_EQ(plan.GetOperations()[id].kind, OperationKind::Join);
    }
    EXPECT_THROW(ChainPlans(Parts{star, star}, steps, 31), std::invalid_argument);
    EXPECT_THROW(ChainPlans(Parts{star}, steps, 32), std::invalid_argument);
    EXPECT_THROW(ChainPlans({}, steps, 32), std::invalid_argument);
}

TEST(PlanJoin, WhatCannotBeSeveralAtOnceIsRefused)
{
    const auto layout = ChunkLayout::Even(64, 1);
    const auto star = Share(MakeJoinedStar(3, layout));
    EXPECT_THAT(ErrorOfJoin({}), HasSubstr("nothing to exchange"));
    EXPECT_THAT(ErrorOfJoin({star, Share(MakeJoinedStar(2, layout))}),
                HasSubstr("different ranks"));
    auto training = MakeJoinedStar(3, layout);
    training.AddTrain(1);
    EXPECT_THAT(ErrorOfJoin({star, Share(std::move(training))}),
                HasSubstr("only synchronous all-reduces"));
    auto gated = MakeJoinedStar(3, layout);
    gated.AddGate(0, 1, 1000);
    gated.AddAnswer(1, 1);
    EXPECT_THAT(ErrorOfJoin({Share(std::move(gated)), star}),
                HasSubstr("only synchronous all-reduces"));
    const auto make = [&layout](const std::string& protocol) {
        PlanBuilder builder(3, 3, layout);
        builder.AddAggregate(builder.AddAggregationGroup({0, 1, 2}, {protocol}), 0, 1);
        return Share(std::move(builder));
    };
    EXPECT_THAT(ErrorOfJoin({make("slot"), make("atp")}), HasSubstr("same kind of integers"));
}

} // namespace
} // namespace ns3::gradsync
