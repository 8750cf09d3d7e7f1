// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_COLLECTIVE_H
#define GRADSYNC_COLLECTIVE_H

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * What an exchange is for: which workers contribute to a chunk at the start, and which hold the sum
 * of these contributions at the end. Both are one worker or all of them, for each chunk apart.
 *
 * The default is an all-reduce: all contribute, all want the sum.
 */
class Collective
{
  public:
    /// In place of a worker: all of them.
    static constexpr uint32_t ALL = std::numeric_limits<uint32_t>::max();

    enum class Sum : uint8_t
    {
        Exact,     //!< a contribution must not be added twice
        Idempotent //!< it may be: adding it again changes nothing (the tokens of a barrier)
    };

    Collective() = default;

    /**
     * \param name as messages have it, "all-gather"
     * \param sources [chunk] -> the worker that contributes, or ALL; one entry stands for all
     * chunks \param targets [chunk] -> the worker that wants the sum, likewise
     */
    Collective(std::string name,
               std::vector<uint32_t> sources,
               std::vector<uint32_t> targets,
               Sum sum = Sum::Exact);

    const std::string& GetName() const
    {
        return m_name;
    }

    /// The name with its article: "an all-gather".
    std::string GetTitle() const;

    /// Whether all contribute to all chunks and all want their sum.
    bool IsAllReduce() const
    {
        const std::vector<uint32_t> all{ALL};
        return m_sources == all && m_targets == all && m_sum == Sum::Exact;
    }

    uint32_t GetSource(uint32_t chunk) const
    {
        return m_sources[m_sources.size() == 1 ? 0 : chunk];
    }

    uint32_t GetTarget(uint32_t chunk) const
    {
        return m_targets[m_targets.size() == 1 ? 0 : chunk];
    }

    Sum GetSum() const
    {
        return m_sum;
    }

    /// Whether sources and targets are given for that many chunks and are among that many workers.
    bool Fits(uint32_t workers, uint32_t chunks) const;

    /// Heap bytes held, the name apart.
    uint64_t GetMemoryBytes() const;

  private:
    std::string m_name{"all-reduce"};
    std::vector<uint32_t> m_sources{ALL};
    std::vector<uint32_t> m_targets{ALL};
    Sum m_sum{Sum::Exact};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_COLLECTIVE_H
