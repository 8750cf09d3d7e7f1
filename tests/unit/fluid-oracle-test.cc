// SPDX-License-Identifier: GPL-2.0-only
// Every oracle of the table, plan to transport, on the ideal network.
#include "oracles/oracle-run.h"
#include "oracles/oracle-table.h"
#include "support/picosecond-clock.h"

#include "ns3/fluid-transport.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace ns3::gradsync
{

// Found by GoogleTest: a failure names the oracle and not its bytes.
namespace oracles
{
void
PrintTo(const Oracle& oracle, std::ostream* stream)
{
    *stream << oracle.name;
}
} // namespace oracles

namespace
{

class FluidOracle : public testing::TestWithParam<oracles::Oracle>
{
  protected:
    static void SetUpTestSuite()
    {
        tests::UsePicoseconds();
    }
};

TEST_P(FluidOracle, TakesTheTimeAndCrossesRacksWithTheBytesOfTheTable)
{
    const auto& oracle = GetParam();
    const auto scale = oracles::MakeExactScale(oracle.workers);
    const auto result = oracles::RunOracle(oracle, CreateObject<FluidTransport>(), scale);
    ASSERT_EQ(result.failure, "");
    const auto expected = oracle.time.GetValue();
    EXPECT_NEAR(result.timeInTau, expected, 1e-9 * expected);
    if (oracle.crossRack)
    {
        EXPECT_EQ(result.crossRackBytes, oracle.crossRack->Of(scale.gradientBytes));
    }
}

std::string
GetName(const testing::TestParamInfo<oracles::Oracle>& info)
{
    return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(DedicatedPs,
                         FluidOracle,
                         testing::ValuesIn(oracles::GetDedicatedPsOracles()),
                         GetName);
INSTANTIATE_TEST_SUITE_P(Racks, FluidOracle, testing::ValuesIn(oracles::GetRackOracles()), GetName);
INSTANTIATE_TEST_SUITE_P(Hypercube,
                         FluidOracle,
                         testing::ValuesIn(oracles::GetHypercubeOracles()),
                         GetName);
INSTANTIATE_TEST_SUITE_P(SubChunks,
                         FluidOracle,
                         testing::ValuesIn(oracles::GetSubChunkOracles()),
                         GetName);
INSTANTIATE_TEST_SUITE_P(Hierarchical,
                         FluidOracle,
                         testing::ValuesIn(oracles::GetHierarchicalOracles()),
                         GetName);
INSTANTIATE_TEST_SUITE_P(Study,
                         FluidOracle,
                         testing::ValuesIn(oracles::GetStudyOracles()),
                         GetName);

} // namespace
} // namespace ns3::gradsync
