// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PIECE_CREDIT_H
#define GRADSYNC_PIECE_CREDIT_H

#include "ns3/dataflow-builder.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/**
 * Limits the pieces of a gradient that a rank has on their way at once: it sends nothing of a piece
 * before it holds the sum of the one that came `credit` pieces earlier. So pieces are done in the
 * order in which they are added, and not all at the end.
 */
class PieceCredit
{
  public:
    /// \param credit pieces, 0: no limit; the builder must outlive this
    PieceCredit(DataflowBuilder& builder, uint32_t ranks, uint32_t credit);

    /// The operations from `begin` on to the last that was added are one piece.
    void AddPiece(OperationId begin);

  private:
    void HoldBack(OperationId begin, OperationId end, const std::vector<OperationId>& held);

    DataflowBuilder& m_builder;
    uint32_t m_ranks;
    uint32_t m_credit;
    /// [piece][rank]: done when the rank holds the sum; NO_OPERATION if nothing has to come
    std::vector<std::vector<OperationId>> m_held;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PIECE_CREDIT_H
