// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/ecn-marker.h"

#include <algorithm>
#include <cmath>

namespace ns3::gradsync
{

EcnMarker::EcnMarker(const Config& config, int64_t firstStream)
    : m_config(config),
      m_firstStream(firstStream)
{
}

/// Made when it draws first: of the ports of a large network few do.
EcnMarker::Draws&
EcnMarker::GetDraws(uint32_t port)
{
    if (port >= m_drawsOf.size())
    {
        m_drawsOf.resize(size_t{port} + 1);
    }
    auto& draws = m_drawsOf[port];
    if (!draws)
    {
        draws = std::make_unique<Draws>();
        draws->random = CreateObject<UniformRandomVariable>();
        draws->random->SetStream(m_firstStream + port);
        draws->skip = DrawSkip(*draws);
    }
    return *draws;
}

double
EcnMarker::Draw(Draws& draws)
{
    ++draws.count;
    return draws.random->GetValue();
}

uint64_t
EcnMarker::DrawSkip(Draws& draws) const
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
    const auto skip = std::log(1.0 - Draw(draws)) / std::log1p(-m_config.maxProbability);
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
EcnMarker::IsMarked(uint64_t queueBytes, uint32_t port)
{
    const auto probability = GetProbability(queueBytes);
    if (probability <= 0.0 || probability >= 1.0)
    {
        return probability > 0.0;
    }
    auto& draws = GetDraws(port);
    if (draws.skip > 0)
    {
        --draws.skip;
        return false;
    }
    draws.skip = DrawSkip(draws);
    return Draw(draws) * m_config.maxProbability < probability;
}

void
EcnMarker::AddState(StateWords& words) const
{
    for (size_t port = 0; port < m_drawsOf.size(); ++port)
    {
        if (const auto& draws = m_drawsOf[port])
        {
            words.Add(port);
            words.Add(draws->skip);
            words.Add(draws->count);
        }
    }
    words.EndList();
}

} // namespace ns3::gradsync
