// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_CONTENTS_H
#define GRADSYNC_AGGREGATION_CONTENTS_H

#include "ns3/byte-batch.h"
#include "ns3/fabric-packet.h"
#include "ns3/switch-program.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

namespace ns3::gradsync
{

/// Of a number that switches add.
inline constexpr uint64_t BYTES_PER_VALUE = 4;

/// What a packet of an aggregation carries.
struct AggregationPacket
{
    /// In place of the number of a driver: what a P4 program sent, and none of ours can read.
    static constexpr uint8_t NO_DRIVER = UINT8_MAX;
    static constexpr size_t HEADER_BYTES = 48;

    uint8_t driver{NO_DRIVER};                            //!< number of the one whose packet it is
    alignas(8) std::array<std::byte, HEADER_BYTES> bytes; //!< of its header
    std::vector<int32_t> values;                          //!< empty where only sizes matter
    /// Of a P4 program: the packet as it left the switch `framedBy`, without FCS; else empty.
    std::vector<uint8_t> frame;
    uint32_t framedBy{0};

    /// The header, which is of this type by the protocol of the packet's driver.
    template <typename T>
    T& As()
    {
        CheckHeader<T>();
        return *std::launder(reinterpret_cast<T*>(bytes.data()));
    }

    template <typename T>
    const T& As() const
    {
        CheckHeader<T>();
        return *std::launder(reinterpret_cast<const T*>(bytes.data()));
    }

  private:
    template <typename T>
    static constexpr void CheckHeader()
    {
        static_assert(std::is_trivially_copyable_v<T>);
        static_assert(sizeof(T) <= HEADER_BYTES && alignof(T) <= 8);
    }
};

/// The contents of all packets of aggregations that are in a fabric.
class AggregationContents final : public PacketContents
{
  public:
    /// Gives a packet contents, with whatever their last user left in them, but no frame.
    AggregationPacket& Attach(FabricPacket& packet)
    {
        packet.feedback = Take();
        packet.flags = PacketFlag::PROGRAM;
        m_packets[packet.feedback].frame.clear();
        return m_packets[packet.feedback];
    }

    AggregationPacket& Get(const FabricPacket& packet)
    {
        return m_packets[packet.feedback];
    }

    void Release(uint32_t contents) override
    {
        m_unused.push_back(contents);
    }

    void Write(uint32_t contents, ByteBatch& batch) const override
    {
        const auto& packet = m_packets[contents];
        AppendPlain(batch, packet.driver);
        AppendPlain(batch, packet.bytes);
        AppendList(batch, std::span<const int32_t>(packet.values));
        AppendList(batch, std::span<const uint8_t>(packet.frame));
        AppendPlain(batch, packet.framedBy);
    }

    uint32_t Read(BatchReader& batch) override
    {
        const auto contents = Take();
        auto& packet = m_packets[contents];
        packet.driver = batch.Take<uint8_t>();
        packet.bytes = batch.Take<decltype(packet.bytes)>();
        packet.values = batch.TakeList<int32_t>();
        packet.frame = batch.TakeList<uint8_t>();
        packet.framedBy = batch.Take<uint32_t>();
        return contents;
    }

  private:
    uint32_t Take()
    {
        if (m_unused.empty())
        {
            m_unused.push_back(static_cast<uint32_t>(m_packets.size()));
            m_packets.emplace_back();
        }
        const auto taken = m_unused.back();
        m_unused.pop_back();
        return taken;
    }

    std::deque<AggregationPacket> m_packets; //!< a deque: references stay valid
    std::vector<uint32_t> m_unused;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_CONTENTS_H
