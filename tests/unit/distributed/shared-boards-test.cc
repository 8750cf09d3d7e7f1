// SPDX-License-Identifier: GPL-2.0-only
#include "support/draw.h"
#include "support/forked-link.h"

#include "ns3/shared-boards.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <span>
#include <stdexcept>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using tests::ForkedMemory;
using tests::RunForked;

/// What a process has for another in a round: all can work it out.
std::vector<uint32_t>
MakeWords(uint32_t round, uint32_t from, uint32_t to)
{
    Draw draw((round * 8 + from) * 8 + to);
    const auto most = draw.IsOneIn(10) ? 100'000U : 50U;
    std::vector<uint32_t> words(draw.IsOneIn(3) ? 0 : draw.Between(1, most));
    std::ranges::generate(words, [&draw] { return draw.Between(0, 1'000'000); });
    return words;
}

std::vector<OutgoingBatch>
MakeBatches(uint32_t round, uint32_t from, uint32_t count)
{
    std::vector<OutgoingBatch> batches(count);
    for (uint32_t to = 0; to < count; ++to)
    {
        for (const auto word : MakeWords(round, from, to))
        {
            AppendPlain(batches[to].GetOwn(), word);
        }
    }
    return batches;
}

std::vector<uint32_t>
ReadWords(std::span<const std::byte> batch)
{
    std::vector<uint32_t> words(batch.size() / sizeof(uint32_t));
    std::ranges::copy(batch, std::as_writable_bytes(std::span(words)).begin());
    return words;
}

ProcessNote
MakeNote(int64_t clock)
{
    ProcessNote note{};
    note.clock = clock;
    return note;
}

/// Sends and receives in each round: others may write the next one meanwhile.
void
TalkInRounds(ProcessLink& link, uint32_t rounds)
{
    const auto count = link.GetCount();
    const auto own = link.GetOwn();
    for (uint32_t round = 0; round < rounds; ++round)
    {
        auto batches = MakeBatches(round, own, count);
        link.Send(MakeNote(int64_t{round} * 10 + own), batches);
        for (uint32_t peer = 0; peer < count; ++peer)
        {
            ProcessNote note{};
            if (peer == own)
            {
                continue;
            }
            const auto batch = link.Receive(peer, note);
            if (note.clock != int64_t{round} * 10 + peer ||
                ReadWords(batch) != MakeWords(round, peer, own))
            {
                throw std::runtime_error("not what was put up");
            }
        }
    }
}

TEST(SharedBoards, GiveAllOthersWhatWasPutUpForThemInEachRound)
{
    for (const uint32_t count : {1U, 2U, 3U, 4U})
    {
        EXPECT_EQ(RunForked(count, [](ProcessLink& link) { TalkInRounds(link, 300); }), 0U)
            << count;
    }
}

/// Two boards of one process, which nobody need wait for.
struct TwoBoards
{
    explicit TwoBoards(uint64_t roomBytes)
        : layout{.processes = 2, .roomBytes = roomBytes},
          memory(layout)
    {
    }

    SharedBoards Make(uint32_t own) const
    {
        return {layout, own, memory.GetSegments(), SharedBoards::Cores::OfEach};
    }

    SharedBoards::Layout layout;
    ForkedMemory memory;
};

TEST(SharedBoards, WithoutRoomOnlyTheNoteAndTheSizesAreUp)
{
    // 10 words of 4 bytes for each other: as many as there is room for, then a byte less.
    for (const uint64_t room : {40U, 39U})
    {
        const TwoBoards boards(room);
        auto writer = boards.Make(0);
        auto reader = boards.Make(1);
        std::vector<OutgoingBatch> batches(2);
        batches[1].GetOwn().resize(40);
        EXPECT_FALSE(reader.IsUp(0));
        EXPECT_EQ(writer.PutUp(MakeNote(7), batches), room == 40);
        EXPECT_TRUE(reader.IsUp(0));
        const auto reading = reader.Read(0);
        EXPECT_EQ(reading.note.clock, 7);
        EXPECT_EQ(reading.size, 40U);
        EXPECT_EQ(reading.batch != nullptr, room == 40);
        EXPECT_FALSE(reader.IsUp(0));
    }
}

TEST(SharedBoards, WhoWaitsFindsOutThatNothingComes)
{
    const TwoBoards boards(64);
    auto reader = boards.Make(1);
    EXPECT_FALSE(reader.Await(0));
    std::vector<OutgoingBatch> batches(2);
    boards.Make(0).PutUp({}, batches);
    EXPECT_TRUE(reader.Await(0));
}

TEST(ForkedLink, OfAProcessThatIsGoneTheOthersHear)
{
    // The last one ends at once, and the others wait for it.
    EXPECT_EQ(RunForked(3,
                        [](ProcessLink& link) {
                            ProcessNote note{};
                            std::vector<OutgoingBatch> batches(3);
                            if (link.GetOwn() == 2)
                            {
                                return;
                            }
                            link.Send(note, batches);
                            link.Receive(2, note);
                        }),
              2U);
}

} // namespace
} // namespace ns3::gradsync
