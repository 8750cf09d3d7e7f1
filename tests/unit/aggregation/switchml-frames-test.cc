// SPDX-License-Identifier: GPL-2.0-only
// Frames of SwitchML's published client, and the switch as a box that answers them.
#include "unit/aggregation/switchml-vectors.h"

#include "ns3/slot-message-receiver.h"
#include "ns3/switchml-frame.h"
#include "ns3/switchml-roce-frame.h"
#include "ns3/switchml-switch-frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using vectors::Encode;
using vectors::Envelope;
using vectors::Immediate;
using vectors::Reth;
using vectors::Wrap;

// Opcodes of RDMA writes of unreliable connections: 001 in the upper three bits, then 00110 first,
// 00111 middle, 01001 last with immediate, 01011 only with immediate (types.p4).
constexpr uint8_t FIRST = 0b00100110;
constexpr uint8_t MIDDLE = 0b00100111;
constexpr uint8_t LAST = 0b00101001;
constexpr uint8_t ONLY = 0b00101011;

FrameAddress
MakeAddress(uint8_t number)
{
    return {{2, 0, 0, 0, 0, number}, 0x0A000000U + number};
}

const FrameAddress SWITCH = MakeAddress(254);

FrameAddress
AddressOf(uint32_t worker)
{
    return MakeAddress(static_cast<uint8_t>(1 + worker));
}

Envelope
UdpFrom(uint32_t worker)
{
    return {.source = AddressOf(worker),
            .destination = SWITCH,
            .sourcePort = 4000,
            .destinationPort = 0xBEE0,
            .hops = 128,
            .hasUdpChecksum = true};
}

Envelope
UdpTo(uint32_t worker)
{
    return {.source = SWITCH,
            .destination = AddressOf(worker),
            .sourcePort = 0xBEE0,
            .destinationPort = 4000};
}

/// What rdma_sender.p4 fills in; clients' NICs are taken to do the same.
Envelope
RoceFrom(uint32_t worker, uint16_t port = 0xC000)
{
    return {.source = AddressOf(worker),
            .destination = SWITCH,
            .sourcePort = port,
            .destinationPort = 4791,
            .diffserv = 2,
            .identification = 1,
            .flags = 0b010};
}

Envelope
RoceTo(uint32_t worker)
{
    auto envelope = RoceFrom(worker, static_cast<uint16_t>(0x8000 + worker));
    std::swap(envelope.source, envelope.destination);
    return envelope;
}

std::vector<int32_t>
MakeValues(int32_t first, size_t count = 64)
{
    std::vector<int32_t> values(count);
    std::iota(values.begin(), values.end(), first);
    return values;
}

/// The packet of the vectors as the slot protocol has it.
SlotFrame
MakeSwitchMlFrame(const Envelope& envelope, SlotMessage type)
{
    SlotFrame frame;
    frame.source = envelope.source;
    frame.destination = envelope.destination;
    frame.sourcePort = envelope.sourcePort;
    frame.destinationPort = envelope.destinationPort;
    frame.header = {.messageType = static_cast<uint8_t>(type),
                    .count = 64,
                    .slot = 0x123,
                    .epoch = 3,
                    .offset = 0x01020304,
                    .exponentA = -5,
                    .exponentB = 7,
                    .aggregation = 0x42,
                    .sequence = 0xABCDEF};
    frame.values = MakeValues(-3);
    return frame;
}

vectors::SwitchMl
MakePacket(std::vector<int32_t> values, uint8_t size = 1)
{
    return {size, 0x42, 0x01020304, 1, 0x123, -5, 7, std::move(values)};
}

TEST(SwitchMlFrame, IsThatOfThePublishedClientFieldByField)
{
    const auto expected = Wrap(UdpFrom(0), Encode(MakePacket(MakeValues(-3))));
    // Ethernet 14, IPv4 20, UDP 8, SwitchML 1 + 1 + 4 + 2, exponents 2, 64 values of 4.
    EXPECT_EQ(expected.size(), 14U + 20 + 8 + 8 + 2 + 256);
    EXPECT_EQ(SerialiseSwitchMlFrame(MakeSwitchMlFrame(UdpFrom(0), SlotMessage::Contribution)),
              expected);
    // The first bytes above UDP, written out: type 1 and size 1, the aggregation, the packet's
    // number from its lowest byte on, the set and the slot, the exponents.
    EXPECT_THAT(std::vector(expected.begin() + 42, expected.begin() + 52),
                ElementsAre(0x11, 0x42, 4, 3, 2, 1, 0x81, 0x23, 0xFB, 7));
}

