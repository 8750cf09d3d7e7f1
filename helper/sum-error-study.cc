// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/sum-error-study.h"

#include "ns3/quantisers.h"
#include "ns3/slot-switch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <random>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

/// Above 0 and below 1.
double
DrawUniform(std::mt19937_64& random)
{
    return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53;
}

/// Standard normal (Box and Muller): the standard library's differs between implementations.
double
DrawNormal(std::mt19937_64& random)
{
    const double radius = std::sqrt(-2 * std::log(DrawUniform(random)));
    return radius * std::cos(2 * std::numbers::pi * DrawUniform(random));
}

double
DrawSign(std::mt19937_64& random)
{
    return DrawUniform(random) < 0.5 ? -1 : 1;
}

using Draw = double (*)(std::mt19937_64&);

const std::map<std::string, Draw>&
GetDistributions()
{
    static const std::map<std::string, Draw> distributions{
        {"normal, deviation 0.001",
         [](std::mt19937_64& random) { return 1e-3 * DrawNormal(random); }},
        // Tails as gradients of trained networks have them.
        {"Laplace, scale 0.001",
         [](std::mt19937_64& random) {
             return 1e-3 * DrawSign(random) * -std::log(DrawUniform(random));
         }},
        // Layers whose magnitudes lie decades apart.
        {"log-normal, median 0.00001",
         [](std::mt19937_64& random) {
             return 1e-5 * DrawSign(random) * std::exp(2 * DrawNormal(random));
         }},
        // Before the loss has come down, without clipping.
        {"normal, deviation 3", [](std::mt19937_64& random) { return 3 * DrawNormal(random); }},
    };
    return distributions;
}

} // namespace

std::vector<std::string>
SumErrorStudy::ListDistributions()
{
    std::vector<std::string> names;
    for (const auto& [name, draw] : GetDistributions())
    {
        names.push_back(name);
    }
    return names;
}

SumErrorStudy::SumErrorStudy(const std::string& distribution,
                             uint32_t workers,
                             uint32_t elements,
                             uint64_t seed)
    : m_gradients(workers, std::vector<float>(elements)),
      m_sums(elements)
{
    if (workers == 0 || workers > SlotSwitch::MAX_WORKERS || elements == 0 ||
        elements % PACKET_VALUES != 0 || elements > (1U << 22))
    {
        throw std::invalid_argument("SumErrorStudy: workers or elements out of range");
    }
    std::mt19937_64 random(seed);
    const auto draw = GetDistributions().at(distribution);
    for (auto& gradient : m_gradients)
    {
        for (uint32_t i = 0; i < elements; ++i)
        {
            gradient[i] = static_cast<float>(draw(random));
            m_sums[i] += gradient[i];
        }
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
    DecodeFixedPoints(AddUp(codes), factor, decoded, 1);
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
    DecodeWithExponents(AddUp(codes), PACKET_VALUES, workers, largest, decoded, 1);
    return Compare(decoded);
}

double
SumErrorStudy::GetLargestSum() const
{
    return std::abs(
        *std::ranges::max_element(m_sums, {}, [](double sum) { return std::abs(sum); }));
}

std::vector<int32_t>
SumErrorStudy::AddUp(const Codes& codes) const
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
