// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_LOG_H
#define GRADSYNC_P4_LOG_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// A number that a message shows.
struct P4LogValue
{
    uint32_t slot = 0;
    uint32_t limbs = 1;
    bool isSigned = false;
};

/// A message of log_msg: texts, and the numbers between them.
struct P4LogMessage
{
    /// One more than there are values.
    std::vector<std::string> texts;
    std::vector<P4LogValue> values;
};

/// Splits the text of log_msg at its places "{...}"; \{ and \} are braces.
std::vector<std::string> SplitLogFormat(const std::string& format);
/// The message with the numbers of a store, which are decimal.
std::string FormatLogMessage(const P4LogMessage& message, const uint64_t* store);

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_LOG_H
