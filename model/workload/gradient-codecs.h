// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GRADIENT_CODECS_H
#define GRADSYNC_GRADIENT_CODECS_H

#include "ns3/codec-profile.h"
#include "ns3/exchange-compressor.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/// A codec of gradients, and how long it takes.
struct ProfiledCodec
{
    CodecChoice choice;
    std::shared_ptr<const CodecProfile> profile{}; //!< none: no time
};

/// Null: gradients are sent as they are. Equal pointers are the same codec.
using SharedCodec = std::shared_ptr<const ProfiledCodec>;

/// Which gradients have a codec.
struct GradientCodecRule
{
    std::vector<std::string> blocks{}; //!< patterns of their names (MatchesPattern); empty: all
    uint64_t aboveElements{0};         //!< those of more float32 elements than this
    SharedCodec codec{};
};

/// Whether a name is one that a pattern stands for, whose `*` stand for any text.
bool MatchesPattern(std::string_view name, std::string_view pattern);

/// The codec of a block's gradient: that of the first rule which it meets; null when there is none.
SharedCodec ChooseCodec(std::span<const GradientCodecRule> rules,
                        const std::string& block,
                        uint64_t bytes);

/// As what a collective of gradients with that codec is called: `gradients (dgc)`.
std::string NameCompressed(const std::string& label, const SharedCodec& codec);

} // namespace ns3::gradsync

#endif // GRADSYNC_GRADIENT_CODECS_H
