// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-error.h"
#include "ns3/p4-match-table.h"
#include "ns3/p4-pipeline.h"
#include "ns3/p4-program-loader.h"
#include "ns3/p4-runtime-commands.h"
#include "ns3/p4-runtime-values.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <map>
#include <random>

namespace ns3::gradsync
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

nlohmann::json
ReadCompiledProgram(const std::string& name)
{
    const std::filesystem::path folder = GRADSYNC_SOURCE_DIR "/p4-behavioral/compiled";
    return nlohmann::json::parse(std::ifstream(folder / (name + ".json")));
}

std::shared_ptr<const P4Program>
LoadCompiledProgram(const nlohmann::json& program)
{
    return std::make_shared<const P4Program>(P4ProgramLoader::Load(program.dump(), "p.json"));
}

/// features.p4 with a counter for each entry of byPrefix, as p4c writes a direct_counter.
std::shared_ptr<const P4Program>
MakeCountingProgram()
{
    auto program = ReadCompiledProgram("features");
    program["counter_arrays"].push_back({{"name", "FeatureIngress.perPrefix"},
                                         {"id", 77},
                                         {"is_direct", true},
                                         {"binding", "FeatureIngress.byPrefix"}});
    for (auto& table : program["pipelines"][0]["tables"])
    {
        table["with_counters"] = table["name"] == "FeatureIngress.byPrefix";
    }
    return LoadCompiledProgram(program);
}

class P4Cli : public testing::Test
{
  protected:
    explicit P4Cli(std::shared_ptr<const P4Program> program = MakeCountingProgram())
        : m_pipeline(std::move(program))
    {
    }

    std::vector<std::string> Ask(const std::string& commands)
    {
        return P4RuntimeCommands(m_pipeline, "c.txt").Run(commands);
    }

    /// What a command says that is refused.
    std::string Refusal(const std::string& commands)
    {
        try
        {
            Ask(commands);
        }
        catch (const P4Error& error)
        {
            return error.what();
        }
        return "";
    }

    /// The ports by which a packet of this kind and count leaves.
    std::vector<uint32_t> SendKind(uint8_t kind, uint8_t count)
    {
        std::vector<uint32_t> ports;
        const std::vector<uint8_t> frame{0, 1, kind, count, 0, 0};
        for (const auto& packet : m_pipeline.Process(frame, 0))
        {
            ports.push_back(packet.port);
        }
        return ports;
    }

    /// The result that features.p4 writes into a packet with operands: a (its high half), e, shift.
    uint32_t SendOperands(uint8_t kind, uint64_t a, uint64_t e, uint8_t shift)
    {
        std::vector<uint8_t> frame{0, 1, kind, 0, 0, 0};
        const auto append = [&frame](uint64_t value, size_t bytes) {
            for (size_t i = bytes; i-- > 0;)
            {
                frame.push_back(static_cast<uint8_t>(i < 8 ? value >> (8 * i) : 0));
            }
        };
        append(a, 8);
        append(0, 8);
        append(0, 16 + 4 + 4);
        // 511 is in no range of byRange, which follows byTernary.
        append(511, 2);
        append(e, 8);
        append(shift, 1);
        const auto sent = m_pipeline.Process(frame, 0);
        EXPECT_EQ(sent.size(), 1U);
        return uint32_t{sent[0].bytes[4]} << 8 | sent[0].bytes[5];
    }

    P4Pipeline m_pipeline;
};

// Kinds of packets of features.p4.
constexpr uint8_t TERNARY = 0x12;
constexpr uint8_t PREFIX = 0x13;
constexpr uint8_t MULTICAST = 0x30;
constexpr uint8_t CLONE = 0x31;

TEST(P4RuntimeValues, NumbersAreReadInEveryBase)
{
    EXPECT_THAT(ReadP4Value("0b101", 3), ElementsAre(5));
    EXPECT_THAT(ReadP4Value("0o17", 4), ElementsAre(15));
    EXPECT_THAT(ReadP4Value("0XfF", 8), ElementsAre(255));
    // 2^64 = 18446744073709551616
    EXPECT_THAT(ReadP4Value("18446744073709551616", 65), ElementsAre(0, 1));
    EXPECT_EQ(ShowP4Value({0, 1}), "18446744073709551616");
    EXPECT_EQ(ShowP4Value({0, 0}), "0");
    for (const std::string word : {"0b2", "0o8", "0xg", "0b", "", "1a", "8", "-1", "0x8"})
    {
        EXPECT_THROW(ReadP4Value(word, 3), P4Error) << word;
    }
}

