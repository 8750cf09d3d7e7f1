// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CONGESTION_CONTROLS_H
#define GRADSYNC_CONGESTION_CONTROLS_H

#include "ns3/type-id.h"

#include <string>
#include <vector>

namespace ns3::gradsync
{

/// How queue pairs set their pace and window.
enum CongestionControlKind
{
    CC_NONE, //!< line rate, held back by PFC only
    CC_DCQCN,
    CC_DCTCP,
    CC_HPCC,
    CC_SWIFT,
    CC_TIMELY
};

/// An algorithm that scenarios can name.
struct CongestionControlEntry
{
    CongestionControlKind kind;
    std::string name;
    std::string summary; //!< one line
    TypeId (*getTypeId)();
};

/// All algorithms but none, sorted by name.
const std::vector<CongestionControlEntry>& GetCongestionControls();

} // namespace ns3::gradsync

#endif // GRADSYNC_CONGESTION_CONTROLS_H
