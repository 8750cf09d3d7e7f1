// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_DOUBLE_BINARY_TREE_SCHEME_H
#define GRADSYNC_DOUBLE_BINARY_TREE_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Two complementary binary trees (doc/schemes.rst).
Scheme MakeDoubleBinaryTreeScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_DOUBLE_BINARY_TREE_SCHEME_H
