// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NASTY_GRADIENTS_H
#define GRADSYNC_NASTY_GRADIENTS_H

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// A gradient to test codecs with; also used by the tests of the CUDA kernels.
struct NastyGradient
{
    std::string name;
    std::vector<float> values;
};

/// Normally distributed values, as gradients roughly are, from a fixed seed.
inline std::vector<float>
MakeRandomGradient(size_t elements, uint32_t seed = 1)
{
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal(0.0F, 0.01F);
    std::vector<float> values(elements);
    for (auto& value : values)
    {
        value = normal(generator);
    }
    return values;
}

/// Lengths around the sizes of words, warps, packets and blocks.
inline std::vector<size_t>
GetNastyLengths()
{
    return {0, 1, 15, 16, 17, 255, 256, 257, 1023, 1024, 1025, 4097, 8191, 8192, 8193, 100'003};
}

/// One gradient of each kind that has broken somebody's codec.
inline std::vector<NastyGradient>
MakeNastyGradients(size_t elements)
{
    using Limits = std::numeric_limits<float>;
    std::vector<NastyGradient> gradients{
        {"random", MakeRandomGradient(elements)},
        {"zeros", std::vector<float>(elements, 0.0F)},
        {"negative zeros", std::vector<float>(elements, -0.0F)},
        {"all equal", std::vector<float>(elements, -0.125F)},
        {"largest", std::vector<float>(elements, Limits::max())},
        {"denormals", MakeRandomGradient(elements, 2)},
        {"equal leading bits", MakeRandomGradient(elements, 3)},
        {"infinities", MakeRandomGradient(elements, 4)},
        {"NaN", MakeRandomGradient(elements, 5)},
        {"wide range", MakeRandomGradient(elements, 6)},
    };
    for (size_t i = 0; i < elements; ++i)
    {
        const float sign = i % 2 == 0 ? 1.0F : -1.0F;
        gradients[4].values[i] *= sign;
        gradients[5].values[i] *= 0x1p-125F;
        gradients[6].values[i] = sign * (1.0F + static_cast<float>(i % 7) * 0x1p-23F);
        gradients[7].values[i] = i % 100 == 3 ? sign * Limits::infinity() : gradients[7].values[i];
        gradients[8].values[i] = i % 100 == 5 ? Limits::quiet_NaN() : gradients[8].values[i];
        gradients[9].values[i] *= i % 3 == 0 ? 1e30F : 1e-30F;
    }
    return gradients;
}

} // namespace ns3::gradsync

#endif // GRADSYNC_NASTY_GRADIENTS_H
