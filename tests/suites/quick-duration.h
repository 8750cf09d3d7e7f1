// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_QUICK_DURATION_H
#define GRADSYNC_QUICK_DURATION_H

#include "ns3/test.h"

namespace ns3::gradsync::tests
{

/// TestCase::QUICK: an enumerator of the class before ns-3.42, of the scoped enum Duration since.
template <typename Case = TestCase>
constexpr auto
GetQuick()
{
    if constexpr (requires { Case::Duration::QUICK; })
    {
        return Case::Duration::QUICK;
    }
    else
    {
        return Case::QUICK;
    }
}

} // namespace ns3::gradsync::tests

#endif // GRADSYNC_QUICK_DURATION_H
