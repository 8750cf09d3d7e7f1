// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_SWITCH_VECTOR_H
#define GRADSYNC_SLOT_SWITCH_VECTOR_H

#include "support/stf-vector.h"

#include "ns3/atp-switch-frames.h"
#include "ns3/slot-switch-frames.h"

#include <set>

namespace ns3::gradsync
{

/// The value of a name in an STF entry.
inline uint64_t
GetStfNumber(const std::vector<std::pair<std::string, std::string>>& pairs, const std::string& name)
{
    for (const auto& [key, value] : pairs)
    {
        if (key == name)
        {
            return std::stoull(value, nullptr, 0);
        }
    }
    throw std::runtime_error("the entry lacks " + name);
}

inline FrameAddress
MakeFrameAddress(uint64_t mac, uint64_t ip)
{
    FrameAddress address;
    for (size_t i = 0; i < address.mac.size(); ++i)
    {
        address.mac[i] = static_cast<uint8_t>(mac >> (8 * (address.mac.size() - 1 - i)));
    }
    address.ip = static_cast<uint32_t>(ip);
    return address;
}

/// A row of the table of workers. \param parents jobs that have a switch above
inline void
AddStfWorker(SlotSwitchFrames& frames, const StfEntry& entry, const std::set<uint16_t>& parents)
{
    const auto key = [&entry](const std::string& name) {
        return static_cast<uint16_t>(GetStfNumber(entry.keys, name));
    };
    const auto value = [&entry](const std::string& name) {
        return static_cast<uint32_t>(GetStfNumber(entry.parameters, name));
    };
    frames.AddWorker({key("job"), key("worker"), key("port")},
                     {.bit = value("workerBit"),
                      .all = value("allWorkers"),
                      .base = value("base"),
                      .slots = value("slots"),
                      .isRoot = !parents.contains(key("job")),
                      .isSwitch = entry.action == "SlotIngress.partialSum"},
                     static_cast<uint16_t>(value("group")));
    frames.SetSource(
        key("job"),
        MakeFrameAddress(GetStfNumber(entry.parameters, "switchMac"), value("switchIp")));
}

/// A row of one of the other tables.
inline void
AddStfAddress(SlotSwitchFrames& frames, const StfEntry& entry)
{
    const auto value = [&entry](const std::string& name) {
        return GetStfNumber(entry.parameters, name);
    };
    if (entry.table == "SlotIngress.route")
    {
        const auto [prefix, length] = ReadStfPrefix(entry.keys.at(0).second);
        frames.AddRoute(prefix, length, static_cast<uint16_t>(value("port")));
        return;
    }
    const auto job = static_cast<uint16_t>(GetStfNumber(entry.keys, "job"));
    const auto address = MakeFrameAddress(value("mac"), value("ip"));
    if (entry.table == "SlotIngress.parent")
    {
        frames.SetParent(job,
                         {static_cast<uint16_t>(value("port")),
                          static_cast<uint16_t>(value("number")),
                          address,
                          static_cast<uint32_t>(value("ownIp"))});
        return;
    }
    frames.AddAddress(job, static_cast<uint16_t>(GetStfNumber(entry.keys, "worker")), address);
}

/// The native switch, configured as a vector says.
inline SlotSwitchFrames
MakeSlotSwitch(const StfVector& vector)
{
    SlotSwitch::Config config;
    config.poolSize = 4096;
    config.saturate = vector.program.ends_with("saturate");
    SlotSwitchFrames frames(config);
    for (const auto& [group, replicas] : vector.groups)
    {
        std::vector<SlotSwitchFrames::Receiver> receivers;
        for (const auto& [worker, port] : replicas)
        {
            receivers.push_back({static_cast<uint16_t>(worker), static_cast<uint16_t>(port)});
        }
        frames.SetGroup(static_cast<uint16_t>(group), std::move(receivers));
    }
    std::set<uint16_t> parents;
    for (const auto& entry : vector.entries)
    {
        if (entry.table == "SlotIngress.parent")
        {
            parents.insert(static_cast<uint16_t>(GetStfNumber(entry.keys, "job")));
        }
    }
    for (const auto& entry : vector.entries)
    {
        if (entry.table != "SlotIngress.worker")
        {
            AddStfAddress(frames, entry);
        }
        else if (entry.action != "SlotIngress.result") // which comes with the parent
        {
            AddStfWorker(frames, entry, parents);
        }
    }
    return frames;
}

/// The only command that is given between packets: `register_write SlotIngress.bitmaps CELL 0`.
inline void
ClearStfCell(SlotSwitchFrames& frames, const std::string& command)
{
    std::istringstream words(command);
    std::string verb;
    std::string name;
    uint32_t cell = 0;
    uint32_t value = 1;
    words >> verb >> name >> cell >> value;
    if (verb != "register_write" || name != "SlotIngress.bitmaps" || value != 0)
    {
        throw std::runtime_error("the native switch does not know " + command);
    }
    frames.ClearCell(cell);
}

/// The native switch of ATP, configured as a vector says.
inline AtpSwitchFrames
MakeAtpSwitch(const StfVector& vector)
{
    AtpSwitchFrames frames(1024);
    for (const auto& entry : vector.entries)
    {
        const auto key = [&entry](const std::string& name) {
            return static_cast<uint16_t>(GetStfNumber(entry.keys, name));
        };
        if (entry.table == "AtpIngress.route")
        {
            const auto [prefix, length] = ReadStfPrefix(entry.keys.at(0).second);
            frames.AddRoute(prefix,
                            length,
                            static_cast<uint16_t>(GetStfNumber(entry.parameters, "port")));
        }
        else if (entry.table == "AtpIngress.receivers")
        {
            std::vector<uint16_t> ports;
            const auto group = static_cast<uint32_t>(GetStfNumber(entry.parameters, "group"));
            for (const auto& [id, port] : vector.groups.at(group))
            {
                ports.push_back(static_cast<uint16_t>(port));
            }
            frames.SetReceivers(key("job"), static_cast<uint8_t>(key("level")), std::move(ports));
        }
        else
        {
            frames.AddAddress(key("job"),
                              key("port"),
                              MakeFrameAddress(GetStfNumber(entry.parameters, "mac"),
                                               GetStfNumber(entry.parameters, "ip")));
        }
    }
    return frames;
}

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_SWITCH_VECTOR_H
