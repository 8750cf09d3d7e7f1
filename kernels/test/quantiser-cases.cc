// SPDX-License-Identifier: GPL-2.0-only
// Codecs that send every element. Part of kernels-test.
#include "compression-kernels.h"
#include "device-array.h"
#include "support/nasty-gradients.h"

#include "ns3/quantisers.h"

namespace ns3::gradsync
{

bool
TestInt8(const Gradient& values)
{
    bool isSame = true;
    for (const uint32_t block : {256U, 8192U})
    {
        std::vector<int8_t> codes(values.size());
        Gradient scales(CountBlocks(values.size(), block));
        Gradient decoded(values.size());
        EncodeInt8Blocks(values, block, codes, scales);
        DecodeInt8Blocks(codes, scales, block, decoded);
        DeviceArray<float> in(values);
        DeviceArray<int8_t> outCodes(values.size());
        DeviceArray<float> outScales(scales.size());
        DeviceArray<float> out(values.size());
        Check(kernels::EncodeInt8Blocks(in.Get(),
                                        values.size(),
                                        block,
                                        outCodes.Get(),
                                        outScales.Get(),
                                        nullptr));
        Check(kernels::DecodeInt8Blocks(outCodes.Get(),
                                        outScales.Get(),
                                        values.size(),
                                        block,
                                        out.Get(),
                                        nullptr));
        isSame = isSame && AreSame(codes, outCodes) && AreSame(scales, outScales) &&
                 AreSame(decoded, out);
    }
    return isSame;
}

bool
TestSixteenBits(const Gradient& values)
{
    std::vector<uint16_t> half(values.size());
    std::vector<uint16_t> bfloat(values.size());
    Gradient fromHalf(values.size());
    Gradient fromBfloat(values.size());
    EncodeHalf(values, half);
    DecodeHalf(half, fromHalf);
    EncodeBfloat(values, bfloat);
    DecodeBfloat(bfloat, fromBfloat);
    DeviceArray<float> in(values);
    DeviceArray<uint16_t> outHalf(values.size());
    DeviceArray<uint16_t> outBfloat(values.size());
    DeviceArray<float> backHalf(values.size());
    DeviceArray<float> backBfloat(values.size());
    const auto count = values.size();
    Check(kernels::EncodeHalf(in.Get(), count, outHalf.Get(), nullptr));
    Check(kernels::DecodeHalf(outHalf.Get(), count, backHalf.Get(), nullptr));
    Check(kernels::EncodeBfloat(in.Get(), count, outBfloat.Get(), nullptr));
    Check(kernels::DecodeBfloat(outBfloat.Get(), count, backBfloat.Get(), nullptr));
    return AreSame(half, outHalf) && AreSame(fromHalf, backHalf) && AreSame(bfloat, outBfloat) &&
           AreSame(fromBfloat, backBfloat);
}

bool
TestTwoBits(const Gradient& values)
{
    constexpr float THRESHOLD = 0.01F;
    Gradient residual = MakeRandomGradient(values.size(), 11);
    DeviceArray<float> outResidual(residual);
    std::vector<uint32_t> words(CountBlocks(values.size(), 16));
    Gradient decoded(values.size());
    EncodeTwoBits(values, residual, THRESHOLD, words);
    DecodeTwoBits(words, THRESHOLD, decoded);
    DeviceArray<float> in(values);
    DeviceArray<uint32_t> outWords(words.size());
    DeviceArray<float> out(values.size());
    const auto count = values.size();
    Check(kernels::EncodeTwoBits(in.Get(),
                                 outResidual.Get(),
                                 count,
                                 THRESHOLD,
                                 outWords.Get(),
                                 nullptr));
    Check(kernels::DecodeTwoBits(outWords.Get(), count, THRESHOLD, out.Get(), nullptr));
    return AreSame(words, outWords) && AreSame(residual, outResidual) && AreSame(decoded, out);
}

bool
TestFixedPoint(const Gradient& values)
{
    constexpr uint32_t PACKET = 64;
    constexpr uint32_t WORKERS = 7;
    const auto count = values.size();
    std::vector<int32_t> codes(count);
    std::vector<int32_t> scaled(count);
    std::vector<int8_t> exponents(CountBlocks(count, PACKET));
    Gradient decoded(count);
    Gradient unscaled(count);
    EncodeFixedPoints(values, 1e8F, codes);
    DecodeFixedPoints(codes, 1e8F, decoded);
    FindPacketExponents(values, PACKET, exponents);
    EncodeWithExponents(values, PACKET, WORKERS, exponents, scaled);
    DecodeWithExponents(scaled, PACKET, WORKERS, exponents, unscaled);
    DeviceArray<float> in(values);
    DeviceArray<int32_t> outCodes(count);
    DeviceArray<int32_t> outScaled(count);
    DeviceArray<int8_t> outExponents(exponents.size());
    DeviceArray<float> outDecoded(count);
    DeviceArray<float> outUnscaled(count);
    Check(kernels::EncodeFixedPoints(in.Get(), count, 1e8F, outCodes.Get(), nullptr));
    Check(kernels::DecodeFixedPoints(outCodes.Get(), count, 1e8F, outDecoded.Get(), nullptr));
    Check(kernels::FindPacketExponents(in.Get(), count, PACKET, outExponents.Get(), nullptr));
    Check(kernels::EncodeWithExponents(in.Get(),
                                       count,
                                       PACKET,
                                       WORKERS,
                                       outExponents.Get(),
                                       outScaled.Get(),
                                       nullptr));
    Check(kernels::DecodeWithExponents(outScaled.Get(),
                                       count,
                                       PACKET,
                                       WORKERS,
                                       outExponents.Get(),
                                       outUnscaled.Get(),
                                       nullptr));
    return AreSame(codes, outCodes) && AreSame(decoded, outDecoded) &&
           AreSame(exponents, outExponents) && AreSame(scaled, outScaled) &&
           AreSame(unscaled, outUnscaled);
}

namespace
{

bool
IsSwitchInt8Same(const Gradient& values, uint32_t packet, uint32_t workers)
{
    const auto count = values.size();
    std::vector<int8_t> exponents(CountBlocks(count, packet));
    std::vector<int8_t> codes(count);
    Gradient decoded(count);
    FindPacketExponents(values, packet, exponents);
    EncodeBytesWithExponents(values, packet, workers, exponents, codes);
    DecodeBytesWithExponents(codes, packet, workers, exponents, decoded);
    DeviceArray<float> in(values);
    DeviceArray<int8_t> outExponents(exponents.size());
    DeviceArray<int8_t> outCodes(count);
    DeviceArray<float> out(count);
    int8_t* const shared = outExponents.Get();
    int8_t* const bytes = outCodes.Get();
    Check(kernels::FindPacketExponents(in.Get(), count, packet, shared, nullptr));
    Check(kernels::EncodeBytesWithExponents(in.Get(),
                                            count,
                                            packet,
                                            workers,
                                            shared,
                                            bytes,
                                            nullptr));
    Check(kernels::DecodeBytesWithExponents(bytes,
                                            count,
                                            packet,
                                            workers,
                                            shared,
                                            out.Get(),
                                            nullptr));
    return AreSame(exponents, outExponents) && AreSame(codes, outCodes) && AreSame(decoded, out);
}

bool
IsSwitchInt8Refused(uint32_t packet, uint32_t workers)
{
    DeviceArray<float> values(Gradient(packet + 1));
    DeviceArray<int8_t> exponents(packet + 1);
    DeviceArray<int8_t> codes(packet + 1);
    const auto encoded = kernels::EncodeBytesWithExponents(values.Get(),
                                                           packet,
                                                           packet,
                                                           workers,
                                                           exponents.Get(),
                                                           codes.Get(),
                                                           nullptr);
    const auto decoded = kernels::DecodeBytesWithExponents(codes.Get(),
                                                           packet,
                                                           packet,
                                                           workers,
                                                           exponents.Get(),
                                                           values.Get(),
                                                           nullptr);
    return encoded == cudaErrorInvalidValue && decoded == cudaErrorInvalidValue;
}

} // namespace

bool
TestSwitchInt8(const Gradient& values)
{
    // What 8 bits cannot hold, and packets that threads would share, are refused.
    return IsSwitchInt8Same(values, 64, 7) && IsSwitchInt8Same(values, 256, 1) &&
           IsSwitchInt8Same(values, 256, 127) && IsSwitchInt8Same(values, 12, 8) &&
           IsSwitchInt8Refused(64, 0) && IsSwitchInt8Refused(64, 128) &&
           IsSwitchInt8Refused(0, 8) && IsSwitchInt8Refused(6, 8);
}

} // namespace ns3::gradsync