TEST(SwitchMlFrame, IsThatOfThePublishedSwitch)
{
    EXPECT_EQ(SerialiseSwitchMlFrame(MakeSwitchMlFrame(UdpTo(0), SlotMessage::Result)),
              Wrap(UdpTo(0), Encode(MakePacket(MakeValues(-3)))));
}

TEST(SwitchMlFrame, IsReadBack)
{
    const auto parsed = ParseSwitchMlFrame(Wrap(UdpFrom(0), Encode(MakePacket(MakeValues(-3)))),
                                           SWITCHML_UDP_PORT,
                                           SWITCHML_UDP_MASK);
    ASSERT_TRUE(parsed);
    auto expected = MakeSwitchMlFrame(UdpFrom(0), SlotMessage::Contribution);
    expected.header.epoch = 1;    // its lowest bit
    expected.header.sequence = 0; // that of queue pairs
    EXPECT_EQ(parsed->header, expected.header);
    EXPECT_EQ(parsed->values, expected.values);
    EXPECT_EQ(parsed->source, expected.source);
    EXPECT_EQ(parsed->destination, expected.destination);
    EXPECT_EQ(parsed->sourcePort, 4000);
}

TEST(SwitchMlFrame, HasOneOfSixteenPortsAndTheLengthThatItSays)
{
    const auto isRead = [](const Envelope& envelope, const vectors::SwitchMl& packet) {
        return ParseSwitchMlFrame(Wrap(envelope, Encode(packet)),
                                  SWITCHML_UDP_PORT,
                                  SWITCHML_UDP_MASK)
            .has_value();
    };
    auto envelope = UdpFrom(0);
    envelope.destinationPort = 0xBEEF;
    EXPECT_TRUE(isRead(envelope, MakePacket(MakeValues(1))));
    envelope.destinationPort = 0xBEF0;
    EXPECT_FALSE(isRead(envelope, MakePacket(MakeValues(1))));
    // Size 3 is 1,024 bytes (types.p4): 128 shifted by it.
    EXPECT_TRUE(isRead(UdpFrom(0), MakePacket(MakeValues(1, 256), 3)));
    EXPECT_FALSE(isRead(UdpFrom(0), MakePacket(MakeValues(1, 256), 1)));
    auto broken = Wrap(UdpFrom(0), Encode(MakePacket(MakeValues(1))));
    ++broken[60]; // the UDP checksum tells
    EXPECT_FALSE(ParseSwitchMlFrame(broken, SWITCHML_UDP_PORT, SWITCHML_UDP_MASK));
}

/// The vector's packet of RoCEv2 with a message of as many packets.
std::vector<uint8_t>
MakeRoce(uint16_t slot, uint32_t messagePackets, SlotMessage type)
{
    auto frame =
        MakeSwitchMlFrame(type == SlotMessage::Result ? RoceTo(5) : RoceFrom(5, 0xC009), type);
    frame.header.worker = 5;
    frame.header.slot = slot;
    frame.header.offset = 0x0304;
    return SerialiseSwitchMlRoceFrame(
        MakeSwitchMlRoceFrame(frame, {FORMAT_SWITCHML_ROCE, 64, messagePackets}));
}

