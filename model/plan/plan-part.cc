// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-part.h"

#include "ns3/plan-builder.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

constexpr uint32_t NONE = std::numeric_limits<uint32_t>::max();

/// Copies the operations that are not left out into a plan of its own.
class PartBuilder
{
  public:
    PartBuilder(const Plan& plan, const std::vector<bool>& isLost)
        : m_plan(plan),
          m_isLeftOut(FindLeftOut(plan, isLost)),
          m_rankOf(plan.GetRankCount(), NONE),
          m_idOf(plan.GetOperations().size(), NONE)
    {
        for (uint32_t rank = 0; rank < plan.GetRankCount(); ++rank)
        {
            if (!isLost[rank])
            {
                m_rankOf[rank] = m_ranks++;
                m_workers += rank < plan.GetWorkerCount() ? 1 : 0;
            }
        }
    }

    PlanPart Make()
    {
        PlanBuilder builder(m_ranks, m_workers, m_plan.GetLayout());
        PlanPart part;
        for (OperationId id = 0; id < m_idOf.size(); ++id)
        {
            if (!m_isLeftOut[id])
            {
                m_idOf[id] = AddOperation(id, builder);
                part.operations.push_back(id);
            }
        }
        for (const auto id : part.operations)
        {
            for (const auto later : m_plan.GetSuccessors(id))
            {
                if (!m_isLeftOut[later])
                {
                    builder.AddEdge(m_idOf[id], m_idOf[later]);
                }
            }
        }
        AddAnswers(builder);
        part.plan = builder.Build();
        return part;
    }

  private:
    OperationId AddOperation(OperationId id, PlanBuilder& builder) const
    {
        auto operation = m_plan.GetOperations()[id];
        operation.src = m_rankOf[operation.src];
        operation.dst = m_rankOf[operation.dst];
        if (operation.IsCompute())
        {
            return builder.AddCompute(operation.kind,
                                      operation.src,
                                      m_plan.GetComputePicoseconds(id),
                                      operation.firstChunk);
        }
        if (operation.kind == OperationKind::Gate)
        {
            return builder.AddGate(operation.src,
                                   CountAnswers(),
                                   m_plan.GetGate()->timeoutPicoseconds);
        }
        const auto added = builder.AddLike(operation);
        if (m_plan.IsCompressed() && operation.IsMove())
        {
            builder.SetMessageBytes(added, m_plan.GetBytes(id));
        }
        return added;
    }

    /// In the part they are all there.
    uint32_t CountAnswers() const
    {
        const auto& answers = m_plan.GetGate()->answers;
        return static_cast<uint32_t>(
            std::count_if(answers.begin(), answers.end(), [this](const auto& answer) {
                return m_rankOf[answer.worker] != NONE;
            }));
    }

    void AddAnswers(PlanBuilder& builder) const
    {
        if (!m_plan.GetGate())
        {
            return;
        }
        for (const auto& answer : m_plan.GetGate()->answers)
        {
            if (m_rankOf[answer.worker] != NONE)
            {
                builder.AddAnswer(m_idOf[answer.operation], m_rankOf[answer.worker]);
            }
        }
    }

    const Plan& m_plan;
    std::vector<bool> m_isLeftOut;
    std::vector<uint32_t> m_rankOf; //!< [rank of the whole] -> of the part, or NONE
    std::vector<OperationId> m_idOf;
    uint32_t m_ranks{0};
    uint32_t m_workers{0};
};

} // namespace

std::vector<bool>
FindLeftOut(const Plan& plan, const std::vector<bool>& isLost)
{
    const auto operations = plan.GetOperations();
    std::vector<bool> isLeftOut(operations.size(), false);
    std::vector<OperationId> found;
    const auto leaveOut = [&](OperationId id) {
        if (!isLeftOut[id])
        {
            isLeftOut[id] = true;
            found.push_back(id);
        }
    };
    for (OperationId id = 0; id < operations.size(); ++id)
    {
        if (isLost[operations[id].src] || isLost[operations[id].dst])
        {
            leaveOut(id);
        }
    }
    while (!found.empty())
    {
        const auto id = found.back();
        found.pop_back();
        for (const auto later : plan.GetSuccessors(id))
        {
            if (operations[later].kind != OperationKind::Gate)
            {
                leaveOut(later);
            }
        }
    }
    return isLeftOut;
}

PlanPart
MakePlanPart(const Plan& plan, const std::vector<bool>& isLost)
{
    if (!plan.GetCollective().IsAllReduce() || plan.HasAggregations())
    {
        throw std::logic_error("plan: only an all-reduce of messages has parts for fewer ranks");
    }
    return PartBuilder(plan, isLost).Make();
}

} // namespace ns3::gradsync