TEST(P4RuntimeValues, AddressesAreOfTheirWidth)
{
    EXPECT_THAT(ReadP4Value("10.0.1.2", 32), ElementsAre(0x0a000102));
    EXPECT_THAT(ReadP4Value("02:00:00:00:01:ff", 48), ElementsAre(0x0200000001ff));
    // Limbs are low first.
    EXPECT_THAT(ReadP4Value("2001:db8::1", 128), ElementsAre(1, 0x20010db800000000));
    EXPECT_THAT(ReadP4Value("::ffff:10.0.0.1", 128), ElementsAre(0xffff0a000001, 0));
    EXPECT_THROW(ReadP4Value("10.0.1", 32), P4Error);
    EXPECT_THROW(ReadP4Value("10.0.1.256", 32), P4Error);
    EXPECT_THROW(ReadP4Value("10.0.1.2", 31), P4Error);
    EXPECT_THROW(ReadP4Value("2001:db8::1::2", 128), P4Error);
}

TEST(P4RuntimeValues, WhatIsShownIsReadBack)
{
    std::mt19937_64 random(20261123);
    for (int round = 0; round < 300; ++round)
    {
        const auto bits = static_cast<uint32_t>(1 + random() % 300);
        std::string binary = "0b";
        for (uint32_t i = 0; i < bits; ++i)
        {
            binary += random() % 2 == 0 ? "0" : "1";
        }
        const auto value = ReadP4Value(binary, bits);
        EXPECT_EQ(ReadP4Value(ShowP4Value(value), bits), value);
        EXPECT_EQ(ReadP4Value(ShowP4Hexadecimal(value, bits), bits), value);
    }
}

TEST(P4RuntimeValues, NamesMayBeShort)
{
    const std::vector<std::string> names{"x", "a.x", "a.b.y", "c.b.y", "a.z"};
    EXPECT_EQ(FindP4Name(names, "x", "table"), 0U);
    EXPECT_EQ(FindP4Name(names, "a.x", "table"), 1U);
    EXPECT_EQ(FindP4Name(names, "a.b.y", "table"), 2U);
    EXPECT_EQ(FindP4Name(names, "z", "table"), 4U);
    try
    {
        FindP4Name(names, "b.y", "table");
        ADD_FAILURE();
    }
    catch (const P4Error& error)
    {
        EXPECT_STREQ(error.what(), "the table \"b.y\" may be \"a.b.y\" or \"c.b.y\"");
    }
    // A part of a word is no part of a name.
    EXPECT_THROW(FindP4Name({"ab.cd"}, "d", "table"), P4Error);
}

TEST_F(P4Cli, TakesShortNamesAndNumbersOfEveryBase)
{
    Ask("table_add byTernary classify 0b1&&&0o1 3 => 0b10001 20");
    EXPECT_EQ(SendOperands(TERNARY, 0, 1, 3), 0x11U);
    Ask("table_add byPrefix classify 2001:db8::/32 => 0xb6");
    EXPECT_EQ(SendOperands(PREFIX, 0x20010db8ffffffff, 0, 200), 0xb6U);
    EXPECT_EQ(SendOperands(PREFIX, 0x20010db9ffffffff, 0, 200), 0U);
    EXPECT_THAT(Refusal("table_add byPrefx classify 0/1 => 1"),
                HasSubstr("c.txt:1: there is no table \"byPrefx\""));
}