TEST(SwitchMlRoceFrame, IsAMessageOfOnePacketFieldByField)
{
    // Worker 5, queue pair 9: 0x800000 + 5 * 2^16 + 9 (grpc_server.py). Slot 9, set 1: key 19. A
    // message has 256 bytes, and worker's buffers begin at 2^44 (rdma_connection.cc).
    const vectors::Write packet{ONLY,
                                0x850009,
                                0xABCDEF,
                                Reth{(uint64_t{1} << 44) + 9 * 256, 19, 256},
                                Immediate{0x0304, -5, 7},
                                MakeValues(-3)};
    const auto expected = Wrap(RoceFrom(5, 0xC009), Encode(packet));
    // BTH 12, RETH 16, immediate 4, 64 values of 4, ICRC 4.
    EXPECT_EQ(expected.size(), 14U + 20 + 8 + 12 + 16 + 4 + 256 + 4);
    EXPECT_EQ(MakeRoce(9, 1, SlotMessage::Contribution), expected);
    // The bytes of BTH, written out.
    EXPECT_THAT(std::vector(expected.begin() + 42, expected.begin() + 54),
                ElementsAre(0x2B, 0x40, 0xFF, 0xFF, 0, 0x85, 0, 9, 0, 0xAB, 0xCD, 0xEF));
}

TEST(SwitchMlRoceFrame, IsAMessageOfFourPackets)
{
    // Slots 36 to 39 are the ninth message; its first packet alone has the RETH, its last one the
    // immediate.
    const Reth reth{(uint64_t{1} << 44) + 9 * 1024, 2 * 36 + 1, 1024};
    const Immediate immediate{0x0304, -5, 7};
    const auto wrap =
        [](uint8_t opcode, const std::optional<Reth>& first, const std::optional<Immediate>& last) {
            return Wrap(RoceFrom(5, 0xC009),
                        Encode({opcode, 0x850009, 0xABCDEF, first, last, MakeValues(-3)}));
        };
    EXPECT_EQ(MakeRoce(36, 4, SlotMessage::Contribution), wrap(FIRST, reth, std::nullopt));
    EXPECT_EQ(MakeRoce(37, 4, SlotMessage::Contribution), wrap(MIDDLE, {}, {}));
    EXPECT_EQ(MakeRoce(38, 4, SlotMessage::Contribution), wrap(MIDDLE, {}, {}));
    EXPECT_EQ(MakeRoce(39, 4, SlotMessage::Contribution), wrap(LAST, {}, immediate));
}

TEST(SwitchMlRoceFrame, IsThatOfTheSwitchWithTheWorkersKeyAndQueuePair)
{
    // rdma_sender.p4: UDP source port 0x8000 with the worker.
    const vectors::Write packet{FIRST,
                                0x109,
                                0xABCDEF,
                                Reth{(uint64_t{1} << 44) + 9 * 1024, 0x1005, 1024},
                                {},
                                MakeValues(-3)};
    EXPECT_EQ(MakeRoce(36, 4, SlotMessage::Result), Wrap(RoceTo(5), Encode(packet)));
}

TEST(SwitchMlRoceFrame, IsReadBack)
{
    const vectors::Write packet{ONLY, 0x850009, 7, Reth{8, 19, 256}, Immediate{300, 1, -1}, {1, 2}};
    const auto bytes = Wrap(RoceFrom(5), Encode(packet));
    const auto parsed = ParseSwitchMlRoceFrame(bytes);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->queuePair, 0x850009U);
    EXPECT_EQ(parsed->sequence, 7U);
    EXPECT_EQ(parsed->address, 8U);
    EXPECT_EQ(parsed->key, 19U);
    EXPECT_EQ(parsed->length, 256U);
    EXPECT_EQ(parsed->messageId, 300);
    EXPECT_THAT(parsed->values, ElementsAre(1, 2));
    EXPECT_EQ(SerialiseSwitchMlRoceFrame(*parsed), bytes);
    // A SEND of the same connections (opcode 00100) is none of SwitchML's.
    auto other = packet;
    other.opcode = 0b00100100;
    EXPECT_FALSE(ParseSwitchMlRoceFrame(Wrap(RoceFrom(5), Encode(other))));
}

SwitchMlSwitchFrames
MakeSwitchMlBox(const SlotWire& wire, uint32_t workers = 2)
{
    std::vector<SwitchMlSwitchFrames::Worker> list;
    for (uint32_t worker = 0; worker < workers; ++worker)
    {
        list.push_back({static_cast<uint16_t>(10 + worker), AddressOf(worker)});
    }
    return {wire, 64, SWITCH, list};
}

