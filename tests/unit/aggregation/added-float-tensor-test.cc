// SPDX-License-Identifier: GPL-2.0-only
// What counts as the sum of floats that switches add as they come. Part of aggregation-tests.
#include "ns3/added-float-tensor.h"
#include "ns3/float-sum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <gmock/gmock.h>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;

constexpr uint16_t VALUES = 16;

class AddedFloatTensorTest : public testing::TestWithParam<uint32_t>
{
  protected:
    static AddedFloatTensor MakeTensor(uint32_t workers)
    {
        return {7, {workers, VALUES, false}, GetGradientDistributions()[2]};
    }

    /// Float32 to float32.
    static std::vector<int32_t> Add(AddedFloatTensor& tensor,
                                    uint64_t block,
                                    const std::vector<uint32_t>& order)
    {
        std::vector<int32_t> sum;
        std::vector<int32_t> values;
        for (const auto worker : order)
        {
            tensor.Fill(worker, block, values);
            if (sum.empty())
            {
                sum = values;
                continue;
            }
            AddFloats(sum, values);
        }
        return sum;
    }

    static std::vector<uint32_t> MakeOrder(uint32_t workers)
    {
        std::vector<uint32_t> order(workers);
        std::iota(order.begin(), order.end(), 0U);
        return order;
    }
};

TEST_P(AddedFloatTensorTest, TakesSumsInAnyOrder)
{
    const auto workers = GetParam();
    auto tensor = MakeTensor(workers);
    auto order = MakeOrder(workers);
    std::mt19937 random(workers);
    for (uint64_t block = 0; block < 50; ++block)
    {
        std::shuffle(order.begin(), order.end(), random);
        const auto sum = Add(tensor, block, order);
        EXPECT_EQ(tensor.Check(block, sum, false), SumVerdict::Exact);
        EXPECT_EQ(tensor.Check(block + 1, sum, false),
                  SumVerdict::Wrong); // it is not that of others
    }
}

TEST_P(AddedFloatTensorTest, RefusesWhatRoundingCannotMake)
{
    // With g = (n - 1) u / (1 - (n - 1) u) a sum is off by g times the magnitudes at most, plus
    // what float64 rounds: beyond twice that, and half a unit in the last place of the float, it is
    // wrong.
    const auto workers = GetParam();
    auto tensor = MakeTensor(workers);
    const auto right = Add(tensor, 3, MakeOrder(workers));
    std::vector<double> magnitudes(VALUES);
    for (uint32_t worker = 0; worker < workers; ++worker)
    {
        const auto gradient = tensor.GetGradient(worker, 3);
        for (uint16_t i = 0; i < VALUES; ++i)
        {
            magnitudes[i] += std::abs(gradient[i]);
        }
    }
    const double g = (workers - 1) * 0x1p-24 / (1 - (workers - 1) * 0x1p-24);
    for (uint16_t place = 0; place < VALUES; ++place)
    {
        const double value = std::bit_cast<float>(right[place]);
        const double off = 2.1 * g * magnitudes[place] + std::abs(value) * 0x1p-23;
        for (const auto wrong : {static_cast<float>(value + off),
                                 static_cast<float>(value - off),
                                 std::numeric_limits<float>::quiet_NaN(),
                                 std::numeric_limits<float>::infinity()})
        {
            auto sum = right;
            sum[place] = std::bit_cast<int32_t>(wrong);
            EXPECT_EQ(tensor.Check(3, sum, false), SumVerdict::Wrong) << place << ' ' << wrong;
            EXPECT_THAT(tensor.DescribeDifference(3, sum),
                        HasSubstr("value " + std::to_string(place) + " of packet 3 is "));
        }
    }
    EXPECT_EQ(tensor.Check(3, right, false), SumVerdict::Exact);
}

TEST_P(AddedFloatTensorTest, RefusesOtherLengths)
{
    auto tensor = MakeTensor(GetParam());
    auto sum = Add(tensor, 0, MakeOrder(GetParam()));
    sum.pop_back();
    EXPECT_EQ(tensor.Check(0, sum, false), SumVerdict::Wrong);
    EXPECT_EQ(tensor.DescribeDifference(0, sum), "packet 0 has 15 values, not 16");
}

INSTANTIATE_TEST_SUITE_P(Workers, AddedFloatTensorTest, testing::Values(1U, 2U, 3U, 8U, 37U));

} // namespace
} // namespace ns3::gradsync
