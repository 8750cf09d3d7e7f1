// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PACKET_SET_H
#define GRADSYNC_PACKET_SET_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace ns3::gradsync
{

/// Packet sequence numbers from a moving first one on; a byte for each number between the first and
/// the highest one in it.
class PacketSet
{
  public:
    bool Contains(uint32_t psn) const
    {
        return psn >= m_first && psn - m_first < m_flags.size() && m_flags[psn - m_first];
    }

    /// Numbers before the first one are taken to be in it already. \return whether it is new
    bool Insert(uint32_t psn)
    {
        if (psn < m_first || Contains(psn))
        {
            return false;
        }
        if (psn - m_first >= m_flags.size())
        {
            m_flags.resize(psn - m_first + size_t{1});
        }
        m_flags[psn - m_first] = true;
        return true;
    }

    /// Forgets all before `psn`, which becomes the first one.
    void AdvanceTo(uint32_t psn)
    {
        if (psn > m_first)
        {
            const auto passed = std::min<size_t>(psn - m_first, m_flags.size());
            m_flags.erase(m_flags.begin(), m_flags.begin() + static_cast<std::ptrdiff_t>(passed));
            m_first = psn;
        }
    }

    bool IsEmpty() const
    {
        return m_flags.empty();
    }

  private:
    uint32_t m_first{0};
    std::deque<bool> m_flags; //!< [psn - first]; the last one is true
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PACKET_SET_H
