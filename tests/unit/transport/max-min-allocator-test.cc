// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/max-min-allocator.h"

#include <gtest/gtest.h>
#include <vector>

namespace ns3::gradsync
{
namespace
{

TEST(MaxMinAllocator, SharesOneLinkEvenlyAmongAllFlows)
{
    MaxMinAllocator allocator({12.0});
    const std::vector<MaxMinAllocator::Use> use{{0, 1.0}};
    const std::vector<uint32_t> active{allocator.AddClass(use), allocator.AddClass(use)};
    const std::vector<uint32_t> flows{1, 3};
    std::vector<double> rates(2);
    allocator.Allocate(active, flows, rates);
    // 12 over 4 flows, whatever class they are in.
    EXPECT_DOUBLE_EQ(rates[0], 3.0);
    EXPECT_DOUBLE_EQ(rates[1], 3.0);
}

TEST(MaxMinAllocator, GivesWhatABottleneckedFlowLeavesToTheOthers)
{
    // The textbook chain: flow 0 over links 0 and 1, flow 1 over link 0, flow 2 over link 1.
    MaxMinAllocator allocator({10.0, 4.0});
    const std::vector<MaxMinAllocator::Use> both{{0, 1.0}, {1, 1.0}};
    const std::vector<MaxMinAllocator::Use> first{{0, 1.0}};
    const std::vector<MaxMinAllocator::Use> second{{1, 1.0}};
    const std::vector<uint32_t> active{allocator.AddClass(both),
                                       allocator.AddClass(first),
                                       allocator.AddClass(second)};
    const std::vector<uint32_t> flows{1, 1, 1};
    std::vector<double> rates(3);
    allocator.Allocate(active, flows, rates);
    // Link 1 fills first at 4 / 2 = 2; flow 1 then has 10 - 2 = 8.
    EXPECT_DOUBLE_EQ(rates[0], 2.0);
    EXPECT_DOUBLE_EQ(rates[1], 8.0);
    EXPECT_DOUBLE_EQ(rates[2], 2.0);
}

TEST(MaxMinAllocator, CountsFractionalUseOfALink)
{
    // A flow split over two paths of capacity 3 each, behind a link of 10: it can have 3 / 0.5 = 6.
    MaxMinAllocator allocator({10.0, 3.0, 3.0});
    const std::vector<MaxMinAllocator::Use> split{{0, 1.0}, {1, 0.5}, {2, 0.5}};
    const std::vector<uint32_t> active{allocator.AddClass(split)};
    std::vector<double> rates(1);
    allocator.Allocate(active, std::vector<uint32_t>{1}, rates);
    EXPECT_DOUBLE_EQ(rates[0], 6.0);
}

TEST(MaxMinAllocator, LeavesInactiveClassesAlone)
{
    MaxMinAllocator allocator({10.0});
    const std::vector<MaxMinAllocator::Use> use{{0, 1.0}};
    allocator.AddClass(use);
    const std::vector<uint32_t> active{allocator.AddClass(use)};
    std::vector<double> rates{-1.0, 0.0};
    allocator.Allocate(active, std::vector<uint32_t>{0, 2}, rates);
    EXPECT_DOUBLE_EQ(rates[0], -1.0);
    EXPECT_DOUBLE_EQ(rates[1], 5.0);
    // And again with the other one: nothing is left over from the first allocation.
    allocator.Allocate(std::vector<uint32_t>{0}, std::vector<uint32_t>{1, 0}, rates);
    EXPECT_DOUBLE_EQ(rates[0], 10.0);
    EXPECT_DOUBLE_EQ(rates[1], 5.0);
}

} // namespace
} // namespace ns3::gradsync
