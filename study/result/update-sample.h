// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_UPDATE_SAMPLE_H
#define GRADSYNC_UPDATE_SAMPLE_H

#include "ns3/asynchronous-job.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/**
 * The updates of an asynchronous job, of which there may be any number, in bounded memory: all of
 * them, or every second, fourth, ..., so that never more than `most` are kept.
 */
class UpdateSample
{
  public:
    explicit UpdateSample(size_t most = size_t{1} << 17)
        : m_most(most)
    {
    }

    void Add(const UpdateRecord& record)
    {
        if (m_count++ % m_step != 0)
        {
            return;
        }
        m_records.push_back(record);
        if (m_records.size() > m_most)
        {
            m_step *= 2;
            size_t kept = 0;
            for (size_t i = 0; i < m_records.size(); i += 2)
            {
                m_records[kept++] = m_records[i];
            }
            m_records.resize(kept);
        }
    }

    /// In order; the first is number 0.
    const std::vector<UpdateRecord>& Get() const
    {
        return m_records;
    }

    /// From the number of one of them to that of the next.
    uint64_t GetStep() const
    {
        return m_step;
    }

  private:
    size_t m_most;
    uint64_t m_count{0};
    uint64_t m_step{1};
    std::vector<UpdateRecord> m_records;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_UPDATE_SAMPLE_H
