// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_STF_VECTOR_H
#define GRADSYNC_STF_VECTOR_H

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// A packet and the port that it enters or leaves at.
using StfPacket = std::pair<uint32_t, std::vector<uint8_t>>;

/// Any switch: takes a packet in at a port, gives what leaves, in order.
using StfSwitch =
    std::function<std::vector<StfPacket>(uint32_t port, std::span<const uint8_t> frame)>;

/// How a switch is told of a command of simple_switch_CLI between two packets.
using StfCommand = std::function<void(const std::string& command)>;

/// An `add` statement: a table's entry with the names of keys and parameters.
struct StfEntry
{
    std::string table;
    std::vector<std::pair<std::string, std::string>> keys;
    std::string action;
    std::vector<std::pair<std::string, std::string>> parameters;
};

struct StfStep
{
    uint32_t line = 0;
    /// What the switch is told before the packet comes, and after the one before it.
    std::vector<std::string> commands;
    StfPacket packet;
    std::vector<StfPacket> expected;
};

/// One of the files in p4-behavioral/vectors: a configuration, packets, and what must leave.
struct StfVector
{
    std::string name;
    /// The program that it is for, which is its base name in p4-behavioral/compiled.
    std::string program;
    std::vector<StfEntry> entries;
    /// Multicast groups: the number, and pairs of replication id and port.
    std::map<uint32_t, std::vector<std::pair<uint32_t, uint32_t>>> groups;
    /// The lines before the first packet.
    std::string configuration;
    std::vector<StfStep> steps;
};

/// Pairs of "name:value" words or, for parameters, of their list between parentheses.
inline std::vector<std::pair<std::string, std::string>>
SplitStfPairs(const std::string& text, char mark)
{
    std::vector<std::pair<std::string, std::string>> pairs;
    std::istringstream stream(text);
    for (std::string word; std::getline(stream, word, mark);)
    {
        if (const auto colon = word.find(':'); colon != std::string::npos)
        {
            pairs.emplace_back(word.substr(0, colon), word.substr(colon + 1));
        }
    }
    return pairs;
}

inline StfEntry
ReadStfEntry(const std::string& line)
{
    // add TABLE KEY:VALUE ... ACTION(NAME:VALUE,...)
    const auto begin = line.find(' ') + 1;
    const auto end = line.find(' ', begin);
    const auto paren = line.find('(');
    const auto action = line.rfind(' ', paren) + 1;
    StfEntry entry;
    entry.table = line.substr(begin, end - begin);
    entry.keys = SplitStfPairs(line.substr(end, action - end), ' ');
    entry.action = line.substr(action, paren - action);
    entry.parameters = SplitStfPairs(line.substr(paren + 1, line.rfind(')') - paren - 1), ',');
    return entry;
}

/// The number and the length of a prefix, whose digits that do not count are "*".
inline std::pair<uint32_t, uint8_t>
ReadStfPrefix(std::string value)
{
    const bool isBinary = value.starts_with("0b");
    const auto stars = std::count(value.begin(), value.end(), '*');
    std::replace(value.begin(), value.end(), '*', '0');
    const auto number = std::stoull(value.substr(2), nullptr, isBinary ? 2 : 16);
    return {static_cast<uint32_t>(number), static_cast<uint8_t>(32 - stars * (isBinary ? 1 : 4))};
}

inline StfPacket
ReadStfPacket(std::istringstream& words)
{
    uint32_t port = 0;
    std::string digits;
    words >> port >> digits;
    if (!digits.empty() && digits.back() == '$')
    {
        digits.pop_back();
    }
    StfPacket packet{port, {}};
    for (size_t i = 0; i + 1 < digits.size(); i += 2)
    {
        packet.second.push_back(static_cast<uint8_t>(std::stoul(digits.substr(i, 2), nullptr, 16)));
    }
    return packet;
}

