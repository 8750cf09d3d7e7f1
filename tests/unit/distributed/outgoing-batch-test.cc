// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/outgoing-batch.h"

#include <cstdint>
#include <gmock/gmock.h>
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

TEST(OutgoingBatch, IsReadAsIfAllHadBeenAppendedInTurn)
{
    const std::vector<uint16_t> odd{1, 3, 5};
    const std::vector<uint64_t> even{2, 4};
    OutgoingBatch batch;
    AppendPlain(batch.GetOwn(), uint32_t{7});
    batch.ReferTo(std::span<const uint16_t>(odd));
    batch.ReferTo(std::span<const uint64_t>());
    AppendList(batch.GetOwn(), std::span<const uint16_t>(odd));
    batch.ReferTo(std::span<const uint64_t>(even));

    ByteBatch appended;
    AppendPlain(appended, uint32_t{7});
    AppendList(appended, std::span<const uint16_t>(odd));
    AppendList(appended, std::span<const uint64_t>());
    AppendList(appended, std::span<const uint16_t>(odd));
    AppendList(appended, std::span<const uint64_t>(even));
    EXPECT_EQ(Copy(batch), appended);
}

TEST(OutgoingBatch, CopiesAListAsItIsWhenTheBatchLeaves)
{
    std::vector<uint32_t> list{1, 2};
    OutgoingBatch batch;
    batch.ReferTo(std::span<const uint32_t>(list));
    list[1] = 9;
    const auto bytes = Copy(batch);
    BatchReader reader(bytes);
    EXPECT_THAT(reader.TakeList<uint32_t>(), testing::ElementsAre(1, 9));
}

TEST(OutgoingBatch, IsEmptyOnceCleared)
{
    const std::vector<uint32_t> list{1, 2};
    OutgoingBatch batch(ByteBatch(3));
    batch.ReferTo(std::span<const uint32_t>(list));
    batch.Clear();
    EXPECT_EQ(batch.GetSize(), 0U);
    AppendPlain(batch.GetOwn(), uint8_t{5});
    EXPECT_EQ(Copy(batch), ByteBatch{std::byte{5}});
}

} // namespace
} // namespace ns3::gradsync
