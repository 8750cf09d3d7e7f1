// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/outgoing-batch.h"

#include <cstdint>
#include <gmock/gmock.h>
#include <numeric>
#include <span>
#include <vector>

namespace ns3::gradsync
{
namespace
{

ByteBatch
Copy(const OutgoingBatch& batch)
{
    ByteBatch bytes(batch.GetSize());
    batch.CopyTo(bytes.data());
    return bytes;
}

template <typename T>
ChunkedList<T>
MakeList(const std::vector<T>& values)
{
    ChunkedList<T> list;
    for (const auto& value : values)
    {
        list.Append(value);
    }
    return list;
}

TEST(OutgoingBatch, IsReadAsIfAllHadBeenAppendedInTurn)
{
    for (const size_t count : {0U, 1U, 3U, 1023U, 1024U, 1025U, 5000U})
    {
        std::vector<uint16_t> odd(count);
        std::iota(odd.begin(), odd.end(), uint16_t{7});
        const auto longList = MakeList(odd);
        const auto shortList = MakeList<uint64_t>({2, 4});
        const ChunkedList<uint64_t> none;
        OutgoingBatch batch;
        AppendPlain(batch.GetOwn(), uint32_t{7});
        batch.ReferTo(longList);
        batch.ReferTo(none);
        AppendList(batch.GetOwn(), std::span<const uint16_t>(odd));
        batch.ReferTo(shortList);

        const std::vector<uint64_t> even{2, 4};
        ByteBatch appended;
        AppendPlain(appended, uint32_t{7});
        AppendList(appended, std::span<const uint16_t>(odd));
        AppendList(appended, std::span<const uint64_t>());
        AppendList(appended, std::span<const uint16_t>(odd));
        AppendList(appended, std::span<const uint64_t>(even));
        EXPECT_EQ(Copy(batch), appended) << count;
    }
}

TEST(OutgoingBatch, CopiesAListAsItIsWhenTheBatchLeaves)
{
    auto list = MakeList<uint32_t>({1, 2});
    OutgoingBatch batch;
    batch.ReferTo(list);
    list[1] = 9;
    const auto bytes = Copy(batch);
    BatchReader reader(bytes);
    EXPECT_THAT(reader.TakeList<uint32_t>(), testing::ElementsAre(1, 9));
}

TEST(OutgoingBatch, IsEmptyOnceCleared)
{
    const auto list = MakeList<uint32_t>({1, 2});
    OutgoingBatch batch(ByteBatch(3));
    batch.ReferTo(list);
    batch.Clear();
    EXPECT_EQ(batch.GetSize(), 0U);
    AppendPlain(batch.GetOwn(), uint8_t{5});
    EXPECT_EQ(Copy(batch), ByteBatch{std::byte{5}});
}

TEST(ChunkedList, GoesOnAfterItWasClearedAndSwapped)
{
    auto list = MakeList(std::vector<uint32_t>(3000, 1));
    ChunkedList<uint32_t> other;
    list.Swap(other);
    EXPECT_TRUE(list.IsEmpty());
    EXPECT_EQ(other.GetSize(), 3000U);
    other.Clear();
    other.Append(8);
    EXPECT_EQ(other.GetSize(), 1U);
    EXPECT_EQ(other[0], 8U);
    uint32_t chunks = 0;
    other.ForEachChunk([&chunks](std::span<const uint32_t> values) {
        ++chunks;
        EXPECT_THAT(values, testing::ElementsAre(8));
    });
    EXPECT_EQ(chunks, 1U);
}

} // namespace
} // namespace ns3::gradsync
