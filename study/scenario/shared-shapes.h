// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SHARED_SHAPES_H
#define GRADSYNC_SHARED_SHAPES_H

#include "ns3/json-document.h"

namespace ns3::gradsync
{

/// What of the JSON schema is written by hand: units, and shapes that only their readers know
/// (SharedShape), by name.
Json MakeSharedShapes();

} // namespace ns3::gradsync

#endif // GRADSYNC_SHARED_SHAPES_H
