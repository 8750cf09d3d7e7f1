// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_IMPORT_SCHEME_H
#define GRADSYNC_IMPORT_SCHEME_H

#include "ns3/scheme.h"

#include <string>

namespace ns3::gradsync
{

/**
 * An exchange that a file describes (doc/import.rst). It is no member of GetSchemes: without a file
 * it has no plan.
 */
Scheme MakeImportScheme();

/**
 * The plan in the text of a file: an MSCCL algorithm if it is XML, a plan's own JSON if it is an
 * object, else a GOAL schedule.
 * \param file for messages \param gradientBytes, elementBytes of the buffer that an MSCCL algorithm
 * or a plan cuts; a schedule has sizes of its own \throws ImportError
 */
Plan PlanImport(const std::string& file,
                const std::string& text,
                uint64_t gradientBytes,
                uint32_t elementBytes);

/// Dedicated servers of that plan, without making it. \throws ImportError
uint32_t CountImportServers(const std::string& file, const std::string& text);

} // namespace ns3::gradsync

#endif // GRADSYNC_IMPORT_SCHEME_H
