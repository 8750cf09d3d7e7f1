// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCHEME_CHOICE_H
#define GRADSYNC_SCHEME_CHOICE_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// An exchange scheme with all its parameters.
struct SchemeChoice
{
    const Scheme* scheme{nullptr};
    ParameterSet parameters; //!< complete
    FileTexts texts{};       //!< of the files that parameters name
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SCHEME_CHOICE_H
