// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_DAPPLE_MODEL_H
#define GRADSYNC_DAPPLE_MODEL_H

#include "ns3/json-document.h"
#include "ns3/named-files.h"

#include <string>
#include <string_view>

namespace ns3::gradsync
{

/**
 * A model of the kind `table` from a table of layers as DAPPLE has them (dapple-table.h): their
 * times, what is kept of them and sent on, and as many parameters as fp32 numbers fit in their
 * bytes.
 * \throws ImportError for what is no such table
 */
Json MakeDappleModel(const std::string& file, std::string_view text);

/// The same of a file. \param hasBatch whether the scenario tells the batch of the table
/// \throws ScenarioError
Json ReadDappleModel(const std::string& file, bool hasBatch, NamedFiles& files);

} // namespace ns3::gradsync

#endif // GRADSYNC_DAPPLE_MODEL_H
