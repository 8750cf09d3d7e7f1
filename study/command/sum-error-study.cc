// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/sum-error-study.h"

#include "ns3/gradient-distribution.h"
#include "ns3/quantisers.h"
#include "ns3/slot-switch.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

namespace
{

std::vector<std::vector<float>>
DrawGradients(const std::string& title, uint32_t workers, uint32_t elements, uint64_t seed)
{
    std::vector<std::vector<float>> gradients(workers, std::vector<float>(elements));
    std::mt19937_64 random(seed);
    const auto distribution =
        std::ranges::find(GetGradientDistributions(), title, &GradientDistribution::title);
    for (auto& gradient : gradients)
    {
        std::ranges::generate(gradient,
                              [&] { return static_cast<float>(distribution->draw(random)); });
    }
    return gradients;
}

} // namespace

std::vector<std::string>
SumErrorStudy::ListDistributions()
{
    std::vector<std::string> titles;
    for (const auto& distribution : GetGradientDistributions())
    {
        titles.emplace_back(distribution.title);
    }
    return titles;
}

SumErrorStudy::SumErrorStudy(const std::string& distribution,
                             uint32_t workers,
                             uint32_t elements,
                             uint64_t seed)
    : SumErrorStudy(DrawGradients(distribution, workers, elements, seed))
{
}

SumErrorStudy::SumErrorStudy(std::vector<std::vector<float>> gradients)
    : m_gradients(std::move(gradients))
{
    if (m_gradients.empty() || m_gradients.size() > SlotSwitch::MAX_WORKERS ||
        m_gradients.front().empty() || m_gradients.front().size() % PACKET_VALUES != 0 ||
        m_gradients.front().size() > (1U << 22))
    {
        throw std::invalid_argument("SumErrorStudy: workers or elements out of range");
    }
    m_sums.resize(m_gradients.front().size());
    for (const auto& gradient : m_gradients)
    {
        std::ranges::transform(m_sums, gradient, m_sums.begin(), std::plus<double>());
    }
}

SumErrors
SumErrorStudy::MeasureFactor(float factor) const
{
    Codes codes(m_gradients.size(), std::vector<int32_t>(m_sums.size()));
    for (size_t worker = 0; worker < codes.size(); ++worker)
    {
        EncodeFixedPoints(m_gradients[worker], factor, codes[worker], 1);
    }
    std::vector<float> decoded(m_sums.size());
    DecodeFixedPoints(Aggregate(codes), factor, decoded, 1);
    auto errors = Compare(decoded);
    for (const double sum : m_sums)
    {
        errors.overflows += std::abs(sum) * factor > std::numeric_limits<int32_t>::max() ? 1 : 0;
    }
    return errors;
}

SumErrors
SumErrorStudy::MeasureExponents() const
{
    const auto workers = static_cast<uint32_t>(m_gradients.size());
    std::vector<int8_t> largest(CountBlocks(m_sums.size(), PACKET_VALUES),
                                std::numeric_limits<int8_t>::min());
    for (const auto& gradient : m_gradients)
    {
        std::vector<int8_t> exponents(largest.size());
        FindPacketExponents(gradient, PACKET_VALUES, exponents, 1);
        std::ranges::transform(largest, exponents, largest.begin(), [](int8_t a, int8_t b) {
            return std::max(a, b);
        });
    }
    Codes codes(workers, std::vector<int32_t>(m_sums.size()));
    for (uint32_t worker = 0; worker < workers; ++worker)
    {
        EncodeWithExponents(m_gradients[worker], PACKET_VALUES, workers, largest, codes[worker], 1);
    }
    std::vector<float> decoded(m_sums.size());
    DecodeWithExponents(Aggregate(codes), PACKET_VALUES, workers, largest, decoded, 1);
    return Compare(decoded);
}

double
SumErrorStudy::GetLargestSum() const
{
    return std::abs(
        *std::ranges::max_element(m_sums, {}, [](double sum) { return std::abs(sum); }));
}

std::vector<int32_t>
SumErrorStudy::Aggregate(const Codes& codes) const
{
    const auto workers = static_cast<uint16_t>(codes.size());
    SlotSwitch slots({.poolSize = 1, .valueCount = PACKET_VALUES});
    const auto all = SlotSwitch::MakeBitmap(workers);
    for (uint32_t worker = 0; worker < workers; ++worker)
    {
        const auto number = static_cast<uint16_t>(worker);
        slots.AddWorker(
            {0, number, number},
            {.bit = SlotSwitch::Bitmap().set(worker), .all = all, .base = 0, .slots = 1});
    }
    std::vector<int32_t> sums;
    sums.reserve(m_sums.size());
    for (size_t first = 0; first < m_sums.size(); first += PACKET_VALUES)
    {
        SlotHeader header;
        header.count = PACKET_VALUES;
        header.epoch = static_cast<uint16_t>(first / PACKET_VALUES);
        header.offset = static_cast<uint32_t>(first);
        for (uint32_t worker = 0; worker < workers; ++worker)
        {
            header.worker = static_cast<uint16_t>(worker);
            slots.Contribute(header,
                             header.worker,
                             std::span(codes[worker]).subspan(first, PACKET_VALUES));
        }
        const auto values = slots.GetValues(header, 0);
        sums.insert(sums.end(), values.begin(), values.end());
    }
    return sums;
}

SumErrors
SumErrorStudy::Compare(const std::vector<float>& decoded) const
{
    SumErrors errors;
    double squaredError = 0;
    double squaredSum = 0;
    for (size_t i = 0; i < m_sums.size(); ++i)
    {
        const double error = std::abs(decoded[i] - m_sums[i]);
        errors.largest = std::max(errors.largest, error);
        squaredError += error * error;
        squaredSum += m_sums[i] * m_sums[i];
    }
    errors.relative = std::sqrt(squaredError / squaredSum);
    return errors;
}

} // namespace ns3::gradsync