TEST_F(P4Cli, NumbersEntriesAsBmv2Does)
{
    // BMv2's handle: the lowest free number, and in the highest 8 bits how often it was used
    // before.
    Ask("table_add byPrefix classify 0x1/128 => 1\n"
        "table_add byPrefix classify 0x2/128 => 2\n"
        "table_add byPrefix classify 0x3/128 => 3\n"
        "table_delete byPrefix 1\n"
        "table_delete byPrefix 0\n"
        "table_add byPrefix classify 0x4/128 => 4\n");
    EXPECT_THAT(m_pipeline.FindTable("FeatureIngress.byPrefix").ListHandles(),
                ElementsAre(1U << 24, 2));
    EXPECT_THAT(Refusal("table_delete byPrefix 0"), HasSubstr("no entry with handle 0"));
    EXPECT_THAT(Refusal("table_modify byPrefix classify 1 7"), HasSubstr("no entry with handle 1"));
    EXPECT_THAT(Ask("table_num_entries byPrefix"), ElementsAre("2"));
    EXPECT_THAT(Ask("table_dump_entry byPrefix 2"),
                ElementsAre("FeatureIngress.byPrefix entry 2: headers.operands.a=0x" +
                            std::string(31, '0') + "3/128 => FeatureIngress.classify 0x0003"));
    Ask("table_modify byPrefix classify 2 => 9");
    EXPECT_THAT(Ask("table_dump_entry byPrefix 2")[0], HasSubstr("classify 0x0009"));
    Ask("table_clear byPrefix");
    EXPECT_THAT(Ask("table_dump byPrefix"), IsEmpty());
}

TEST_F(P4Cli, FindsTheLongestPrefixAfterAnyAdditionsAndDeletions)
{
    std::mt19937_64 random(7);
    // By prefix length and value of the high 64 bits: handle and result.
    std::map<std::pair<uint32_t, uint64_t>, std::pair<uint32_t, uint32_t>> model;
    auto& table = m_pipeline.FindTable("FeatureIngress.byPrefix");
    for (uint32_t round = 1; round < 400; ++round)
    {
        const auto length = static_cast<uint32_t>(1 + random() % 6);
        const uint64_t value = random() >> (64 - length) << (64 - length);
        const auto found = model.find({length, value});
        if (found == model.end())
        {
            const auto before = table.ListHandles();
            Ask(fmt::format("table_add byPrefix classify {:#x}0000000000000000/{} => {}",
                            value,
                            length,
                            round));
            auto after = table.ListHandles();
            std::erase_if(after, [&before](uint32_t handle) {
                return std::find(before.begin(), before.end(), handle) != before.end();
            });
            ASSERT_EQ(after.size(), 1U);
            model[{length, value}] = {after[0], round};
        }
        else if (random() % 3 == 0)
        {
            Ask(fmt::format("table_modify byPrefix classify {} {}", found->second.first, round));
            found->second.second = round;
        }
        else
        {
            Ask(fmt::format("table_delete byPrefix {}", found->second.first));
            model.erase(found);
        }
        const uint64_t packet = random();
        uint32_t expected = 0;
        for (const auto& [key, entry] : model)
        {
            // The map goes from short to long.
            expected = packet >> (64 - key.first) << (64 - key.first) == key.second ? entry.second
                                                                                    : expected;
        }
        ASSERT_EQ(SendOperands(PREFIX, packet, 0, 200), expected);
    }
}

TEST_F(P4Cli, FindsTheLowestPriorityAfterDeletions)
{
    Ask("table_add byTernary classify 0x1&&&0x1 3 => 10 20\n"
        "table_add byTernary classify 0x3&&&0x3 3 => 11 10\n"
        "table_add byTernary classify 0x0&&&0x0 3 => 12 30\n");
    EXPECT_EQ(SendOperands(TERNARY, 0, 3, 3), 11U);
    Ask("table_delete byTernary 1");
    EXPECT_EQ(SendOperands(TERNARY, 0, 3, 3), 10U);
    Ask("table_delete byTernary 0");
    EXPECT_EQ(SendOperands(TERNARY, 0, 3, 3), 12U);
    EXPECT_THAT(Refusal("table_add byTernary classify 0&&&0 3 => 13 30"),
                HasSubstr("the table has an entry with this key"));
    Ask("table_add byTernary classify 0&&&0 3 => 13 31");
    EXPECT_EQ(SendOperands(TERNARY, 0, 3, 3), 12U);
}

TEST_F(P4Cli, ResetsDefaults)
{
    EXPECT_EQ(SendOperands(TERNARY, 0, 1, 3), 0xffffU);
    Ask("table_set_default byTernary classify 5");
    EXPECT_EQ(SendOperands(TERNARY, 0, 1, 3), 5U);
    Ask("table_reset_default byTernary");
    EXPECT_EQ(SendOperands(TERNARY, 0, 1, 3), 0xffffU);
}

