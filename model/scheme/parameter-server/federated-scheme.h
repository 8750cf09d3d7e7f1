// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FEDERATED_SCHEME_H
#define GRADSYNC_FEDERATED_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// A round of federated learning: command, training at the clients, answers, model.
Scheme MakeFederatedScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_FEDERATED_SCHEME_H