TEST(SwitchMlSwitchFrames, AnswersThePublishedClient)
{
    auto box = MakeSwitchMlBox({FORMAT_SWITCHML, 64, 1});
    const auto contribute = [](uint32_t worker, uint8_t set, int32_t first, int8_t exponent) {
        vectors::SwitchMl packet{1, 9, 5, set, 3, exponent, 0, MakeValues(first)};
        return Wrap(UdpFrom(worker), Encode(packet));
    };
    const auto answer = [](uint32_t worker, uint8_t set, int8_t exponent) {
        // 1, 2, 3 ... and 100, 101, 102 ... are 101, 103, 105 ...
        auto sums = MakeValues(0);
        for (auto& sum : sums)
        {
            sum = 101 + 2 * sum;
        }
        return Wrap(UdpTo(worker), Encode(vectors::SwitchMl{1, 9, 5, set, 3, exponent, 0, sums}));
    };
    using Frames = std::vector<SlotSwitchFrames::PortFrame>;
    EXPECT_THAT(box.Process(10, contribute(0, 0, 1, -4)), IsEmpty());
    EXPECT_THAT(box.Process(10, contribute(0, 0, 1, -4)), IsEmpty()); // it came twice
    EXPECT_EQ(box.Process(11, contribute(1, 0, 100, 6)),
              (Frames{{10, answer(0, 0, 6)}, {11, answer(1, 0, 6)}}));
    // Who asks again gets the answer alone, also when the other one is in the other set.
    EXPECT_THAT(box.Process(10, contribute(0, 1, 1, 2)), IsEmpty());
    EXPECT_EQ(box.Process(11, contribute(1, 0, 100, 6)), (Frames{{11, answer(1, 0, 6)}}));
    EXPECT_EQ(box.Process(11, contribute(1, 1, 100, 1)),
              (Frames{{10, answer(0, 1, 2)}, {11, answer(1, 1, 2)}}));
    // And the first set is free again: nothing of it is left in the sums.
    EXPECT_THAT(box.Process(11, contribute(1, 0, 100, -9)), IsEmpty());
    EXPECT_THAT(box.Process(10, contribute(0, 0, 1, -8)), SizeIs(2));
}

TEST(SwitchMlSwitchFrames, DropsStrangers)
{
    auto box = MakeSwitchMlBox({FORMAT_SWITCHML, 64, 1});
    const vectors::SwitchMl packet{1, 9, 5, 0, 3, 0, 0, MakeValues(1)};
    EXPECT_THAT(box.Process(12, Wrap(UdpFrom(2), Encode(packet))), IsEmpty());
    EXPECT_EQ(box.GetSwitch().GetCount(SlotVerdict::UnknownWorker), 1U);
    auto beyond = packet;
    beyond.slot = 64;
    EXPECT_THAT(box.Process(10, Wrap(UdpFrom(0), Encode(beyond))), IsEmpty());
    EXPECT_EQ(box.GetSwitch().GetCount(SlotVerdict::OutOfRange), 1U);
    auto elsewhere = UdpFrom(0);
    elsewhere.destination = AddressOf(1);
    EXPECT_THAT(box.Process(10, Wrap(elsewhere, Encode(packet))), IsEmpty());
    EXPECT_THAT(box.Process(10, {}), IsEmpty());
}

/// Packet `place` of a message of four in queue pair 2, which has the slots 8 to 11.
std::vector<uint8_t>
MakeWrite(uint32_t worker, uint32_t place, uint32_t sequence)
{
    vectors::Write packet{place == 0   ? FIRST
                          : place == 3 ? LAST
                                       : MIDDLE,
                          0x800002 + (worker << 16),
                          sequence,
                          {},
                          {},
                          MakeValues(static_cast<int32_t>(place))};
    if (place == 0)
    {
        packet.reth = Reth{0x7000, 2 * 8, 1024};
    }
    if (place == 3)
    {
        packet.immediate = Immediate{77, 0, 0};
    }
    return Wrap(RoceFrom(worker), Encode(packet));
}

