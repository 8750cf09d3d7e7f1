// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_HYPERCUBE_FOLD_H
#define GRADSYNC_HYPERCUBE_FOLD_H

#include "ns3/dataflow-builder.h"
#include "ns3/scheme-groups.h"

#include <cstdint>

namespace ns3::gradsync
{

/**
 * Makes a hypercube of any number of ranks: of 2^n + e ranks the first e pairs of neighbours are
 * folded. The second of a pair gives everything to the first before the exchange, and gets the
 * result back after it.
 */
class HypercubeFold
{
  public:
    /// \param workers at least 1
    explicit HypercubeFold(uint32_t workers);

    /// The 2^n ranks that exchange, in ascending order.
    const Ranks& GetMembers() const
    {
        return m_members;
    }

    /// n.
    uint32_t GetDimensions() const
    {
        return m_dimensions;
    }

    void AddBefore(DataflowBuilder& builder, uint32_t firstChunk, uint32_t chunkCount) const;
    void AddAfter(DataflowBuilder& builder, uint32_t firstChunk, uint32_t chunkCount) const;

  private:
    uint32_t m_dimensions;
    uint32_t m_folded; //!< pairs
    Ranks m_members;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_HYPERCUBE_FOLD_H
