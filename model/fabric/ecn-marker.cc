// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/ecn-marker.h"

namespace ns3::gradsync
{

EcnMarker::EcnMarker(const Config& config, int64_t stream)
    : m_config(config),
      m_random(CreateObject<UniformRandomVariable>())
{
    m_random->SetStream(stream);
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
    return probability >= 1.0 || (probability > 0.0 && m_random->GetValue() < probability);
}

} // namespace ns3::gradsync
