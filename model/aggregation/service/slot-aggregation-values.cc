// SPDX-License-Identifier: GPL-2.0-only
// The part of SlotAggregation that makes up what packets carry.
#include "ns3/slot-aggregation.h"

#include <limits>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

/// Factors of gradients before they are rounded, where protocols have one for all.
constexpr float PASSING_SCALE = 1e8F;
constexpr float ATP_SCALE = 1e6F;
/// Largest magnitude that ATP's scale leaves to a worker: a tenth of int32.
constexpr double ATP_MOST_SENT = 213.0;

} // namespace

void
SlotAggregation::MakeTensor(Session& session, const AggregationTensor::Shape& shape)
{
    if (m_values == VALUES_REAL)
    {
        session.tensor = std::make_unique<SlotTensor>(session.job.number, shape, m_valueBits);
    }
    if (m_values != VALUES_FLOAT)
    {
        return;
    }
    if (session.members.sharesExponents)
    {
        throw std::invalid_argument("the values are float, which become integers of 32 bits, but "
                                    "those of the codec are narrower");
    }
    const auto protocol = session.members.protocol;
    FloatTensor::Settings settings{.distribution =
                                       GetGradientDistributions()[static_cast<size_t>(m_gradients)],
                                   .factor = static_cast<float>(m_scale),
                                   .mostSent = std::numeric_limits<double>::infinity()};
    if (m_scale == 0.0)
    {
        settings.factor = session.members.server                      ? ATP_SCALE
                          : protocol == AggregationProtocol::SwitchMl ? 0.0F
                                                                      : PASSING_SCALE;
    }
    if (session.members.server)
    {
        settings.mostSent = ATP_MOST_SENT * ATP_SCALE / settings.factor;
    }
    session.tensor = std::make_unique<FloatTensor>(session.job.number, shape, settings);
}

} // namespace ns3::gradsync
