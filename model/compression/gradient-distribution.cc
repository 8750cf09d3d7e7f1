// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/gradient-distribution.h"

#include <array>
#include <cmath>
#include <numbers>

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

constexpr std::array DISTRIBUTIONS{
    // Tails as gradients of trained networks have them.
    GradientDistribution{"laplace",
                         "Laplace, scale 0.001",
                         [](std::mt19937_64& random) {
                             return 1e-3 * DrawSign(random) * -std::log(DrawUniform(random));
                         }},
    // Layers whose magnitudes lie decades apart.
    GradientDistribution{"log-normal",
                         "log-normal, median 0.00001",
                         [](std::mt19937_64& random) {
                             return 1e-5 * DrawSign(random) * std::exp(2 * DrawNormal(random));
                         }},
    GradientDistribution{"normal",
                         "normal, deviation 0.001",
                         [](std::mt19937_64& random) { return 1e-3 * DrawNormal(random); }},
    // Before the loss has come down, without clipping.
    GradientDistribution{"wide",
                         "normal, deviation 3",
                         [](std::mt19937_64& random) { return 3 * DrawNormal(random); }},
};

} // namespace

std::span<const GradientDistribution>
GetGradientDistributions()
{
    return DISTRIBUTIONS;
}

} // namespace ns3::gradsync
