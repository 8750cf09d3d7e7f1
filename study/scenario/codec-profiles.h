// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CODEC_PROFILES_H
#define GRADSYNC_CODEC_PROFILES_H

#include "ns3/scenario.h"

#include <vector>

namespace ns3::gradsync
{

/// The profiles that tell how long the codecs of a run take, each once, in the order of jobs.
std::vector<const CodecProfile*> ListCodecProfiles(const ResolvedRun& run);

} // namespace ns3::gradsync

#endif // GRADSYNC_CODEC_PROFILES_H
