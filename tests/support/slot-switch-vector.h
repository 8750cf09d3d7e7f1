// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_SWITCH_VECTOR_H
#define GRADSYNC_SLOT_SWITCH_VECTOR_H

#include "support/stf-vector.h"

#include "ns3/slot-switch-frames.h"

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

/// The native switch, configured as a vector says.
inline SlotSwitchFrames
MakeSlotSwitch(const StfVector& vector)
{
    SlotSwitch::Config config;
    config.poolSize = 1024;
    config.saturate = vector.program.ends_with("saturate");
    SlotSwitchFrames frames(config);
    for (const auto& [group, ports] : vector.groups)
    {
        frames.SetGroup(static_cast<uint16_t>(group), {ports.begin(), ports.end()});
    }
    for (const auto& entry : vector.entries)
    {
        const auto key = [&entry](const std::string& name) {
            return static_cast<uint16_t>(GetStfNumber(entry.keys, name));
        };
        const auto value = [&entry](const std::string& name) {
            return GetStfNumber(entry.parameters, name);
        };
        if (entry.table == "SlotIngress.worker")
        {
            frames.AddWorker({key("job"), key("worker"), key("port")},
                             {static_cast<uint32_t>(value("workerBit")),
                              static_cast<uint32_t>(value("allWorkers")),
                              static_cast<uint32_t>(value("base")),
                              static_cast<uint32_t>(value("slots"))},
                             static_cast<uint16_t>(value("group")));
            frames.SetSource(key("job"), MakeFrameAddress(value("switchMac"), value("switchIp")));
        }
        else if (entry.table == "SlotEgress.receiver")
        {
            frames.AddReceiver(key("job"),
                               key("port"),
                               {static_cast<uint16_t>(value("rank")),
                                MakeFrameAddress(value("mac"), value("ip"))});
        }
        else
        {
            const std::string& prefix = entry.keys.at(0).second;
            const auto slash = prefix.find('/');
            frames.AddRoute(static_cast<uint32_t>(std::stoull(prefix.substr(0, slash), nullptr, 0)),
                            static_cast<uint8_t>(std::stoul(prefix.substr(slash + 1))),
                            static_cast<uint16_t>(value("port")));
        }
    }
    return frames;
}

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_SWITCH_VECTOR_H
