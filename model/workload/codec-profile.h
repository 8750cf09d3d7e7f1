// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CODEC_PROFILE_H
#define GRADSYNC_CODEC_PROFILE_H

#include "ns3/codec-spec.h"

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// Thrown when a profile cannot tell a time; the text is meant for the user.
class ProfileError : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

/// A measured time.
struct ProfilePoint
{
    uint64_t elements;
    double seconds; //!< median
};

/// Times of one kernel: the points, ascending, and a fit fixedSeconds + bytes / bytesPerSecond.
struct KernelProfile
{
    double bytesPerElement{0.0};
    double fixedSeconds{0.0};
    double bytesPerSecond{0.0};
    std::vector<ProfilePoint> points;
};

/**
 * How long the codecs take on a device: measured, or estimated (then the source says so).
 *
 * Between two points times are interpolated linearly. Up to four times the largest point, and below
 * the smallest one, they come from the fit; beyond that nothing is known. A profile without points
 * has the fit alone.
 */
class CodecProfile
{
  public:
    std::string name;   //!< file, as the user gave it
    std::string origin; //!< "measurement" or "roofline-estimate"
    std::string device;
    std::map<std::string, KernelProfile> kernels; //!< "int8-encode", ...

    bool IsEstimate() const
    {
        return origin != "measurement";
    }

    /// \throws ProfileError for a kernel that it does not have, or a size beyond its range
    double GetSeconds(const std::string& kernel, uint64_t elements) const;
};

/// A part of a codec as profiles name it; empty for fp32, which takes no time. \param part "encode"
/// or "decode"; "add" of THC; "encode-p" and "encode-q" of PowerSGD; "switch-encode" or
/// "switch-decode" of int8 where switches add up
std::string GetKernelName(const CodecSpec& codec, const std::string& part);

} // namespace ns3::gradsync

#endif // GRADSYNC_CODEC_PROFILE_H