TEST_F(P4Cli, ReadsWritesAndResetsRegisters)
{
    Ask("register_write cells 2 0x1234");
    EXPECT_THAT(Ask("register_read cells 2"), ElementsAre("cells[2]= 4660"));
    EXPECT_THAT(Ask("register_read cells"), ElementsAre("cells= 0, 0, 4660, 0"));
    EXPECT_THAT(Refusal("register_read cells 4"), HasSubstr("there is no register"));
    Ask("register_reset cells");
    EXPECT_THAT(Ask("register_read cells"), ElementsAre("cells= 0, 0, 0, 0"));
}

TEST_F(P4Cli, CountsByEntry)
{
    Ask("table_add byPrefix classify 8000::/1 => 1\n"
        "table_add byPrefix classify c000::/2 => 2\n");
    const uint64_t high = uint64_t{1} << 63;
    SendOperands(PREFIX, high, 0, 200);
    SendOperands(PREFIX, high, 0, 200);
    SendOperands(PREFIX, high | high >> 1, 0, 200);
    SendOperands(PREFIX, 0, 0, 200);
    // 6 bytes of command and 16 + 16 + 4 + 4 + 2 + 8 + 1 of operands.
    EXPECT_THAT(Ask("counter_read perPrefix 0"),
                ElementsAre("perPrefix[0]= (114 bytes, 2 packets)"));
    EXPECT_THAT(Ask("counter_read perPrefix 1"),
                ElementsAre("perPrefix[1]= (57 bytes, 1 packets)"));
    Ask("counter_write perPrefix 1 10 1000");
    EXPECT_THAT(Ask("counter_read perPrefix 1"),
                ElementsAre("perPrefix[1]= (1000 bytes, 10 packets)"));
    Ask("counter_reset perPrefix");
    EXPECT_THAT(Ask("counter_read perPrefix 0"), ElementsAre("perPrefix[0]= (0 bytes, 0 packets)"));
    // A new entry in the place of an old one counts from 0.
    SendOperands(PREFIX, high, 0, 200);
    Ask("table_delete byPrefix 0\ntable_add byPrefix classify 8000::/1 => 1");
    EXPECT_EQ(m_pipeline.FindTable("FeatureIngress.byPrefix").GetCounter(1U << 24).packets, 0U);
}

TEST_F(P4Cli, ChangesGroups)
{
    Ask("mc_mgrp_create 3\nmc_node_create 7 2 1\nmc_node_create 8 3\n"
        "mc_node_associate 3 0\nmc_node_associate 3 1\n");
    EXPECT_THAT(SendKind(MULTICAST, 3), ElementsAre(1, 2, 3));
    EXPECT_THAT(Refusal("mc_node_associate 3 0"), HasSubstr("node 0 is in multicast group 3"));
    Ask("mc_node_update 0 4 |");
    EXPECT_THAT(SendKind(MULTICAST, 3), ElementsAre(4, 3));
    Ask("mc_node_dissociate 3 0");
    EXPECT_THAT(SendKind(MULTICAST, 3), ElementsAre(3));
    EXPECT_THAT(Refusal("mc_node_dissociate 3 0"), HasSubstr("not in multicast group 3"));
    Ask("mc_node_destroy 0\nmc_node_create 9 5\nmc_node_associate 3 0");
    EXPECT_THAT(SendKind(MULTICAST, 3), ElementsAre(3, 5));
    Ask("mc_node_destroy 1");
    EXPECT_THAT(SendKind(MULTICAST, 3), ElementsAre(5));
    EXPECT_THAT(Refusal("mc_node_update 1 2"), HasSubstr("there is no multicast node 1"));
    Ask("mc_mgrp_destroy 3\nmc_mgrp_create 4\nmc_node_associate 4 0");
    EXPECT_THAT(SendKind(MULTICAST, 3), IsEmpty());
    EXPECT_THAT(SendKind(MULTICAST, 4), ElementsAre(5));
    EXPECT_THAT(Refusal("mc_node_create 1 2 | 3"), HasSubstr("link aggregation groups"));
}

