// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ATP_SERVER_H
#define GRADSYNC_ATP_SERVER_H

#include "ns3/atp-header.h"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/**
 * ATP's parameter server: merges what reaches it, sums and single packets, by their bitmaps. A
 * partial sum counts only if none of its workers was counted before, because it cannot be taken
 * apart.
 *
 * A state machine without a network.
 */
class AtpServer
{
  public:
    /// What has come of one packet of the gradient.
    struct Entry
    {
        AtpHeader header; //!< bitmap and flags of all that was merged
        std::vector<int32_t> values;
        std::vector<double> floats; //!< sums of floats, of which `values` has the bits
    };

    /// \param all workers; \param window most packets that a worker has under way
    AtpServer(uint32_t all, uint32_t window);

    /// \returns what to answer: the sum, once all are in it, to everyone who asks; else nullptr
    const Entry* Merge(const AtpHeader& header, std::span<const int32_t> values);

    /// Packets that were not merged, because some of their workers were counted before.
    uint64_t GetOverlaps() const
    {
        return m_overlaps;
    }

  private:
    static void Add(Entry& entry, std::span<const int32_t> values);
    static void Forget(std::map<uint64_t, Entry>& entries, uint64_t before);

    uint32_t m_all;
    uint32_t m_window;
    std::map<uint64_t, Entry> m_entries; //!< by sequence number
    std::map<uint64_t, Entry> m_floats;  //!< what came as floats, likewise
    uint64_t m_overlaps{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ATP_SERVER_H
