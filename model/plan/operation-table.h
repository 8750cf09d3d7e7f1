// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_OPERATION_TABLE_H
#define GRADSYNC_OPERATION_TABLE_H

#include "ns3/made-range.h"
#include "ns3/operation.h"
#include "ns3/packed-rows.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace ns3::gradsync
{

/**
 * The operations of a plan, packed: those of a regular exchange take about half a byte each, which
 * also keeps them in the processor's caches.
 */
class OperationTable
{
  public:
    size_t GetSize() const
    {
        return m_rows.GetSize();
    }

    void Append(const Operation& operation)
    {
        const auto& buffers = operation.buffers;
        m_rows.Append({static_cast<uint32_t>(operation.kind) | uint32_t{buffers.src} << 8 |
                           uint32_t{buffers.dst} << 16,
                       operation.src,
                       operation.dst,
                       operation.firstChunk,
                       operation.chunkCount,
                       operation.stream});
    }

    /// Appends operations [first, last) again, each moving what is so many chunks further.
    void AppendAgain(size_t first, size_t last, uint32_t chunks)
    {
        m_rows.AppendAgain(first, last, {0, 0, 0, chunks, 0, 0});
    }

    Operation MakeItem(size_t id) const
    {
        return MakeOperation(m_rows.GetRow(id));
    }

    /// Calls visit(id, operation) for [first, last).
    template <typename Visit>
    void ForEachItem(size_t first, size_t last, const Visit& visit) const
    {
        m_rows.ForEachRow(first, last, [&visit](size_t id, const auto& row) {
            visit(id, MakeOperation(row));
        });
    }

    uint32_t GetSrc(size_t id) const
    {
        return m_rows.Get(id, SRC);
    }

    /// Calls visit(id, rank) for the first `count`.
    template <typename Visit>
    void ForEachSrc(size_t count, const Visit& visit) const
    {
        m_rows.ForEachValue(SRC, count, visit);
    }

    /// Likewise.
    template <typename Visit>
    void ForEachDst(size_t count, const Visit& visit) const
    {
        m_rows.ForEachValue(DST, count, visit);
    }

    void Trim()
    {
        m_rows.Trim();
    }

    uint64_t GetMemoryBytes() const
    {
        return m_rows.GetMemoryBytes();
    }

  private:
    static constexpr size_t SRC = 1; //!< its column
    static constexpr size_t DST = 2;

    static Operation MakeOperation(const PackedRows<6>::Row& row)
    {
        return {static_cast<OperationKind>(row[0] & 0xFF),
                {static_cast<uint8_t>(row[0] >> 8), static_cast<uint8_t>(row[0] >> 16)},
                row[SRC],
                row[DST],
                row[3],
                row[4],
                row[5]};
    }

    PackedRows<6> m_rows;
};

/// All operations, by id.
using OperationRange = MadeRange<OperationTable, Operation>;

/// Ids of operations in a row, packed likewise.
class OperationIdTable
{
  public:
    size_t GetSize() const
    {
        return m_rows.GetSize();
    }

    void Append(OperationId id)
    {
        m_rows.Append({id});
    }

    void AppendAll(std::span<const OperationId> ids)
    {
        m_rows.AppendAll(ids);
    }

    /// Appends the first `count` ids again, each so much higher.
    void AppendAgain(size_t count, uint32_t shift)
    {
        m_rows.AppendAgain(0, count, {shift});
    }

    OperationId MakeItem(size_t index) const
    {
        return m_rows.Get(index, 0);
    }

    /// Calls visit(index, id) for [first, last).
    template <typename Visit>
    void ForEachItem(size_t first, size_t last, const Visit& visit) const
    {
        m_rows.ForEachRow(first, last, [&visit](size_t index, const auto& row) {
            visit(index, row[0]);
        });
    }

    void Trim()
    {
        m_rows.Trim();
    }

    uint64_t GetMemoryBytes() const
    {
        return m_rows.GetMemoryBytes();
    }

  private:
    PackedRows<1> m_rows;
};

using OperationIdRange = MadeRange<OperationIdTable, OperationId>;

} // namespace ns3::gradsync

#endif // GRADSYNC_OPERATION_TABLE_H
