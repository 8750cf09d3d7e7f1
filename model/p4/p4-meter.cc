// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-meter.h"

#include "ns3/p4-error.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Tokens that a rate has given by a time, as a number that no conversion overflows.
uint64_t
CountTokens(double tokensPerUs, uint64_t nowUs)
{
    constexpr double LARGEST = 9.0e18;
    return static_cast<uint64_t>(std::min(static_cast<double>(nowUs) * tokensPerUs, LARGEST));
}

} // namespace

P4MeterArrayState::P4MeterArrayState(const P4MeterArray& array)
    : m_array(array)
{
}

void
P4MeterArrayState::SetRates(uint32_t index, const std::vector<P4MeterRate>& rates)
{
    CheckIndex(index);
    m_meters[index] = MakeMeter(rates);
}

void
P4MeterArrayState::SetAllRates(const std::vector<P4MeterRate>& rates)
{
    m_untouched = MakeMeter(rates);
    m_meters.clear();
}

std::vector<P4MeterRate>
P4MeterArrayState::GetRates(uint32_t index) const
{
    std::vector<P4MeterRate> rates;
    CheckIndex(index);
    for (const auto& bucket : FindMeter(index))
    {
        rates.push_back(bucket.rate);
    }
    return rates;
}

void
P4MeterArrayState::ResetRates(uint32_t index)
{
    CheckIndex(index);
    m_meters[index].clear();
}

uint32_t
P4MeterArrayState::Execute(uint32_t index, uint64_t bytes, uint64_t nowUs)
{
    if (m_untouched.empty() && !m_meters.contains(index))
    {
        return 0;
    }
    Meter& meter = m_meters.try_emplace(index, m_untouched).first->second;
    const uint64_t wanted = m_array.countsBytes ? bytes : 1;
    for (size_t i = meter.size(); i-- > 0;)
    {
        Bucket& bucket = meter[i];
        const uint64_t arrived = CountTokens(bucket.rate.tokensPerUs, nowUs);
        bucket.tokens += std::min(arrived - std::min(bucket.arrived, arrived),
                                  bucket.rate.burst - bucket.tokens);
        bucket.arrived = arrived;
        if (bucket.tokens < wanted)
        {
            return static_cast<uint32_t>(i + 1);
        }
        bucket.tokens -= wanted;
    }
    return 0;
}

const P4MeterArrayState::Meter&
P4MeterArrayState::FindMeter(uint32_t index) const
{
    const auto found = m_meters.find(index);
    return found == m_meters.end() ? m_untouched : found->second;
}

void
P4MeterArrayState::CheckIndex(uint32_t index) const
{
    if (index >= m_array.size)
    {
        throw P4Error(m_array.name,
                      fmt::format("there is no meter {}; the array has {}", index, m_array.size));
    }
}

P4MeterArrayState::Meter
P4MeterArrayState::MakeMeter(const std::vector<P4MeterRate>& rates) const
{
    if (rates.size() != m_array.rates)
    {
        throw P4Error(m_array.name,
                      fmt::format("{} rates are expected, not {}", m_array.rates, rates.size()));
    }
    Meter meter;
    for (const auto& rate : rates)
    {
        if (!std::isfinite(rate.tokensPerUs) || rate.tokensPerUs < 0.0 ||
            (!meter.empty() && rate.tokensPerUs < meter.back().rate.tokensPerUs))
        {
            throw P4Error(m_array.name, "rates are numbers from 0 on, the lowest first");
        }
        meter.push_back({rate, rate.burst, 0});
    }
    return meter;
}

} // namespace ns3::gradsync
