// SPDX-License-Identifier: GPL-2.0-only
// The plans of all schemes as an ns-3 TestSuite: proven to be all-reduces, counted against the
// closed forms of their papers.
#include "../oracles/oracle-run.h"
#include "../oracles/oracle-table.h"
#include "quick-duration.h"

#include "ns3/plan-statistics.h"
#include "ns3/plan-verifier.h"
#include "ns3/test.h"

#include <bit>

namespace ns3::gradsync
{
namespace
{

/// The plan of one oracle: verified, and counted.
class OraclePlanCase : public TestCase
{
  public:
    explicit OraclePlanCase(oracles::Oracle oracle)
        : TestCase("plan of " + oracle.name),
          m_oracle(std::move(oracle))
    {
    }

  private:
    void DoRun() override
    {
        const auto bytes = oracles::MakeExactScale(m_oracle.workers).gradientBytes;
        const auto plan = oracles::BuildOraclePlan(m_oracle, bytes);
        const auto verification = PlanVerifier().Verify(*plan);
        NS_TEST_ASSERT_MSG_EQ(
            verification.ok,
            true,
            m_oracle.name << ": "
                          << (verification.violations.empty() ? "" : verification.violations[0]));
        const auto statistics = ComputePlanStatistics(
            *plan,
            oracles::MakeRackGroups(m_oracle.racks, m_oracle.workers / m_oracle.racks, 1.0));
        if (m_oracle.crossRack)
        {
            NS_TEST_ASSERT_MSG_EQ(statistics.crossings.at(0).bytes,
                                  m_oracle.crossRack->Of(bytes),
                                  m_oracle.name << ": bytes across racks");
        }
        CheckForms(statistics, bytes);
    }

    void CheckForms(const PlanStatistics& statistics, uint64_t bytes)
    {
        const auto w = m_oracle.workers;
        const bool dedicated = statistics.sentBytes.size() > w;
        if (m_oracle.scheme == "hierarchical" || m_oracle.scheme == "k-nomial" || dedicated)
        {
            return; // not symmetric: no one form for all ranks
        }
        // Ring 2(w - 1) rounds; PS 2; recursive halving-doubling 2 log2 w, butterfly log2 w; PLink
        // 4; RAT 2(|l| + 1) with the one level of racks.
        const auto logarithm = static_cast<uint32_t>(std::bit_width(w) - 1);
        const uint32_t chain = m_oracle.scheme == "ring"               ? 2 * (w - 1)
                               : m_oracle.scheme == "ps"               ? 2
                               : m_oracle.scheme == "halving-doubling" ? 2 * logarithm
                               : m_oracle.scheme == "butterfly"        ? logarithm
                                                                       : 4;
        // ns-3's macros dereference a null pointer on purpose, to stop a debugger.
        // NOLINTBEGIN(clang-analyzer-core.NullDereference)
        NS_TEST_ASSERT_MSG_EQ(statistics.GetLongestChain(), chain, m_oracle.name << ": chain");
        // Every rank sends and receives (w - 1)K/w per phase, in the butterfly K per step.
        const uint64_t perRank =
            m_oracle.scheme == "butterfly" ? logarithm * bytes : 2 * (bytes / w) * (w - 1);
        for (uint32_t rank = 0; rank < w; ++rank)
        {
            NS_TEST_ASSERT_MSG_EQ(statistics.sentBytes[rank], perRank, m_oracle.name << ": sent");
            NS_TEST_ASSERT_MSG_EQ(statistics.receivedBytes[rank],
                                  perRank,
                                  m_oracle.name << ": received");
        }
        // NOLINTEND(clang-analyzer-core.NullDereference)
    }

    oracles::Oracle m_oracle;
};

/// Every scheme with its defaults, on worker counts and racks that are not round, where it can.
class AnySizeCase : public TestCase
{
  public:
    explicit AnySizeCase(const std::string& scheme)
        : TestCase("any size of " + scheme),
          m_scheme(scheme)
    {
    }

  private:
    void DoRun() override
    {
        const auto& scheme = *FindScheme(m_scheme);
        uint32_t verified = 0;
        for (uint32_t workers = 2; workers <= 13; ++workers)
        {
            SchemeRequest request;
            request.workers = workers;
            request.gradientBytes = 1000003; // a prime: no chunk count divides it
            // Racks of 3, the last one whatever is left.
            request.groups = oracles::MakeRackGroups((workers + 2) / 3, 3, 2.0);
            request.groups.levels[0].groupOf.resize(workers);
            request.parameters = MakeDefaultParameters(scheme);
            Plan plan;
            try
            {
                plan = scheme.build(request);
            }
            catch (const SchemeError&)
            {
                continue; // squares and equal racks only
            }
            ++verified;
            const auto verification = PlanVerifier().Verify(plan);
            NS_TEST_ASSERT_MSG_EQ(
                verification.ok,
                true,
                m_scheme << " with " << workers << " workers: "
                         << (verification.violations.empty() ? "" : verification.violations[0]));
        }
        // The pickiest one takes 4 and 9 workers.
        NS_TEST_ASSERT_MSG_GT(verified, 1u, m_scheme << ": too few plans");
    }

    std::string m_scheme;
};

class PlanSuite : public TestSuite
{
  public:
    PlanSuite()
        : TestSuite("gradsync-plan", TestSuite::Type::UNIT)
    {
        for (const auto& oracle : oracles::GetAllOracles())
        {
            AddTestCase(new OraclePlanCase(oracle), tests::GetQuick());
        }
        for (const auto& scheme : GetSchemes())
        {
            AddTestCase(new AnySizeCase(scheme.name), tests::GetQuick());
        }
    }
};

const PlanSuite g_planSuite;

} // namespace
} // namespace ns3::gradsync