/// What is neither packet nor expect is a command, or an entry before the first packet.
inline StfVector
ReadStfVector(const std::filesystem::path& file)
{
    static const std::string programMark = "# program: ";
    StfVector vector;
    vector.name = file.stem().string();
    std::vector<std::vector<std::pair<uint32_t, uint32_t>>> nodes;
    std::vector<std::string> later;
    std::ifstream input(file);
    uint32_t number = 0;
    for (std::string line; std::getline(input, line);)
    {
        ++number;
        std::istringstream words(line);
        std::string verb;
        words >> verb;
        if (line.starts_with(programMark))
        {
            vector.program = line.substr(programMark.size());
        }
        else if (verb == "packet")
        {
            vector.steps.push_back({number, std::exchange(later, {}), ReadStfPacket(words), {}});
        }
        else if (verb == "expect" && !vector.steps.empty())
        {
            vector.steps.back().expected.push_back(ReadStfPacket(words));
        }
        else if (verb == "add")
        {
            vector.entries.push_back(ReadStfEntry(line));
        }
        else if (verb == "mc_node_create")
        {
            uint32_t replicationId = 0;
            words >> replicationId;
            nodes.emplace_back();
            for (uint32_t port = 0; words >> port;)
            {
                nodes.back().emplace_back(replicationId, port);
            }
        }
        else if (verb == "mc_node_associate")
        {
            uint32_t group = 0;
            size_t node = 0;
            words >> group >> node;
            auto& replicas = vector.groups[group];
            replicas.insert(replicas.end(), nodes.at(node).begin(), nodes.at(node).end());
        }
        const bool isCommand =
            !verb.empty() && !verb.starts_with("#") && verb != "packet" && verb != "expect";
        if (isCommand && vector.steps.empty())
        {
            vector.configuration += line + "\n";
        }
        else if (isCommand)
        {
            later.push_back(line);
        }
    }
    return vector;
}

/// The first difference between packets that left and those expected; nothing when there is none.
inline std::optional<std::string>
CompareStfPackets(std::vector<StfPacket> sent, std::vector<StfPacket> expected)
{
    const auto byPort = [](const StfPacket& a, const StfPacket& b) { return a.first < b.first; };
    std::stable_sort(sent.begin(), sent.end(), byPort);
    std::stable_sort(expected.begin(), expected.end(), byPort);
    for (size_t i = 0; i < std::min(sent.size(), expected.size()); ++i)
    {
        if (sent[i].first != expected[i].first)
        {
            return fmt::format("a packet left at port {}, not {}",
                               sent[i].first,
                               expected[i].first);
        }
        const auto& have = sent[i].second;
        const auto& want = expected[i].second;
        for (size_t byte = 0; byte < std::min(have.size(), want.size()); ++byte)
        {
            if (have[byte] != want[byte])
            {
                return fmt::format("port {}, byte {}: {:02X}, not {:02X}",
                                   sent[i].first,
                                   byte,
                                   have[byte],
                                   want[byte]);
            }
        }
        if (have.size() != want.size())
        {
            return fmt::format("port {}: {} bytes, not {}",
                               sent[i].first,
                               have.size(),
                               want.size());
        }
    }
    if (sent.size() != expected.size())
    {
        return fmt::format("{} packets left, not {}", sent.size(), expected.size());
    }
    return std::nullopt;
}

/// Plays a vector; the first mismatch in words, with file, line and number of the packet.
/// \param command may be left out for a vector that has none between its packets
inline std::optional<std::string>
PlayStfVector(const StfVector& vector, const StfSwitch& process, const StfCommand& command = {})
{
    for (size_t i = 0; i < vector.steps.size(); ++i)
    {
        const auto& step = vector.steps[i];
        for (const auto& line : step.commands)
        {
            command(line);
        }
        const auto sent = process(step.packet.first, step.packet.second);
        if (const auto problem = CompareStfPackets(sent, step.expected))
        {
            return fmt::format("{}.stf:{}: packet {} into port {}: {}",
                               vector.name,
                               step.line,
                               i,
                               step.packet.first,
                               *problem);
        }
    }
    return std::nullopt;
}

/// All vectors of a folder in the order of their names.
inline std::vector<std::filesystem::path>
FindStfFiles(const std::filesystem::path& folder)
{
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
    {
        if (entry.path().extension() == ".stf")
        {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

} // namespace ns3::gradsync

#endif // GRADSYNC_STF_VECTOR_H
