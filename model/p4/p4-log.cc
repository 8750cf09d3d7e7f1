// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-log.h"

#include "ns3/p4-limbs.h"

#include <fmt/format.h>

namespace ns3::gradsync
{

std::vector<std::string>
SplitLogFormat(const std::string& format)
{
    std::vector<std::string> texts{""};
    bool isInside = false;
    for (size_t i = 0; i < format.size(); ++i)
    {
        const char mark = format[i];
        const bool isEscape =
            mark == '\\' && i + 1 < format.size() && (format[i + 1] == '{' || format[i + 1] == '}');
        if (isEscape)
        {
            ++i;
        }
        if (!isEscape && isInside && mark == '}')
        {
            isInside = false;
        }
        else if (!isEscape && !isInside && mark == '{' && format.find('}', i) != std::string::npos)
        {
            isInside = true;
            texts.emplace_back();
        }
        else if (!isInside)
        {
            texts.back() += format[i];
        }
    }
    return texts;
}

std::string
FormatLogMessage(const P4LogMessage& message, const uint64_t* store)
{
    std::string line = message.texts[0];
    for (size_t i = 0; i < message.values.size(); ++i)
    {
        const auto& value = message.values[i];
        line += limbs::ToDecimal(store + value.slot, value.limbs, value.isSigned);
        line += message.texts[i + 1];
    }
    return line;
}

} // namespace ns3::gradsync
