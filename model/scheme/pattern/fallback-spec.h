// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FALLBACK_SPEC_H
#define GRADSYNC_FALLBACK_SPEC_H

#include "ns3/scheme.h"

#include <string>

namespace ns3::gradsync
{

/// The parameter `fallback` of schemes that let switches aggregate.
inline ParameterSpec
MakeFallbackSpec()
{
    ParameterSpec spec{
        "fallback",
        std::string("ps"),
        "how workers go on when no switches aggregate any more: ps (co-located), ring, or none, "
        "and the job fails",
        {"ps", "ring", "none"}};
    spec.isTried = false;
    return spec;
}

} // namespace ns3::gradsync

#endif // GRADSYNC_FALLBACK_SPEC_H
