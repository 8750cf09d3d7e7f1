// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PACKET_TALLY_H
#define GRADSYNC_PACKET_TALLY_H

#include <cstdint>
#include <set>

namespace ns3::gradsync
{

/// Numbers of packets, each of which is taken once, about in order.
class PacketTally
{
  public:
    /// \returns whether it is new
    bool Take(uint64_t number)
    {
        if (number < m_first || !m_ahead.insert(number).second)
        {
            return false;
        }
        while (!m_ahead.empty() && *m_ahead.begin() == m_first)
        {
            m_ahead.erase(m_ahead.begin());
            ++m_first;
        }
        return true;
    }

    /// All before this one were taken.
    uint64_t GetFirstMissing() const
    {
        return m_first;
    }

  private:
    uint64_t m_first{0};
    std::set<uint64_t> m_ahead; //!< beyond it
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PACKET_TALLY_H
