// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RUN_NUMBERS_H
#define GRADSYNC_RUN_NUMBERS_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * Runs of a sweep from a text of numbers and ranges such as "0-24,30".
 * \param runCount runs of the sweep
 * \return in ascending order, each once
 * \throws ScenarioError for a text that is none, an empty range, or a run that is not there
 */
std::vector<uint32_t> ParseRunNumbers(const std::string& text, uint32_t runCount);

} // namespace ns3::gradsync

#endif // GRADSYNC_RUN_NUMBERS_H
