// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/shown-text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// A character of UTF-8, or a byte that is none.
struct Character
{
    uint32_t code;
    size_t bytes;
    bool isValid;
};

Character
Decode(std::string_view text)
{
    const auto byte = [&text](size_t i) { return static_cast<uint8_t>(text[i]); };
    const uint8_t first = byte(0);
    const size_t bytes = first < 0x80             ? 1
                         : (first & 0xe0) == 0xc0 ? 2
                         : (first & 0xf0) == 0xe0 ? 3
                         : (first & 0xf8) == 0xf0 ? 4
                                                  : 0;
    if (bytes == 0 || bytes > text.size())
    {
        return {first, 1, false};
    }
    constexpr std::array<uint8_t, 5> FIRST_BITS{0, 0x7f, 0x1f, 0x0f, 0x07};
    constexpr std::array<uint32_t, 5> LEAST{0, 0, 0x80, 0x800, 0x10000}; // no longer than needed
    uint32_t code = first & FIRST_BITS[bytes];
    for (size_t i = 1; i < bytes; ++i)
    {
        if ((byte(i) & 0xc0) != 0x80)
        {
            return {first, 1, false};
        }
        code = code << 6 | (byte(i) & 0x3f);
    }
    const bool isSurrogate = code >= 0xd800 && code <= 0xdfff;
    if (code < LEAST[bytes] || code > 0x10ffff || isSurrogate)
    {
        return {first, 1, false};
    }
    return {code, bytes, true};
}

/// Control and format characters (Unicode's Cc, Cf, Zl, Zp): they move, hide or turn other text.
bool
IsPrintable(uint32_t code)
{
    using Range = std::pair<uint32_t, uint32_t>;
    constexpr std::array<Range, 18> HIDDEN{{
        {0x00, 0x1f},
        {0x7f, 0x9f},
        {0xad, 0xad},
        {0x600, 0x605},
        {0x61c, 0x61c},
        {0x6dd, 0x6dd},
        {0x70f, 0x70f},
        {0x180e, 0x180e},
        {0x200b, 0x200f},
        {0x2028, 0x202e},
        {0x2060, 0x206f},
        {0xfdd0, 0xfdef},
        {0xfeff, 0xfeff},
        {0xfff0, 0xfffb},
        {0xfffe, 0xffff},
        {0xe000, 0xf8ff},
        {0xe0000, 0xe0fff},
        {0xf0000, 0x10ffff},
    }};
    return std::ranges::none_of(HIDDEN, [code](const Range& range) {
        return code >= range.first && code <= range.second;
    });
}

std::string
WriteOut(const Character& character)
{
    switch (character.code)
    {
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    default:
        break;
    }
    return character.code <= 0xff     ? fmt::format("\\x{:02x}", character.code)
           : character.code <= 0xffff ? fmt::format("\\u{:04x}", character.code)
                                      : fmt::format("\\U{:08x}", character.code);
}

std::string
Cut(std::string_view text, size_t most)
{
    // No character has more than four bytes, and none becomes fewer characters.
    const auto escaped = EscapeText(text.substr(0, 4 * (most + 1)));
    size_t characters = 0;
    size_t end = 0; // of the last character but one that there is room for
    for (size_t i = 0; i < escaped.size(); ++i)
    {
        if ((static_cast<uint8_t>(escaped[i]) & 0xc0) != 0x80)
        {
            end = ++characters == most ? i : end;
        }
    }
    return characters <= most ? escaped : escaped.substr(0, end) + "…";
}

} // namespace

std::string
EscapeText(std::string_view text)
{
    const auto isPlain = [](char letter) { return letter >= ' ' && letter <= '~'; };
    if (std::ranges::all_of(text, isPlain)) // as nearly all is
    {
        return std::string(text);
    }
    std::string escaped;
    while (!text.empty())
    {
        const auto character = Decode(text);
        if (character.isValid && IsPrintable(character.code))
        {
            escaped += text.substr(0, character.bytes);
        }
        else
        {
            escaped += WriteOut(character);
        }
        text.remove_prefix(character.bytes);
    }
    return escaped;
}

std::string
ShowText(std::string_view text)
{
    return Cut(text, MAX_SHOWN);
}

std::string
ShowMessage(std::string_view text)
{
    return Cut(text, 10 * MAX_SHOWN);
}

} // namespace ns3::gradsync
