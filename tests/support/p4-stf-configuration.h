// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_STF_CONFIGURATION_H
#define GRADSYNC_P4_STF_CONFIGURATION_H

#include "support/stf-vector.h"

#include "ns3/p4-pipeline.h"
#include "ns3/p4-stf-player.h"

namespace ns3::gradsync
{

/// Gives a switch the tables and groups of a vector. \throws P4Error
inline void
ConfigureByStf(P4Pipeline& pipeline, const StfVector& vector)
{
    P4StfPlayer(pipeline, vector.name).Play(ReadP4Stf(vector.configuration, vector.name));
}

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_STF_CONFIGURATION_H
