// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/regular-expression.h"

#include <fmt/format.h>
#include <regex.h>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

class CompiledExpression
{
  public:
    explicit CompiledExpression(const std::string& expression)
    {
        if (regcomp(&m_expression, expression.c_str(), REG_EXTENDED) != 0)
        {
            throw std::invalid_argument(
                fmt::format("\"{}\" is no extended regular expression", expression));
        }
    }

    ~CompiledExpression()
    {
        regfree(&m_expression);
    }

    CompiledExpression(const CompiledExpression&) = delete;
    CompiledExpression& operator=(const CompiledExpression&) = delete;

    std::vector<std::string> Find(const std::string& text) const
    {
        std::vector<regmatch_t> places(m_expression.re_nsub + 1);
        if (regexec(&m_expression, text.c_str(), places.size(), places.data(), 0) != 0)
        {
            return {};
        }
        std::vector<std::string> groups;
        for (const auto& place : places)
        {
            const auto begin = place.rm_so < 0 ? 0 : static_cast<size_t>(place.rm_so);
            const auto end = place.rm_so < 0 ? 0 : static_cast<size_t>(place.rm_eo);
            groups.push_back(text.substr(begin, end - begin));
        }
        return groups;
    }

  private:
    regex_t m_expression;
};

} // namespace

std::vector<std::string>
FindGroups(const std::string& expression, const std::string& text)
{
    return CompiledExpression(expression).Find(text);
}

bool
FitsWhole(const std::string& expression, const std::string& text)
{
    const auto groups = FindGroups("^(" + expression + ")$", text);
    return !groups.empty() && groups.front().size() == text.size();
}

} // namespace ns3::gradsync
