// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/atp-server.h"

#include "ns3/wrapping-sum.h"

#include <bit>

namespace ns3::gradsync
{

AtpServer::AtpServer(uint32_t all, uint32_t window)
    : m_all(all),
      m_window(window)
{
}

/// Floats in double, so that the order in which they come hardly matters.
void
AtpServer::Add(Entry& entry, std::span<const int32_t> values)
{
    if (!entry.header.isFloat)
    {
        entry.header.hasOverflowed |= AddWrapping(entry.values, values);
        return;
    }
    for (size_t i = 0; i < values.size(); ++i)
    {
        entry.floats[i] += std::bit_cast<float>(values[i]);
        entry.values[i] = std::bit_cast<int32_t>(static_cast<float>(entry.floats[i]));
    }
}

void
AtpServer::Forget(std::map<uint64_t, Entry>& entries, uint64_t before)
{
    while (!entries.empty() && entries.begin()->first < before)
    {
        entries.erase(entries.begin());
    }
}

const AtpServer::Entry*
AtpServer::Merge(const AtpHeader& header, std::span<const int32_t> values)
{
    auto& entries = header.isFloat ? m_floats : m_entries;
    const auto [found, isNew] = entries.try_emplace(header.sequence);
    auto& entry = found->second;
    if (isNew)
    {
        entry.header = header;
        entry.values.assign(values.size(), 0);
        entry.floats.assign(header.isFloat ? values.size() : 0, 0.0);
        Add(entry, values);
    }
    else if ((entry.header.bitmap & header.bitmap) == 0)
    {
        entry.header.bitmap |= header.bitmap;
        entry.header.isCongested |= header.isCongested;
        entry.header.hasOverflowed |= header.hasOverflowed;
        Add(entry, values);
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
    const auto asked = uint64_t{2} * m_window;
    if (header.sequence > asked)
    {
        Forget(m_entries, header.sequence - asked);
        Forget(m_floats, header.sequence - asked);
    }
    return &entry;
}

} // namespace ns3::gradsync
