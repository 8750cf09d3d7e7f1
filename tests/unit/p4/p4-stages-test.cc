// SPDX-License-Identifier: GPL-2.0-only
// The program for hardware (slot-aggregation-stages.p4, the twin of the one for Tofino) beside the
// one without its limits and the native switch: all vectors of the slot protocol, packet by packet.
#include "support/p4-stf-configuration.h"
#include "support/slot-switch-vector.h"
#include "support/stf-vector.h"

#include "ns3/p4-pipeline.h"
#include "ns3/p4-program-loader.h"
#include "ns3/p4-runtime-commands.h"
#include "ns3/wire-format.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace ns3::gradsync
{
namespace
{

const std::filesystem::path STAGES_FOLDER = GRADSYNC_SOURCE_DIR "/p4-behavioral";

std::shared_ptr<const P4Program>
LoadCompiled(const std::string& name)
{
    static std::map<std::string, std::shared_ptr<const P4Program>> programs;
    auto& program = programs[name];
    if (!program)
    {
        program = std::make_shared<const P4Program>(
            P4ProgramLoader::LoadFile(STAGES_FOLDER / "compiled" / (name + ".json")));
    }
    return program;
}

/// The program for hardware has no checksum over the payload: it takes any and sends none.
std::vector<uint8_t>
WithoutUdpChecksum(std::vector<uint8_t> frame)
{
    constexpr size_t IP = wire::ETHERNET_BYTES;
    constexpr size_t UDP = IP + wire::IPV4_BYTES;
    const bool isSlot = frame.size() >= UDP + wire::UDP_BYTES && frame[IP - 2] == 8 &&
                        frame[IP - 1] == 0 && frame[IP] == 0x45 && frame[IP + 9] == 17 &&
                        (frame[IP + 6] & 0x3F) == 0 && frame[IP + 7] == 0 &&
                        frame[UDP + 2] == SLOT_UDP_PORT >> 8 &&
                        frame[UDP + 3] == (SLOT_UDP_PORT & 0xFF);
    if (isSlot)
    {
        frame[UDP + 6] = frame[UDP + 7] = 0;
    }
    return frame;
}

/// What left, by port, without checksums over payloads.
std::vector<StfPacket>
Sort(std::vector<StfPacket> packets)
{
    for (auto& [port, bytes] : packets)
    {
        bytes = WithoutUdpChecksum(std::move(bytes));
    }
    std::ranges::stable_sort(packets, {}, &StfPacket::first);
    return packets;
}

std::vector<StfPacket>
GetSent(P4Pipeline& pipeline, uint32_t port, std::span<const uint8_t> frame)
{
    std::vector<StfPacket> packets;
    for (const auto& packet : pipeline.Process(frame, port))
    {
        packets.emplace_back(packet.port, packet.bytes);
    }
    return Sort(std::move(packets));
}

std::vector<StfPacket>
GetSent(SlotSwitchFrames& native, uint32_t port, std::span<const uint8_t> frame)
{
    std::vector<StfPacket> packets;
    for (auto& [out, bytes] : native.Process(static_cast<uint16_t>(port), frame))
    {
        packets.emplace_back(out, std::move(bytes));
    }
    return Sort(std::move(packets));
}

class P4Stages : public testing::TestWithParam<std::filesystem::path>
{
};

TEST_P(P4Stages, AnswersAsTheNativeSwitchAndTheProgramWithoutLimits)
{
    const auto vector = ReadStfVector(GetParam());
    const std::string suffix = vector.program.ends_with("saturate") ? "-saturate" : "";
    P4Pipeline stages(LoadCompiled("slot-aggregation-stages" + suffix));
    P4Pipeline whole(LoadCompiled(vector.program));
    auto native = MakeSlotSwitch(vector);
    ConfigureByStf(stages, vector);
    ConfigureByStf(whole, vector);
    for (const auto& step : vector.steps)
    {
        for (auto command : step.commands)
        {
            ClearStfCell(native, command);
            P4RuntimeCommands(whole, vector.name).Run(command);
            // What makes a cell one that was never used is beside the epoch here.
            command.replace(command.find("bitmaps"), std::string("bitmaps").size(), "epochs");
            P4RuntimeCommands(stages, vector.name).Run(command);
        }
        const auto port = step.packet.first;
        const auto frame = WithoutUdpChecksum(step.packet.second);
        const auto sent = GetSent(stages, port, frame);
        ASSERT_EQ(CompareStfPackets(sent, GetSent(native, port, frame)), std::nullopt) << step.line;
        ASSERT_EQ(CompareStfPackets(sent, GetSent(whole, port, frame)), std::nullopt) << step.line;
    }
    constexpr uint32_t OVERFLOW_EVENT = 9;
    for (uint32_t event = 0; event <= 10; ++event)
    {
        const auto counted = event == OVERFLOW_EVENT
                                 ? stages.GetCounterPackets("SlotIngress.overflows", 0)
                                 : stages.GetCounterPackets("SlotIngress.events", event);
        EXPECT_EQ(counted, whole.GetCounterPackets("SlotIngress.events", event)) << event;
    }
    EXPECT_EQ(stages.GetCounterPackets("SlotEgress.noReceivers", 0),
              whole.GetCounterPackets("SlotEgress.noReceivers", 0));
    EXPECT_EQ(native.GetReceiverDrops(), whole.GetCounterPackets("SlotEgress.noReceivers", 0));
    EXPECT_EQ(stages.GetOutOfRange(), 0U);
}

std::vector<std::filesystem::path>
FindSlotVectors()
{
    auto files = FindStfFiles(STAGES_FOLDER / "vectors");
    std::erase_if(files, [](const auto& file) {
        return !ReadStfVector(file).program.starts_with("slot-aggregation");
    });
    return files;
}

INSTANTIATE_TEST_SUITE_P(All,
                         P4Stages,
                         testing::ValuesIn(FindSlotVectors()),
                         [](const auto& parameter) {
                             std::string name = parameter.param.stem().string();
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

nlohmann::json
ReadStages()
{
    return nlohmann::json::parse(
        std::ifstream(STAGES_FOLDER / "compiled" / "slot-aggregation-stages.json"));
}

TEST(P4StagesLimits, RegistersHaveTwoWordsAndAreTouchedOnceByAnAction)
{
    const auto program = ReadStages();
    for (const auto& array : program["register_arrays"])
    {
        EXPECT_LE(array["bitwidth"].get<int>(), 64) << array["name"];
    }
    for (const auto& action : program["actions"])
    {
        std::map<std::pair<std::string, std::string>, int> uses; // by operation and register
        for (const auto& primitive : action["primitives"])
        {
            const std::string op = primitive["op"];
            if (op.starts_with("register_"))
            {
                const auto& named = primitive["parameters"][op == "register_read" ? 1 : 0];
                ++uses[{op, named["value"].get<std::string>()}];
            }
        }
        for (const auto& [use, count] : uses)
        {
            EXPECT_EQ(count, 1) << use.second << " in " << action["name"];
        }
    }
}

TEST(P4StagesLimits, NoChecksumIsOverMoreThanTheIpHeader)
{
    const auto program = ReadStages();
    ASSERT_FALSE(program["calculations"].empty());
    for (const auto& calculation : program["calculations"])
    {
        for (const auto& input : calculation["input"])
        {
            EXPECT_EQ(input["value"][0], "ipv4");
        }
    }
}

} // namespace
} // namespace ns3::gradsync
