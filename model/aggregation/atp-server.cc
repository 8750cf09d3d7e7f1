// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/atp-server.h"

#include "ns3/atp-switch.h"

namespace ns3::gradsync
{

AtpServer::AtpServer(uint32_t all, uint32_t window)
    : m_all(all),
      m_window(window)
{
}

const AtpServer::Entry*
AtpServer::Merge(const AtpHeader& header, std::span<const int32_t> values)
{
    const auto [found, isNew] = m_entries.try_emplace(header.sequence);
    auto& entry = found->second;
    if (isNew)
    {
        entry.header = header;
        entry.values.assign(values.begin(), values.end());
        ++m_merged;
    }
    else if ((entry.header.bitmap & header.bitmap) == 0)
    {
        entry.header.bitmap |= header.bitmap;
        entry.header.isCongested |= header.isCongested;
        entry.header.hasOverflowed |= header.hasOverflowed;
        entry.header.hasOverflowed |= AddWrapping(entry.values, values);
        ++m_merged;
    }
    else
    {
        ++m_overlaps;
    }
    if (entry.header.bitmap != m_all)
    {
        return nullptr;
    }
    // Who sends packet s has the answer to all up to s - window, and so has everyone who has sent
    // packet s - window. Nobody asks for what is two windows behind.
    while (m_entries.begin()->first + 2 * m_window < header.sequence)
    {
        m_entries.erase(m_entries.begin());
    }
    return &entry;
}

} // namespace ns3::gradsync
