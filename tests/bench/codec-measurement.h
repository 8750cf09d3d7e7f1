// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CODEC_MEASUREMENT_H
#define GRADSYNC_CODEC_MEASUREMENT_H

#include "ns3/parallel-ranges.h"

#include <algorithm>
#include <fstream>
#include <random>
#include <string>
#include <vector>

/// What the benchmarks of codecs have in common.
namespace ns3::gradsync
{

/// Empties the caches by filling them with something else.
class CacheFlusher
{
  public:
    void Flush()
    {
        ForEachRange(m_bytes.size(), 64, 0, [this](const ElementRange& range) {
            for (uint64_t i = range.begin; i < range.end; i += 64)
            {
                ++m_bytes[i];
            }
        });
    }

  private:
    /// More than any last-level cache share of a core.
    static constexpr uint64_t FLUSH_BYTES = 96ULL << 20;

    std::vector<unsigned char> m_bytes = std::vector<unsigned char>(FLUSH_BYTES);
};

/// Normal, standard deviation 0.01, seed 1.
inline std::vector<float>
MakeBenchGradient(uint64_t elements)
{
    std::mt19937 generator(1);
    std::normal_distribution<float> normal(0.0F, 0.01F);
    std::vector<float> values(elements);
    std::generate(values.begin(), values.end(), [&] { return normal(generator); });
    return values;
}

inline std::string
GetProcessorName()
{
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
    {
        if (line.rfind("model name", 0) == 0)
        {
            return line.substr(line.find(':') + 2);
        }
    }
    return "unknown processor";
}

} // namespace ns3::gradsync

#endif // GRADSYNC_CODEC_MEASUREMENT_H