TEST(SwitchMlSwitchFrames, AnswersMessagesOfSeveralPackets)
{
    auto box = MakeSwitchMlBox({FORMAT_SWITCHML_ROCE, 64, 4});
    for (uint32_t place = 0; place < 4; ++place)
    {
        EXPECT_THAT(box.Process(10, MakeWrite(0, place, 500 + place)), IsEmpty());
    }
    for (uint32_t place = 0; place < 4; ++place)
    {
        // 24 bits of sequence number: 0xFFFFFE, 0xFFFFFF, 0, 1.
        const auto results = box.Process(11, MakeWrite(1, place, (0xFFFFFE + place) & 0xFFFFFF));
        ASSERT_THAT(results, SizeIs(2));
        // The address and the length are those of the last worker, sequence numbers begin at half
        // the worker's queue pair: (256 + 2) / 2.
        vectors::Write answer{place == 0   ? FIRST
                              : place == 3 ? LAST
                                           : MIDDLE,
                              0x102,
                              129 + place,
                              {},
                              {},
                              MakeValues(static_cast<int32_t>(place))};
        for (auto& value : answer.values)
        {
            value *= 2;
        }
        for (uint32_t worker = 0; worker < 2; ++worker)
        {
            if (place == 0)
            {
                answer.reth = Reth{0x7000, 0x1000 + worker, 1024};
            }
            if (place == 3)
            {
                answer.immediate = Immediate{77, 0, 0};
            }
            EXPECT_EQ(results[worker].port, 10 + worker);
            EXPECT_EQ(results[worker].bytes, Wrap(RoceTo(worker), Encode(answer)));
        }
    }
    EXPECT_EQ(box.GetQueuePairs().GetViolations(), 0U);
}

TEST(SwitchMlSwitchFrames, TakesNothingBehindAGapUpToTheNextMessage)
{
    auto box = MakeSwitchMlBox({FORMAT_SWITCHML_ROCE, 64, 4});
    box.Process(10, MakeWrite(0, 0, 500));
    box.Process(10, MakeWrite(0, 2, 502)); // 501 was lost
    box.Process(10, MakeWrite(0, 3, 503));
    // Nor when the lost one comes late.
    box.Process(10, MakeWrite(0, 1, 501));
    EXPECT_EQ(box.GetQueuePairs().GetViolations(), 3U);
    EXPECT_EQ(box.GetSwitch().GetCount(SlotVerdict::Held), 1U);
    // The whole message again: its first packet is known, the others count.
    for (uint32_t place = 0; place < 4; ++place)
    {
        box.Process(10, MakeWrite(0, place, 504 + place));
    }
    EXPECT_EQ(box.GetSwitch().GetCount(SlotVerdict::Duplicate), 1U);
    EXPECT_EQ(box.GetSwitch().GetCount(SlotVerdict::Held), 4U);
}

/// Gives a result to a worker's NIC. \returns whether its message is whole
bool
Receive(SlotMessageReceiver& receiver, const SlotWire& wire, const std::vector<uint8_t>& bytes)
{
    const auto write = ParseSwitchMlRoceFrame(bytes);
    AggregationPacket packet;
    auto& header = packet.As<SlotHeader>();
    header = {};
    // Of the place of a packet a NIC sees whether it is the first, the last or another.
    header.slot = write->HasAddress() ? 0 : write->HasImmediate() ? 3 : 1;
    header.sequence = write->sequence;
    packet.values = write->values;
    return receiver.Receive(wire, packet);
}

TEST(SwitchMlSwitchFrames, MayMakeAMessageOfPacketsInTheWrongOrder)
{
    // Results to all and to one worker alone share the sequence numbers of a queue pair, and a NIC
    // writes packets in that order. Packet 2 of worker 0 is lost; both workers time out, and worker
    // 0 is ahead by one packet between worker 1's packets 0 and 1: then worker 1 gets 0 (again), 2
    // (to all), 1 (again), 3 (to all), whose numbers follow each other. So it is in the published
    // program, as far as its sources tell; ours shows the wrong sum.
    const SlotWire wire{FORMAT_SWITCHML_ROCE, 64, 4};
    auto box = MakeSwitchMlBox(wire);
    SlotMessageReceiver receiver;
    bool isWhole = false;
    const auto send = [&](uint32_t worker, uint32_t place, uint32_t sequence) {
        for (const auto& result : box.Process(10, MakeWrite(worker, place, sequence)))
        {
            const auto write = ParseSwitchMlRoceFrame(result.bytes);
            isWhole =
                (write->destination == AddressOf(1) && Receive(receiver, wire, result.bytes)) ||
                isWhole;
        }
    };
    for (uint32_t place = 0; place < 4; ++place)
    {
        send(1, place, 100 + place);
        if (place < 2)
        {
            send(0, place, 200 + place);
        }
    }
    EXPECT_FALSE(isWhole);
    send(0, 0, 204);
    send(0, 1, 205);
    send(1, 0, 104);
    send(0, 2, 206);
    send(1, 1, 105);
    send(0, 3, 207);
    ASSERT_TRUE(isWhole);
    std::vector<int32_t> first;
    for (const auto& piece : receiver.TakePieces())
    {
        first.push_back(piece.values.front() / 2); // the place that both have sent it in
    }
    EXPECT_THAT(first, ElementsAre(0, 2, 1, 3));
}

