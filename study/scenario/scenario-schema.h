// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCENARIO_SCHEMA_H
#define GRADSYNC_SCENARIO_SCHEMA_H

#include "ns3/json-document.h"

namespace ns3::gradsync
{

/**
 * The JSON schema of scenarios (draft 2020-12), made of what is declared of all that they can name.
 * A section takes the keys of its own kind; where the sweep chooses the kind, those of any.
 */
Json MakeScenarioSchema();

} // namespace ns3::gradsync

#endif // GRADSYNC_SCENARIO_SCHEMA_H
