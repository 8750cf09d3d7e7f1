// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/piece-credit.h"

#include <limits>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr OperationId NO_OPERATION = std::numeric_limits<OperationId>::max();

} // namespace

PieceCredit::PieceCredit(DataflowBuilder& builder, uint32_t ranks, uint32_t credit)
    : m_builder(builder),
      m_ranks(ranks),
      m_credit(credit)
{
}

void
PieceCredit::AddPiece(OperationId begin)
{
    if (m_credit == 0)
    {
        return;
    }
    const auto end = static_cast<OperationId>(m_builder.GetOperations().size());
    if (m_held.size() >= m_credit)
    {
        HoldBack(begin, end, m_held[m_held.size() - m_credit]);
    }
    std::vector<OperationId> held(m_ranks, NO_OPERATION);
    for (OperationId id = begin; id < end; ++id)
    {
        const auto operation = m_builder.GetOperations()[id];
        if (operation.kind != OperationKind::TransferCopy)
        {
            continue;
        }
        if (held[operation.dst] == NO_OPERATION)
        {
            held[operation.dst] = m_builder.AddJoin(operation.dst);
        }
        m_builder.AddEdge(id, held[operation.dst]);
    }
    m_held.push_back(std::move(held));
}

void
PieceCredit::HoldBack(OperationId begin, OperationId end, const std::vector<OperationId>& held)
{
    for (OperationId id = begin; id < end; ++id)
    {
        const auto& operation = m_builder.GetOperations()[id];
        if (operation.kind == OperationKind::TransferReduce && held[operation.src] != NO_OPERATION)
        {
            m_builder.AddEdge(held[operation.src], id);
        }
    }
}

} // namespace ns3::gradsync
