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
    EXPECT_GE(result.timeInTau, result.boundInTau * (1 - 1e-9));
    if (oracle.crossRack)
    {
        EXPECT_EQ(result.crossRackBytes, oracle.crossRack->Of(scale.gradientBytes));
    }
}

/// Schemes that the reference calls optimal here.
using OptimalOracle = FluidOracle;

TEST_P(OptimalOracle, MeetsTheBoundOfAnyAllReduce)
{
    const auto& oracle = GetParam();
    const auto result = oracles::RunOracle(oracle,
                                           CreateObject<FluidTransport>(),
                                           oracles::MakeExactScale(oracle.workers));
    EXPECT_NEAR(result.timeInTau, result.boundInTau, 1e-9 * result.boundInTau);
}

std::string
GetCaseName(const testing::TestParamInfo<oracles::Oracle>& info)
{
    return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(DedicatedPs,
                         FluidOracle,
                         testing::ValuesIn(oracles::GetDedicatedPsOracles()),
                         GetCaseName);
// 2(w-1)/w where the hosts decide, at 1:1 or in RAT's case below 4:1; 2 where two racks do, at 2:1.
INSTANTIATE_TEST_SUITE_P(
    Reference,
    OptimalOracle,
    testing::Values(
        oracles::Oracle{"ring", "ring", 4, 2, 1, {}, {3, 2}, {}},
        oracles::Oracle{"rhd", "halving-doubling", 8, 2, 1, {}, {7, 4}, {}},
        oracles::Oracle{"rat", "rat", 8, 2, 4, oracles::RatParameters(4, false), {7, 4}, {}},
        oracles::Oracle{"racks", "ring", 2, 2, 2, {}, {2}, {}}),
    GetCaseName);
INSTANTIATE_TEST_SUITE_P(Racks,
                         FluidOracle,
                         testing::ValuesIn(oracles::GetRackOracles()),
                         GetCaseName);
INSTANTIATE_TEST_SUITE_P(Hypercube,
                         FluidOracle,
                         testing::ValuesIn(oracles::GetHypercubeOracles()),
                         GetCaseName);
INSTANTIATE_TEST_SUITE_P(SubChunks,
                         FluidOracle,
                         testing::ValuesIn(oracles::GetSubChunkOracles()),
                         GetCaseName);
INSTANTIATE_TEST_SUITE_P(Hierarchical,
                         FluidOracle,
                         testing::ValuesIn(oracles::GetHierarchicalOracles()),
                         GetCaseName);
INSTANTIATE_TEST_SUITE_P(Study,
                         FluidOracle,
                         testing::ValuesIn(oracles::GetStudyOracles()),
                         GetCaseName);

} // namespace
} // namespace ns3::gradsync
