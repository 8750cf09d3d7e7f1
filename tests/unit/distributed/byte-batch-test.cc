// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/byte-batch.h"

#include <cstdint>
#include <gmock/gmock.h>
#include <span>
#include <stdexcept>
#include <vector>

namespace ns3::gradsync
{
namespace
{

TEST(ByteBatchTest, GivesBackWhatWasPutInInTheSameOrder)
{
    const std::vector<uint16_t> list{3, 1, 2};
    ByteBatch batch;
    AppendPlain(batch, uint32_t{7});
    AppendList(batch, std::span<const uint16_t>(list));
    AppendList(batch, std::span<const uint16_t>());
    AppendPlain(batch, int64_t{-1});
    BatchReader reader(batch);
    EXPECT_EQ(reader.Take<uint32_t>(), 7U);
    EXPECT_EQ(reader.TakeList<uint16_t>(), list);
    EXPECT_TRUE(reader.TakeList<uint16_t>().empty());
    EXPECT_FALSE(reader.IsAtEnd());
    EXPECT_EQ(reader.Take<int64_t>(), -1);
    EXPECT_TRUE(reader.IsAtEnd());
}

TEST(ByteBatchTest, AViewLooksAtAListWhereItLies)
{
    const std::vector<uint64_t> list{3, 1, 2};
    ByteBatch batch;
    AppendPlain(batch, uint8_t{7}); // what follows is not aligned
    AppendList(batch, std::span<const uint64_t>(list));
    AppendPlain(batch, uint8_t{9});
    BatchReader reader(batch);
    reader.Take<uint8_t>();
    const auto view = reader.TakeView<uint64_t>();
    ASSERT_EQ(view.GetSize(), list.size());
    for (size_t i = 0; i < list.size(); ++i)
    {
        EXPECT_EQ(view[i], list[i]);
    }
    EXPECT_EQ(reader.Take<uint8_t>(), 9);
    EXPECT_TRUE(reader.IsAtEnd());
}

TEST(ByteBatchTest, ABatchThatIsCutShortIsAnError)
{
    ByteBatch batch;
    AppendPlain(batch, uint64_t{UINT64_MAX}); // more values than there are bytes
    EXPECT_THROW(BatchReader(batch).TakeList<uint64_t>(), std::runtime_error);
    batch.resize(7);
    EXPECT_THROW(BatchReader(batch).Take<uint64_t>(), std::runtime_error);
}

} // namespace
} // namespace ns3::gradsync
