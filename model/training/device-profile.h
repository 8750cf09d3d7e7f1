// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_DEVICE_PROFILE_H
#define GRADSYNC_DEVICE_PROFILE_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What an accelerator can do at most, by its data sheet, and what was reached of it.
struct DeviceProfile
{
    struct Peak
    {
        std::string datatype;
        double flops; //!< a second, dense
        std::string source;
    };

    struct Achieved
    {
        std::string datatype;
        std::string models; //!< ModelSpec::kind that it was measured with
        double share;       //!< of the peak
        std::string source;
    };

    std::string name;
    std::string source; //!< of memory and bandwidth
    uint64_t memoryBytes{0};
    double memoryBytesPerSecond{0.0};
    std::vector<Peak> peaks;
    std::vector<Achieved> achieved;
};

/// \throws WorkloadError for a datatype without a peak
double GetPeakFlops(const DeviceProfile& device, const std::string& datatype);

/**
 * The share of the peak that models of this kind reach: the first that the device has.
 * \throws WorkloadError when it has none; somebody must then say one
 */
double GetAchievedShare(const DeviceProfile& device,
                        const std::string& datatype,
                        const std::string& models);

} // namespace ns3::gradsync

#endif // GRADSYNC_DEVICE_PROFILE_H
