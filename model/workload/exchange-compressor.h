// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EXCHANGE_COMPRESSOR_H
#define GRADSYNC_EXCHANGE_COMPRESSOR_H

#include "ns3/codec-profile.h"
#include "ns3/codec-spec.h"
#include "ns3/plan-compressor.h"
#include "ns3/plan.h"
#include "ns3/scheme.h"
#include "ns3/worker-groups.h"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace ns3::gradsync
{

/// A codec and where it works.
struct CodecChoice
{
    CodecSpec spec;
    /// On which messages it works: "all", "servers" (between dedicated servers), or the name of a
    /// level, whose groups they must leave.
    std::string scope{"all"};
    /// Of all elements: works on the other messages, and on what BiSparse leaves dense.
    std::optional<CodecSpec> elsewhere{};

    /// Whether there is anything that it makes shorter.
    bool IsCodec() const
    {
        return spec.kind != CodecKind::Fp32 || elsewhere.has_value();
    }
};

/// Thrown for a CodecChoice::scope that is none; the text is meant for the user.
class CodecScopeError : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

/**
 * \param scope as of CodecChoice
 * \param workers of the plan, whose other ranks are dedicated servers
 * \param groups of all ranks of the plan
 * \throws CodecScopeError
 */
CodecScope MakeCodecScope(const std::string& scope, uint32_t workers, const WorkerGroups& groups);

/**
 * CompressPlan with what a profile says of the codec's times, if it is one that goes with the plan.
 * \param scheme that made the plan
 * \param profile null: the codec takes no time
 * \throws SchemeError when the codec does not go with the plan or the scheme
 * \throws std::invalid_argument for PowerSGD, which makes two exchanges (BuildLowRankExchange)
 * \throws ProfileError when the profile cannot tell a time
 */
Plan CompressExchange(Plan plan,
                      const Scheme& scheme,
                      const CodecChoice& choice,
                      const CodecScope& scope,
                      const std::shared_ptr<const CodecProfile>& profile);

} // namespace ns3::gradsync

#endif // GRADSYNC_EXCHANGE_COMPRESSOR_H
