// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FEEDBACK_ARITHMETIC_H
#define GRADSYNC_FEEDBACK_ARITHMETIC_H

#include "ns3/float-bits.h"

/// The formulas of sums, momentum and error feedback, shared by the CPU and the CUDA kernels.
namespace ns3::gradsync
{

/// A sum whose NaN are all the canonical one.
GRADSYNC_HOST_DEVICE inline float
AddCanonical(float a, float b)
{
    return MakeCanonical(a + b);
}

/// u = m u + g, rounded twice; any NaN is the canonical one.
GRADSYNC_HOST_DEVICE inline float
StepMomentum(float gradient, float velocity, float momentum)
{
    const float decayed = momentum * velocity;
    return AddCanonical(decayed, gradient);
}

/// What is still owed after a message. What is not finite is lost for good.
GRADSYNC_HOST_DEVICE inline float
KeepResidual(float owed, float received)
{
    const float left = owed - received;
    return IsKeyFinite(MagnitudeKey(left)) ? left : 0.0F;
}

} // namespace ns3::gradsync

#endif // GRADSYNC_FEEDBACK_ARITHMETIC_H
