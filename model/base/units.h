// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_UNITS_H
#define GRADSYNC_UNITS_H

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace ns3::gradsync
{

/*
 * Quantities as scenario files write them: a decimal number and a unit, no blank between. The
 * arithmetic is exact: a value that is no whole number of the smallest unit is refused, not
 * rounded. All throw std::invalid_argument with a text that says what was found and what is
 * allowed.
 */

/// Bits per second, above 0 and below 2^63: "40Gbps"; units bps, kbps, Mbps, Gbps, Tbps (powers of
/// 1000).
DataRate ParseRate(std::string_view text);

/// Zero or more, up to 2^63-1 ps (106 days): "1us"; units ps, ns, us, ms, s, min, h.
Time ParseTime(std::string_view text);

/// Bytes, zero or more: "97MiB"; units B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (of
/// 1024).
uint64_t ParseBytes(std::string_view text);

/// A time as ParseTime reads it, in the largest unit that needs no fraction.
std::string FormatTime(const Time& time);

/// A rate as ParseRate reads it, likewise.
std::string FormatRate(const DataRate& rate);

/// Decimal seconds with 12 digits after the point, exactly: the time's picoseconds.
std::string FormatSeconds(const Time& time);

/// As FormatSeconds, of a count of picoseconds.
std::string FormatPicoseconds(int64_t picoseconds);

} // namespace ns3::gradsync

#endif // GRADSYNC_UNITS_H
