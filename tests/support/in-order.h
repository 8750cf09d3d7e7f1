// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_IN_ORDER_H
#define GRADSYNC_IN_ORDER_H

#include <fmt/format.h>
#include <string>
#include <utility>

namespace ns3::gradsync
{

/// What fmt::format makes of values that are evaluated from the left to the right, as everything
/// between braces is: what is drawn among them is the same with all compilers.
struct InOrder
{
    template <typename... T>
    explicit InOrder(fmt::format_string<T...> format, T&&... values)
        : text(fmt::format(format, std::forward<T>(values)...))
    {
    }

    std::string text;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_IN_ORDER_H
