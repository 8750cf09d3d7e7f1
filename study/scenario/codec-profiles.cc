// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/codec-profiles.h"

#include "ns3/training-planner.h"

#include <algorithm>

namespace ns3::gradsync
{

namespace
{

bool
HasCodec(const JobSpec& job)
{
    const auto isCodec = [](const auto& part) { return part.codec && part.codec->IsCodec(); };
    return isCodec(job) || std::ranges::any_of(job.tensors, isCodec);
}

} // namespace

std::vector<const CodecProfile*>
ListCodecProfiles(const ResolvedRun& run)
{
    std::vector<const CodecProfile*> profiles;
    const auto add = [&profiles](const CodecProfile* profile) {
        if (profile != nullptr && std::ranges::find(profiles, profile) == profiles.end())
        {
            profiles.push_back(profile);
        }
    };
    for (const auto& job : run.jobs)
    {
        if (HasCodec(job))
        {
            add(job.profile.get());
        }
    }
    for (const auto& training : run.trainings)
    {
        for (const auto& rule : GetCodecs(training))
        {
            if (rule.codec && rule.codec->choice.IsCodec())
            {
                add(rule.codec->profile.get());
            }
        }
    }
    return profiles;
}

} // namespace ns3::gradsync
