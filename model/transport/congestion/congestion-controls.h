// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CONGESTION_CONTROLS_H
#define GRADSYNC_CONGESTION_CONTROLS_H

#include "ns3/attribute.h"
#include "ns3/congestion-control.h"
#include "ns3/type-id.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/// The name of no congestion control: line rate, held back by PFC only.
inline constexpr const char* NO_CONGESTION_CONTROL = "none";

/// An algorithm that scenarios can name: a class of this library or of the program that uses it.
struct CongestionControlEntry
{
    /// The name of its TypeId; in short, for those of this library: `dcqcn` is
    /// ns3::gradsync::DcqcnControl.
    std::string name;
    TypeId type;
};

/// All types derived from CongestionControl that ns-3 knows and can make, sorted by name.
std::vector<CongestionControlEntry> GetCongestionControls();

/// The one of that name, in short or of its TypeId.
std::optional<CongestionControlEntry> FindCongestionControl(std::string_view name);

/// The algorithm of an entry, with its default Attributes.
Ptr<CongestionControl> MakeCongestionControl(const CongestionControlEntry& entry);

/// Checks Attributes whose text names an algorithm or none; its type information lists the names.
Ptr<const AttributeChecker> MakeCongestionControlChecker();

/**
 * Asks for every algorithm of this library, so that programs which link it statically have them
 * all. Made by cmake/congestion-controls.cmake.
 */
void RequireCongestionControls();

} // namespace ns3::gradsync

#endif // GRADSYNC_CONGESTION_CONTROLS_H