TEST_F(P4Cli, ChangesMirroringSessions)
{
    Ask("mirroring_add 5 4");
    EXPECT_THAT(SendKind(CLONE, 0), ElementsAre(4, 1));
    EXPECT_THAT(Ask("mirroring_get 5"), ElementsAre("mirroring session 5: port 4"));
    Ask("mirroring_delete 5");
    EXPECT_THAT(SendKind(CLONE, 0), ElementsAre(1));
    EXPECT_THAT(Ask("mirroring_get 5"), ElementsAre("mirroring session 5: none"));
    EXPECT_THAT(Refusal("mirroring_delete 5"), HasSubstr("there is no mirroring session 5"));
    Ask("mc_mgrp_create 3\nmc_node_create 0 6 7\nmc_node_associate 3 0\nmirroring_add_mc 5 3");
    EXPECT_THAT(SendKind(CLONE, 0), ElementsAre(6, 7, 1));
}

TEST_F(P4Cli, ResetsAll)
{
    Ask("register_write cells 1 7\ntable_set_default byTernary classify 5\nmc_mgrp_create 3\n"
        "table_add byPrefix classify 0x0/1 => 1\nmirroring_add 5 4\nreset_state");
    EXPECT_THAT(Ask("register_read cells 1"), ElementsAre("cells[1]= 0"));
    EXPECT_THAT(Ask("table_dump byPrefix"), IsEmpty());
    // The program's own entries are there again.
    EXPECT_THAT(Ask("table_num_entries byConstant"), ElementsAre("2"));
    EXPECT_EQ(SendOperands(TERNARY, 0, 1, 3), 0xffffU);
    // Mirroring sessions stay, as in simple_switch 1.15.5.
    EXPECT_THAT(SendKind(CLONE, 0), ElementsAre(4, 1));
    Ask("mc_mgrp_create 3");
}

TEST_F(P4Cli, TakesWhatChangesNothing)
{
    EXPECT_THAT(Ask("set_queue_depth 100\nset_queue_rate 10 1\nshow_tables\ntable_info byPrefix\n"
                    "mc_dump\nget_time_elapsed\n"),
                IsEmpty());
}

TEST_F(P4Cli, NamesWhatIsWrong)
{
    EXPECT_EQ(Refusal("# x\nregister_raed cells 1"),
              "c.txt:2: the command \"register_raed\" is not supported; did you mean "
              "\"register_read\"?");
    EXPECT_EQ(Refusal("mc_mgrp_create"), "c.txt:1: mc_mgrp_create GROUP is expected");
    EXPECT_THAT(Refusal("table_delete byConstant 0"), HasSubstr("entries are constant"));
    EXPECT_THAT(Refusal("table_add byTernary classify 1&&&1 3 => 4"),
                HasSubstr("has 1 parameters"));
}

/// features.p4 with an action profile for byPrefix and one for byTernary, a meter and a value set.
std::shared_ptr<const P4Program>
MakeProgramWithProfiles()
{
    auto program = P4ProgramLoader::Load(ReadCompiledProgram("features").dump(), "p.json");
    for (auto& table : program.tables)
    {
        const bool isPrefix = table.name == "FeatureIngress.byPrefix";
        if (isPrefix || table.name == "FeatureIngress.byTernary")
        {
            table.profile = static_cast<uint32_t>(program.profiles.size());
            P4ActionProfile profile;
            profile.name = isPrefix ? "FeatureIngress.ways" : "FeatureIngress.plain";
            profile.maxSize = 8;
            profile.hasSelector = isPrefix;
            profile.actions = table.actions;
            for (const uint32_t action : profile.actions)
            {
                profile.limbs.push_back(program.actions[action].limbs);
            }
            program.profiles.push_back(profile);
        }
    }
    P4MeterArray meter;
    meter.name = "FeatureIngress.speed";
    meter.size = 2;
    program.meters.push_back(meter);
    program.valueSets.push_back({"FeatureParser.known", 20});
    return std::make_shared<const P4Program>(std::move(program));
}

class P4ProfileCli : public P4Cli
{
  protected:
    P4ProfileCli()
        : P4Cli(MakeProgramWithProfiles())
    {
    }
};

