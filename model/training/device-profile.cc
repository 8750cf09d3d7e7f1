// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/device-profile.h"

#include "ns3/nearest-name.h"
#include "ns3/workload-builder.h"

#include <algorithm>
#include <fmt/format.h>

namespace ns3::gradsync
{

double
GetPeakFlops(const DeviceProfile& device, const std::string& datatype)
{
    const auto found = std::ranges::find(device.peaks, datatype, &DeviceProfile::Peak::datatype);
    if (found == device.peaks.end())
    {
        std::vector<std::string> names;
        for (const auto& peak : device.peaks)
        {
            names.push_back(peak.datatype);
        }
        throw WorkloadError(fmt::format("the device {} has no peak of {}, only of {}",
                                        device.name,
                                        datatype,
                                        JoinNames(names)));
    }
    return found->flops;
}

double
GetAchievedShare(const DeviceProfile& device,
                 const std::string& datatype,
                 const std::string& models)
{
    const auto found = std::ranges::find_if(device.achieved, [&](const auto& achieved) {
        return achieved.datatype == datatype && achieved.models == models;
    });
    if (found == device.achieved.end())
    {
        throw WorkloadError(fmt::format("nobody has measured what share of its {} peak the device "
                                        "{} reaches with a {}; give \"achievedShare\"",
                                        datatype,
                                        device.name,
                                        models));
    }
    return found->share;
}

} // namespace ns3::gradsync
