// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-calculation.h"

#include <gtest/gtest.h>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Of the payload alone: no field is in the sum.
uint64_t
CalculateOf(P4HashAlgorithm algorithm, std::string_view text)
{
    const P4Calculation calculation{.algorithm = algorithm, .inputs = {}, .withPayload = true};
    const std::vector<uint8_t> bytes(text.begin(), text.end());
    return Calculate(calculation, nullptr, bytes);
}

} // namespace

TEST(P4Calculation, CrcsHaveTheirPublishedCheckValues)
{
    // The "check" column of Williams, "A painless guide to CRC error detection algorithms", and of
    // the catalogue of CRCs: CRC-16/ARC, which is what BMv2 calls crc16, and CRC-32 of IEEE 802.3.
    EXPECT_EQ(CalculateOf(P4HashAlgorithm::CRC16, "123456789"), 0xBB3D);
    EXPECT_EQ(CalculateOf(P4HashAlgorithm::CRC32, "123456789"), 0xCBF43926);
}

TEST(P4Calculation, CrcsOfNothingAreWhatTheRegisterStartsWith)
{
    // CRC-16 starts with 0; CRC-32 with ones that its end inverts.
    EXPECT_EQ(CalculateOf(P4HashAlgorithm::CRC16, ""), 0);
    EXPECT_EQ(CalculateOf(P4HashAlgorithm::CRC32, ""), 0);
}

TEST(P4Calculation, OtherHashesFollowTheirDefinition)
{
    // 0x3132 ^ 0x3334 ^ 0x3500; the first eight bytes as a number; and the complement of the sum
    // 0x3132 + 0x3334 + 0x3500 = 0x9966.
    EXPECT_EQ(CalculateOf(P4HashAlgorithm::XOR16, "12345"), 0x3706);
    EXPECT_EQ(CalculateOf(P4HashAlgorithm::IDENTITY, "12345"), 0x3132333435);
    EXPECT_EQ(CalculateOf(P4HashAlgorithm::CSUM16, "12345"), 0x6699);
}

} // namespace ns3::gradsync
