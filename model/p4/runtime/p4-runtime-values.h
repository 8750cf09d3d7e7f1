// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_RUNTIME_VALUES_H
#define GRADSYNC_P4_RUNTIME_VALUES_H

#include "ns3/p4-program.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/// The text split at each occurrence of a mark.
std::vector<std::string> SplitP4Words(std::string_view text, std::string_view mark);

/**
 * A number of so many bits as simple_switch_CLI takes it: decimal, 0x..., 0o..., 0b..., an IPv4
 * address for 32 bits, an Ethernet address for 48, an IPv6 address for 128. \throws P4Error when it
 * is none, or needs more bits
 */
std::vector<uint64_t> ReadP4Value(const std::string& word, uint32_t bits);

/// A number below 2^31. \throws P4Error
uint32_t ReadP4Number(const std::string& word);

/// Bytes, the highest first, as a number of so many bits. \throws P4Error when it needs more
std::vector<uint64_t> ReadP4Bytes(std::string_view bytes, uint32_t bits);

/// In decimal digits.
std::string ShowP4Value(std::vector<uint64_t> value);

/// In hexadecimal digits, all that the bits need.
std::string ShowP4Hexadecimal(const std::vector<uint64_t>& value, uint32_t bits);

/**
 * The index of a name in a list, which may be given by any part that begins behind a dot and that
 * no other name ends with, as simple_switch_CLI takes it. \param kind of what, for messages:
 * "table" \throws P4Error
 */
size_t FindP4Name(const std::vector<std::string>& names,
                  const std::string& name,
                  std::string_view kind);

/// The same for lists of what has a name.
template <typename Items>
size_t
FindP4Item(const Items& items, const std::string& name, std::string_view kind)
{
    std::vector<std::string> names;
    names.reserve(items.size());
    for (const auto& item : items)
    {
        names.push_back(item.name);
    }
    return FindP4Name(names, name, kind);
}

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_RUNTIME_VALUES_H