TEST(SlotMessageReceiver, LosesAMessageOfAnotherLength)
{
    const SlotWire wire{FORMAT_SWITCHML_ROCE, 64, 4};
    SlotMessageReceiver receiver;
    uint32_t sequence = 0xFFFFFE;
    const auto receive = [&](uint16_t place, uint32_t gap = 0) {
        AggregationPacket packet;
        packet.As<SlotHeader>() = {.slot = place, .sequence = (sequence + gap) & 0xFFFFFF};
        sequence += 1 + gap;
        return receiver.Receive(wire, packet);
    };
    EXPECT_FALSE(receive(1)); // no message has begun
    const auto isWhole = [&](const std::vector<uint16_t>& places) {
        bool whole = false;
        for (const auto place : places)
        {
            whole = receive(place);
        }
        return whole;
    };
    EXPECT_TRUE(isWhole({0, 1, 2, 3})); // over the end of the 24 bits
    EXPECT_EQ(receiver.TakePieces().size(), 4U);
    EXPECT_FALSE(isWhole({0, 1, 3}));
    EXPECT_FALSE(isWhole({0, 1, 2, 2, 3}));
    EXPECT_TRUE(isWhole({0, 1, 0, 1, 2, 3})); // begun anew
    EXPECT_FALSE(receive(0));
    EXPECT_FALSE(receive(1, 1));
    EXPECT_FALSE(isWhole({2, 3})); // behind the gap
    EXPECT_TRUE(isWhole({0, 1, 2, 3}));
}

TEST(SwitchMlSwitchFrames, SumsRandomMessagesOfRandomWorkers)
{
    std::mt19937 random(3);
    for (uint32_t round = 0; round < 20; ++round)
    {
        const uint32_t workers = 1 + random() % 32;
        const uint32_t messagePackets = 1U << random() % 4;
        const SlotWire wire{FORMAT_SWITCHML_ROCE, 64, messagePackets};
        auto box = MakeSwitchMlBox(wire, workers);
        const uint32_t index = random() % (64 / messagePackets);
        std::vector<int32_t> sums(64);
        for (uint32_t worker = 0; worker < workers; ++worker)
        {
            const auto first = static_cast<int32_t>(random() % 1000);
            for (size_t i = 0; i < sums.size(); ++i)
            {
                sums[i] += first + static_cast<int32_t>(i);
            }
            for (uint32_t place = 0; place < messagePackets; ++place)
            {
                auto frame = MakeSwitchMlFrame(RoceFrom(worker), SlotMessage::Contribution);
                frame.header.worker = static_cast<uint16_t>(worker);
                frame.header.slot = static_cast<uint16_t>(index * messagePackets + place);
                frame.header.sequence = place;
                frame.values = MakeValues(first);
                const auto results =
                    box.Process(static_cast<uint16_t>(10 + worker),
                                SerialiseSwitchMlRoceFrame(MakeSwitchMlRoceFrame(frame, wire)));
                ASSERT_THAT(results, SizeIs(worker + 1 < workers ? 0 : workers));
                for (const auto& result : results)
                {
                    EXPECT_EQ(ParseSwitchMlRoceFrame(result.bytes)->values, sums);
                }
            }
        }
    }
}

} // namespace
} // namespace ns3::gradsync
