// SPDX-License-Identifier: GPL-2.0-only
// The oracles on the ideal network, as an ns-3 TestSuite. Leaves the clock's resolution to the
// process it runs in: the exchanges take minutes, so that nanoseconds are enough.
#include "../oracles/oracle-run.h"
#include "../oracles/oracle-table.h"
#include "quick-duration.h"

#include "ns3/fluid-transport.h"
#include "ns3/test.h"

namespace ns3::gradsync
{
namespace
{

class FluidOracleCase : public TestCase
{
  public:
    explicit FluidOracleCase(oracles::Oracle oracle)
        : TestCase("fluid " + oracle.name),
          m_oracle(std::move(oracle))
    {
    }

  private:
    void DoRun() override
    {
        const auto scale = oracles::MakeExactScale(m_oracle.workers);
        const auto result = oracles::RunOracle(m_oracle, CreateObject<FluidTransport>(), scale);
        NS_TEST_ASSERT_MSG_EQ(result.failure, "", m_oracle.name << " did not finish");
        const auto expected = m_oracle.time.GetValue();
        NS_TEST_ASSERT_MSG_EQ_TOL(result.timeInTau,
                                  expected,
                                  1e-9 * expected,
                                  m_oracle.name << ": time in tau");
        if (m_oracle.crossRack)
        {
            NS_TEST_ASSERT_MSG_EQ(result.crossRackBytes,
                                  m_oracle.crossRack->Of(scale.gradientBytes),
                                  m_oracle.name << ": bytes across racks");
        }
    }

    oracles::Oracle m_oracle;
};

class OracleSuite : public TestSuite
{
  public:
    OracleSuite()
        : TestSuite("gradsync-oracle", TestSuite::Type::UNIT)
    {
        for (const auto& oracle : oracles::GetAllOracles())
        {
            AddTestCase(new FluidOracleCase(oracle), tests::GetQuick());
        }
    }
};

const OracleSuite g_oracleSuite;

} // namespace
} // namespace ns3::gradsync