TEST_F(P4ProfileCli, EntriesLeadToMembersAndGroups)
{
    Ask("act_prof_create_member ways classify 7\nact_prof_create_member ways classify 8\n"
        "act_prof_create_group ways\nact_prof_add_member_to_group ways 1 0\n"
        "table_indirect_add byPrefix 8000::/1 => 0\n"
        "table_indirect_add_with_group byPrefix c000::/2 => 0\n"
        "table_indirect_set_default byPrefix 1\n");
    const auto dump = Ask("table_dump byPrefix");
    ASSERT_EQ(dump.size(), 2U);
    EXPECT_THAT(dump[0], HasSubstr("/1 => member 0"));
    EXPECT_THAT(dump[1], HasSubstr("/2 => group 0"));
    const auto& members = m_pipeline.FindProfile("FeatureIngress.ways");
    EXPECT_THAT(members.GetMembers().at(1).parameters, ElementsAre(8));
    Ask("act_prof_modify_member ways classify 1 => 9");
    EXPECT_THAT(members.GetMembers().at(1).parameters, ElementsAre(9));
    EXPECT_THAT(Refusal("act_prof_delete_member ways 0"), HasSubstr("an entry leads to member 0"));
    EXPECT_THAT(Refusal("act_prof_delete_group ways 0"), HasSubstr("an entry leads to group 0"));
    Ask("table_indirect_delete byPrefix 0\nact_prof_delete_member ways 0");
    EXPECT_EQ(members.GetMembers().count(0), 0U);
    EXPECT_THAT(Refusal("table_indirect_add byPrefix 8000::/1 => 0"), HasSubstr("member 0"));
    Ask("table_indirect_reset_default byPrefix\ntable_indirect_delete byPrefix 1\n"
        "act_prof_remove_member_from_group ways 1 0\nact_prof_delete_group ways 0\n"
        "act_prof_delete_member ways 1");
    EXPECT_TRUE(members.GetMembers().empty());
    EXPECT_TRUE(members.GetGroups().empty());
}

TEST_F(P4ProfileCli, NamesWhatATableOrAProfileCannot)
{
    EXPECT_THAT(Refusal("table_add byPrefix classify 8000::/1 => 7"),
                HasSubstr("lead to members of its action profile"));
    EXPECT_THAT(Refusal("table_set_default byPrefix classify 7"), HasSubstr("table_indirect_add"));
    EXPECT_THAT(Refusal("table_indirect_add byRange 0->1 1&&&1 => 0 1"),
                HasSubstr("has no action profile"));
    EXPECT_THAT(Refusal("act_prof_create_group plain"), HasSubstr("has no selector"));
    EXPECT_THAT(Refusal("act_prof_create_member ways arithmetic"),
                HasSubstr("there is no action of the table \"arithmetic\""));
    Ask("act_prof_create_member plain classify 7");
    EXPECT_THAT(Refusal("table_indirect_add byTernary 1&&&1 3 => 0"),
                HasSubstr("TABLE KEYS => HANDLE PRIORITY is expected"));
    Ask("table_indirect_add byTernary 1&&&1 3 => 0 5");
    EXPECT_THAT(Ask("table_dump byTernary")[0], HasSubstr("=> member 0, priority 5"));
    Ask("reset_state");
    EXPECT_TRUE(m_pipeline.FindProfile("FeatureIngress.plain").GetMembers().empty());
}

TEST_F(P4ProfileCli, SetsRatesAndValueSets)
{
    Ask("meter_array_set_rates speed 0.5:10 2:20\nmeter_set_rates speed 1 1:5 1.5:6");
    EXPECT_THAT(
        Ask("meter_get_rates speed 0"),
        ElementsAre("0: info rate = 0.5, burst size = 10", "1: info rate = 2, burst size = 20"));
    EXPECT_THAT(
        Ask("meter_get_rates speed 1"),
        ElementsAre("0: info rate = 1, burst size = 5", "1: info rate = 1.5, burst size = 6"));
    EXPECT_THAT(Refusal("meter_set_rates speed 2 1:5 2:6"), HasSubstr("there is no meter 2"));
    EXPECT_THAT(Refusal("meter_set_rates speed 1 1:5"), HasSubstr("2 rates are expected"));
    EXPECT_THAT(Refusal("meter_set_rates speed 1 1 2"), HasSubstr("RATE:BURST is expected"));
    Ask("pvs_add known 0x800\npvs_add known 5\npvs_remove known 0x800");
    EXPECT_THAT(Ask("pvs_get known"), ElementsAre("0x00005"));
    EXPECT_THAT(Refusal("pvs_add known 0x100000"), HasSubstr("no number of 20 bits"));
    Ask("pvs_clear known");
    EXPECT_THAT(Ask("pvs_get known"), IsEmpty());
}

} // namespace

} // namespace ns3::gradsync
