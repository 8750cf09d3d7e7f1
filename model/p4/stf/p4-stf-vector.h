// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_STF_VECTOR_H
#define GRADSYNC_P4_STF_VECTOR_H

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ns3::gradsync
{

/// `packet`: bytes into a port.
struct P4StfPacket
{
    uint32_t port = 0;
    std::vector<uint8_t> bytes;
};

/// `expect`: what must leave by a port.
struct P4StfExpectation
{
    uint32_t port = 0;
    /// Hexadecimal digits in capital letters, `*` for any; empty: any packet.
    std::string digits;
    /// Whether nothing may follow: `$` at the end.
    bool isWhole = false;
};

using P4StfPairs = std::vector<std::pair<std::string, std::string>>;

/// `add` and `setdefault`: names and values as they are written.
struct P4StfEntry
{
    bool isDefault = false;
    std::string table;
    std::string priority; //!< empty: none
    P4StfPairs keys;
    std::string action;
    P4StfPairs parameters;
    std::string name; //!< for check_counter; empty: none
};

/// `check_counter`
struct P4StfCounterCheck
{
    std::string counter;
    std::string index; //!< a number, or the name of an entry
    bool isBytes = false;
    std::string condition = "=="; //!< ==, !=, <, <=, > or >=
    uint64_t value = 0;
};

/// What simple_switch_CLI takes, word by word.
using P4StfCommand = std::vector<std::string>;

/// `remove all`
struct P4StfRemoval
{
};

/// `wait`
struct P4StfPause
{
};

struct P4StfStatement
{
    uint32_t line = 0;
    std::variant<P4StfPacket,
                 P4StfExpectation,
                 P4StfEntry,
                 P4StfCounterCheck,
                 P4StfCommand,
                 P4StfRemoval,
                 P4StfPause>
        what;
};

/**
 * Reads a vector in the STF language of p4c's tests (tools/stf and backends/bmv2/bmv2stf.py):
 * packet, expect, no_packet, add, setdefault, remove all, check_counter, wait, and commands of
 * simple_switch_CLI. \param file its name, for messages \throws P4Error that names the line
 */
std::vector<P4StfStatement> ReadP4Stf(std::string_view text, const std::string& file);

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_STF_VECTOR_H
