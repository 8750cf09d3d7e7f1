// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ASYNCHRONOUS_SECTION_H
#define GRADSYNC_ASYNCHRONOUS_SECTION_H

#include "ns3/parameter-spec.h"

#include <vector>

namespace ns3::gradsync
{

/// What `asynchronous` of a job knows.
const std::vector<ParameterSpec>& GetAsynchronousParameters();

} // namespace ns3::gradsync

#endif // GRADSYNC_ASYNCHRONOUS_SECTION_H
