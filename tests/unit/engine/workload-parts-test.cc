// SPDX-License-Identifier: GPL-2.0-only
// Which communications of a workload several processes have in common. Part of engine-tests.
#include "support/workload-fixture.h"

#include "ns3/workload-parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;
using testing::Pair;

/// Four ranks, of which the first and the last two sum among themselves, then the even and the odd
/// ones, on a stream of that policy.
Workload
MakePairs(StreamPolicy policy)
{
    WorkloadBuilder builder(4, {{"communication", policy}});
    const auto plan = tests::MakePlan("ring", 2, 8);
    for (const auto& ranks :
         {std::vector<uint32_t>{0, 1}, {2, 3}, std::vector<uint32_t>{0, 2}, {1, 3}})
    {
        const auto id = builder.AddCommunication(builder.AddGroup(ranks), plan, "sum");
        for (const auto rank : ranks)
        {
            builder.AddPart(rank, 0, id);
        }
    }
    return builder.Build();
}

TEST(WorkloadParts, GroupsOfSeveralProcessesAreDivided)
{
    const auto workload = MakePairs(StreamPolicy::Program);
    const WorkloadParts parts(workload, {0, 0, 1, 1}, 0.0);
    std::vector<bool> isDivided;
    for (CommunicationId id = 0; id < 4; ++id)
    {
        isDivided.push_back(parts.IsDivided(id));
    }
    EXPECT_THAT(isDivided, ElementsAre(false, false, true, true));
}

TEST(WorkloadParts, SendersOfOtherProcessesAreToldAndWhatIsAlikeIsFoundOnce)
{
    const auto workload = MakePairs(StreamPolicy::Program);
    WorkloadParts parts(workload, {0, 0, 1, 1}, 0.0);
    const auto& ends = parts.GetEnds(2);
    EXPECT_EQ(&ends, &parts.GetEnds(3));
    const auto demands = ends.FindDemands();
    EXPECT_TRUE(demands.areAny);
    EXPECT_THAT(
        demands.receivers,
        ElementsAre(Pair(0, false), Pair(1, false))); // each receives from the other process
    EXPECT_TRUE(demands.obstacle.empty());
}

TEST(WorkloadParts, AgreementsAmongProcessesAreFound)
{
    const auto agreed = MakePairs(StreamPolicy::Fifo);
    EXPECT_EQ(WorkloadParts(agreed, {0, 0, 1, 1}, 0.0).FindAgreed(), 2U);
    EXPECT_EQ(WorkloadParts(agreed, {0, 0, 0, 0}, 0.0).FindAgreed(), std::nullopt);
    const auto alone = MakePairs(StreamPolicy::Program);
    EXPECT_EQ(WorkloadParts(alone, {0, 0, 1, 1}, 0.0).FindAgreed(), std::nullopt);
}

} // namespace
} // namespace ns3::gradsync
