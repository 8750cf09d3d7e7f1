// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/ecn-marker.h"

#include <algorithm>
#include <cmath>

namespace ns3::gradsync
{

EcnMarker::EcnMarker(const Config& config, int64_t stream)
    : m_config(config),
      m_random(CreateObject<UniformRandomVariable>())
{
    m_random->SetStream(stream);
    m_skip = DrawSkip();
}

double
EcnMarker::Draw()
{
    ++m_draws;
    return m_random->GetValue();
}

uint64_t
EcnMarker::DrawSkip()
{
    if (m_config.maxProbability >= 1.0)
    {
        return 0;
    }
    if (m_config.maxProbability <= 0.0)
    {
        return UINT64_MAX;
    }
    // P(skip >= n) = (1 - Pmax)^n.
    const auto skip = std::log(1.0 - Draw()) / std::log1p(-m_config.maxProbability);
    return static_cast<uint64_t>(std::min(skip, 1e18));
}

double
EcnMarker::GetProbability(uint64_t queueBytes) const
{
    const auto length = static_cast<double>(queueBytes);
    if (length <= m_config.minBytes)
    {
        return 0.0;
    }
    if (length > m_config.maxBytes)
    {
        return 1.0;
    }
    return m_config.maxProbability * (length - m_config.minBytes) /
           (m_config.maxBytes - m_config.minBytes);
}

bool
EcnMarker::IsMarked(uint64_t queueBytes)
{
    const auto probability = GetProbability(queueBytes);
    if (probability <= 0.0 || probability >= 1.0)
    {
        return probability > 0.0;
    }
    if (m_skip > 0)
    {
        --m_skip;
        return false;
    }
    m_skip = DrawSkip();
    return Draw() * m_config.maxProbability < probability;
}

} // namespace ns3::gradsync
