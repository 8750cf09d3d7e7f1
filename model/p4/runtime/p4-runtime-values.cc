// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-runtime-values.h"

#include "ns3/nearest-name.h"
#include "ns3/p4-error.h"
#include "ns3/p4-limbs.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <optional>

namespace ns3::gradsync
{

namespace
{

__extension__ using Wide = unsigned __int128;

/// 16 for a letter or a digit that is none of any base.
uint32_t
ReadDigit(char digit)
{
    if (digit >= '0' && digit <= '9')
    {
        return static_cast<uint32_t>(digit - '0');
    }
    const char low = static_cast<char>(digit | 0x20);
    return low >= 'a' && low <= 'f' ? static_cast<uint32_t>(low - 'a') + 10 : 16;
}

/// Multiplies by the base and adds a number; false when the limbs do not hold it.
bool
Append(std::vector<uint64_t>& value, uint32_t base, uint32_t number)
{
    uint64_t carry = number;
    for (auto& limb : value)
    {
        const Wide product = Wide{limb} * base + carry;
        limb = static_cast<uint64_t>(product);
        carry = static_cast<uint64_t>(product >> 64);
    }
    return carry == 0;
}

bool
FitsIn(const std::vector<uint64_t>& value, uint32_t bits)
{
    const uint32_t unused = static_cast<uint32_t>(64 * value.size()) - bits;
    return unused == 0 || (unused < 64 && value.back() >> (64 - unused) == 0);
}

/// The bytes of a dotted or colon-separated address; nothing when it is none.
std::optional<std::string>
ReadAddress(const std::string& word, const std::string& mark, size_t parts, int base)
{
    std::string bytes;
    for (const auto& number : SplitP4Words(word, mark))
    {
        uint32_t byte = 0;
        const char* end = number.data() + number.size();
        const auto result = std::from_chars(number.data(), end, byte, base);
        if (result.ec != std::errc{} || result.ptr != end || byte > 255)
        {
            return std::nullopt;
        }
        bytes.push_back(static_cast<char>(byte));
    }
    return bytes.size() == parts ? std::optional(bytes) : std::nullopt;
}

std::optional<std::string>
ReadIpv6(const std::string& word)
{
    std::array<char, 16> bytes{};
    return inet_pton(AF_INET6, word.c_str(), bytes.data()) == 1
               ? std::optional(std::string(bytes.begin(), bytes.end()))
               : std::nullopt;
}

/// The bytes of an address of so many bits; nothing when the word is written as a number.
std::optional<std::string>
ReadAnyAddress(const std::string& word, uint32_t bits)
{
    const bool isIpv4 = bits == 32 && word.find('.') != std::string::npos;
    const bool hasColon = word.find(':') != std::string::npos;
    if (!isIpv4 && !(hasColon && (bits == 48 || bits == 128)))
    {
        return std::nullopt;
    }
    auto bytes = isIpv4       ? ReadAddress(word, ".", 4, 10)
                 : bits == 48 ? ReadAddress(word, ":", 6, 16)
                              : ReadIpv6(word);
    if (!bytes)
    {
        const auto* kind = isIpv4 ? "IPv4" : bits == 48 ? "Ethernet" : "IPv6";
        throw P4Error(fmt::format("\"{}\" is no {} address", word, kind));
    }
    return bytes;
}

/// The base that the beginning of a number tells.
uint32_t
GetBase(const std::string& word)
{
    if (word.size() < 2 || word[0] != '0')
    {
        return 10;
    }
    const char mark = static_cast<char>(word[1] | 0x20);
    return mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
}

} // namespace

std::vector<std::string>
SplitP4Words(std::string_view text, std::string_view mark)
{
    std::vector<std::string> parts;
    size_t begin = 0;
    for (size_t end = text.find(mark); end != std::string_view::npos; end = text.find(mark, begin))
    {
        parts.emplace_back(text.substr(begin, end - begin));
        begin = end + mark.size();
    }
    parts.emplace_back(text.substr(begin));
    return parts;
}

std::vector<uint64_t>
ReadP4Value(const std::string& word, uint32_t bits)
{
    if (const auto bytes = ReadAnyAddress(word, bits))
    {
        return ReadP4Bytes(*bytes, bits);
    }
    const uint32_t base = GetBase(word);
    const size_t first = base == 10 ? 0 : 2;
    std::vector<uint64_t> value(limbs::CountFor(bits));
    bool isGood = word.size() > first;
    for (size_t i = first; i < word.size() && isGood; ++i)
    {
        const uint32_t digit = ReadDigit(word[i]);
        isGood = digit < base && Append(value, base, digit);
    }
    if (!isGood || !FitsIn(value, bits))
    {
        throw P4Error(fmt::format("\"{}\" is no number of {} bits", word, bits));
    }
    return value;
}

uint32_t
ReadP4Number(const std::string& word)
{
    return static_cast<uint32_t>(ReadP4Value(word, 31)[0]);
}

std::vector<uint64_t>
ReadP4Bytes(std::string_view bytes, uint32_t bits)
{
    std::vector<uint64_t> value(limbs::CountFor(bits));
    bool isGood = !bytes.empty();
    for (const char byte : bytes)
    {
        isGood = isGood && Append(value, 256, static_cast<uint8_t>(byte));
    }
    if (!isGood || !FitsIn(value, bits))
    {
        std::string digits;
        for (const char byte : bytes)
        {
            digits += fmt::format("{:02x}", static_cast<uint8_t>(byte));
        }
        throw P4Error(fmt::format("the bytes \"{}\" are no number of {} bits", digits, bits));
    }
    return value;
}

std::string
ShowP4Value(std::vector<uint64_t> value)
{
    // What 64 bits hold at most in decimal digits.
    constexpr uint64_t GROUP = 10'000'000'000'000'000'000U;
    std::vector<uint64_t> groups;
    while (!value.empty())
    {
        Wide rest = 0;
        for (size_t i = value.size(); i-- > 0;)
        {
            rest = rest << 64 | value[i];
            value[i] = static_cast<uint64_t>(rest / GROUP);
            rest %= GROUP;
        }
        groups.push_back(static_cast<uint64_t>(rest));
        while (!value.empty() && value.back() == 0)
        {
            value.pop_back();
        }
    }
    std::string text = groups.empty() ? "0" : std::to_string(groups.back());
    for (size_t i = groups.size(); i-- > 1;)
    {
        text += fmt::format("{:019}", groups[i - 1]);
    }
    return text;
}

std::string
ShowP4Hexadecimal(const std::vector<uint64_t>& value, uint32_t bits)
{
    std::string text = "0x";
    for (uint32_t digit = (bits + 3) / 4; digit-- > 0;)
    {
        const size_t limb = digit / 16;
        const uint64_t part = limb < value.size() ? value[limb] >> (digit % 16 * 4) & 0xF : 0;
        text += fmt::format("{:x}", part);
    }
    return text;
}

size_t
FindP4Name(const std::vector<std::string>& names, const std::string& name, std::string_view kind)
{
    if (const auto found = std::find(names.begin(), names.end(), name); found != names.end())
    {
        return static_cast<size_t>(found - names.begin());
    }
    const std::string ending = "." + name;
    std::vector<size_t> found;
    for (size_t i = 0; i < names.size(); ++i)
    {
        if (names[i].ends_with(ending))
        {
            found.push_back(i);
        }
    }
    if (found.size() > 1)
    {
        throw P4Error(fmt::format("the {} \"{}\" may be \"{}\" or \"{}\"",
                                  kind,
                                  name,
                                  names[found[0]],
                                  names[found[1]]));
    }
    if (found.empty())
    {
        throw P4Error(fmt::format("there is no {} \"{}\"{}", kind, name, SuggestName(name, names)));
    }
    return found[0];
}

} // namespace ns3::gradsync
