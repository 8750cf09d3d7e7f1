// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GRADIENT_DISTRIBUTION_H
#define GRADSYNC_GRADIENT_DISTRIBUTION_H

#include <random>
#include <span>

namespace ns3::gradsync
{

/// How gradients are distributed that are made up. The same numbers with every standard library.
struct GradientDistribution
{
    const char* name;
    const char* title; //!< with its parameters
    double (*draw)(std::mt19937_64& random);
};

/// All of them, the order fixed.
std::span<const GradientDistribution> GetGradientDistributions();

} // namespace ns3::gradsync

#endif // GRADSYNC_GRADIENT_DISTRIBUTION_H
