// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_MESSAGE_SHAPES_H
#define GRADSYNC_MESSAGE_SHAPES_H

#include "ns3/message-series.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace ns3::gradsync
{

/**
 * Numbers what series of messages have in common, all but their first tag and their handler, so
 * that what waits names it in two bytes: an exchange has millions of series, and few shapes of
 * them.
 */
class MessageShapes
{
  public:
    /// False when there are too many.
    bool HasRoom() const
    {
        return m_shapes.size() < UINT16_MAX;
    }

    /// That of a series. Only when it HasRoom.
    uint16_t Provide(const MessageSeries& series)
    {
        const auto words = std::bit_cast<Words>(series.GetShape());
        auto& recent = m_recent[Hash(words)];
        if (recent.words != words)
        {
            recent = {words, Find(words, series.GetShape())};
        }
        return recent.number;
    }

    /// The series of a shape.
    MessageSeries Get(uint16_t number, uint64_t tag, MessageHandler* handler) const
    {
        return {m_shapes[number], tag, handler};
    }

    size_t GetSize() const
    {
        return m_shapes.size();
    }

    /// Forgets all.
    void Clear()
    {
        m_shapes.clear();
        m_numbers.clear();
        m_recent.fill({});
    }

  private:
    using Words = std::array<uint64_t, 2>; //!< all of a shape; that of no messages is zeros

    struct Recent
    {
        Words words{};
        uint16_t number{0};
    };

    static constexpr int RECENT_BITS = 6;

    static uint64_t Hash(const Words& words)
    {
        constexpr uint64_t MIX = 0x9e3779b97f4a7c15; // 2^64 / golden ratio: Knuth, TAOCP 3, 6.4
        return ((words[0] ^ std::rotl(words[1], 16)) * MIX) >> (64 - RECENT_BITS);
    }

    uint16_t Find(const Words& words, const MessageShape& shape)
    {
        const auto number = static_cast<uint16_t>(m_shapes.size());
        const auto [entry, isNew] = m_numbers.try_emplace(words, number);
        if (isNew)
        {
            m_shapes.push_back(shape);
        }
        return entry->second;
    }

    std::vector<MessageShape> m_shapes; //!< [number]
    std::map<Words, uint16_t> m_numbers;
    std::array<Recent, 1U << RECENT_BITS> m_recent{}; //!< [hash] asked for lately
};

} // namespace ns3::gradsync

#endif // GRADSYNC_MESSAGE_SHAPES_H
