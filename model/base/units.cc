// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/units.h"

#include <array>
#include <fmt/format.h>
#include <limits>
#include <span>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

struct Unit
{
    std::string_view name;
    uint64_t factor; //!< in the smallest unit
};

constexpr uint64_t KILO = 1000;
constexpr uint64_t KIBI = 1024;

constexpr std::array<Unit, 5> RATE_UNITS{{{"bps", 1},
                                          {"kbps", KILO},
                                          {"Mbps", KILO* KILO},
                                          {"Gbps", KILO* KILO* KILO},
                                          {"Tbps", KILO* KILO* KILO* KILO}}};

constexpr uint64_t SECOND = KILO * KILO * KILO * KILO; // in picoseconds
constexpr std::array<Unit, 7> TIME_UNITS{{{"ps", 1},
                                          {"ns", KILO},
                                          {"us", KILO* KILO},
                                          {"ms", KILO* KILO* KILO},
                                          {"s", SECOND},
                                          {"min", 60 * SECOND},
                                          {"h", 3600 * SECOND}}};

constexpr std::array<Unit, 9> BYTE_UNITS{{{"B", 1},
                                          {"kB", KILO},
                                          {"MB", KILO* KILO},
                                          {"GB", KILO* KILO* KILO},
                                          {"TB", KILO* KILO* KILO* KILO},
                                          {"KiB", KIBI},
                                          {"MiB", KIBI* KIBI},
                                          {"GiB", KIBI* KIBI* KIBI},
                                          {"TiB", KIBI* KIBI* KIBI* KIBI}}};

/// What a kind of quantity is called in messages.
struct TextQuantity
{
    std::span<const Unit> units;
    std::string_view name;     //!< "a rate"
    std::string_view smallest; //!< "bit per second"
    std::string_view example;
};

const TextQuantity RATE{RATE_UNITS, "a rate", "bits per second", "40Gbps"};
const TextQuantity TIME{TIME_UNITS, "a time", "picoseconds", "1us"};
const TextQuantity BYTES{BYTE_UNITS, "a size", "bytes", "97MiB"};

/// Digits that fit without overflow in the arithmetic below: 10^18 * 3.6e15 < 2^127.
constexpr size_t MAX_DIGITS = 18;

[[noreturn]] void
Fail(const TextQuantity& quantity, std::string_view text, std::string_view problem)
{
    std::string units;
    for (const auto& unit : quantity.units)
    {
        units += (units.empty() ? "" : ", ") + std::string(unit.name);
    }
    throw std::invalid_argument(
        fmt::format("found \"{}\": {}; expected {} such as \"{}\" (units: {})",
                    text.substr(0, 60),
                    problem,
                    quantity.name,
                    quantity.example,
                    units));
}

/// A decimal number: digits / 10^decimals.
struct Decimal
{
    __extension__ using Wide = unsigned __int128;

    Wide digits{0};
    Wide scale{1};
    size_t length{0}; //!< characters of the text that it took
};

Decimal
ParseDecimal(const TextQuantity& quantity, std::string_view text)
{
    Decimal decimal;
    size_t count = 0;
    bool point = false;
    for (const char letter : text)
    {
        if (letter == '.' && !point)
        {
            point = true;
        }
        else if (letter >= '0' && letter <= '9')
        {
            if (++count > MAX_DIGITS)
            {
                Fail(quantity, text, "too many digits");
            }
            decimal.digits = decimal.digits * 10 + static_cast<unsigned>(letter - '0');
            decimal.scale *= point ? 10 : 1;
        }
        else
        {
            break;
        }
        ++decimal.length;
    }
    if (count == 0)
    {
        Fail(quantity, text, text.starts_with('-') ? "negative" : "no number");
    }
    return decimal;
}

uint64_t
Parse(const TextQuantity& quantity, std::string_view text)
{
    const Decimal decimal = ParseDecimal(quantity, text);
    const std::string_view name = text.substr(decimal.length);
    if (name.empty())
    {
        Fail(quantity, text, "no unit");
    }
    for (const auto& unit : quantity.units)
    {
        if (unit.name != name)
        {
            continue;
        }
        const Decimal::Wide scaled = decimal.digits * unit.factor;
        if (scaled / decimal.scale > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
        {
            Fail(quantity, text, "too large");
        }
        const auto value = static_cast<uint64_t>(scaled / decimal.scale);
        if (scaled % decimal.scale != 0)
        {
            const auto nearest = value + (2 * (scaled % decimal.scale) >= decimal.scale ? 1 : 0);
            Fail(quantity,
                 text,
                 fmt::format("not a whole number of {} (the nearest is {}{})",
                             quantity.smallest,
                             nearest,
                             quantity.units.front().name));
        }
        return value;
    }
    Fail(quantity, text, fmt::format("unknown unit \"{}\"", name.substr(0, 20)));
}

/// In the largest unit that needs no fraction.
std::string
Format(const TextQuantity& quantity, uint64_t value)
{
    const Unit* best = &quantity.units.front();
    for (const auto& unit : quantity.units)
    {
        if (value != 0 && value % unit.factor == 0)
        {
            best = &unit;
        }
    }
    return fmt::format("{}{}", value / best->factor, best->name);
}

} // namespace

DataRate
ParseRate(std::string_view text)
{
    const uint64_t rate = Parse(RATE, text);
    if (rate == 0)
    {
        Fail(RATE, text, "a rate must be above 0");
    }
    return DataRate(rate);
}

Time
ParseTime(std::string_view text)
{
    return PicoSeconds(Parse(TIME, text));
}

uint64_t
ParseBytes(std::string_view text)
{
    return Parse(BYTES, text);
}

std::string
FormatTime(const Time& time)
{
    return Format(TIME, static_cast<uint64_t>(time.GetPicoSeconds()));
}

std::string
FormatRate(const DataRate& rate)
{
    return Format(RATE, rate.GetBitRate());
}

std::string
FormatPicoseconds(int64_t picoseconds)
{
    const bool negative = picoseconds < 0;
    const uint64_t magnitude =
        negative ? 0 - static_cast<uint64_t>(picoseconds) : static_cast<uint64_t>(picoseconds);
    return fmt::format("{}{}.{:012}", negative ? "-" : "", magnitude / SECOND, magnitude % SECOND);
}

std::string
FormatSeconds(const Time& time)
{
    return FormatPicoseconds(time.GetPicoSeconds());
}

} // namespace ns3::gradsync
