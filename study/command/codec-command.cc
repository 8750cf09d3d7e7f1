// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/codec-reader.h"
#include "ns3/gradient-codec.h"
#include "ns3/program-commands.h"
#include "ns3/scenario-error.h"

#include <fmt/format.h>
#include <istream>
#include <limits>
#include <memory>
#include <ostream>
#include <span>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// With what the options put around it.
std::unique_ptr<GradientCodec>
Decorate(std::unique_ptr<GradientCodec> codec, const CodecOptions& options)
{
    if (options.feedback)
    {
        codec = AddErrorFeedback(std::move(codec));
    }
    return options.momentum > 0.0
               ? AddMomentum(std::move(codec), static_cast<float>(options.momentum))
               : std::move(codec);
}

/// One tensor of one worker, with what its codec keeps.
class TensorCodec
{
  public:
    TensorCodec(const CodecSpec& spec, uint64_t elements, const CodecOptions& options)
        : m_codec(Decorate(MakeCodec(spec, elements), options)),
          m_message(m_codec->GetMaximumBytes()),
          m_workspace(m_codec->GetWorkspaceBytes())
    {
    }

    /// Puts what receivers decode in the place of the gradient. \returns bytes of the message
    uint64_t Pass(std::span<float> gradient)
    {
        const auto bytes = m_codec->Compress(gradient, m_message, m_workspace);
        m_codec->Decompress(std::span(m_message).first(bytes), gradient, m_workspace);
        return bytes;
    }

  private:
    std::unique_ptr<GradientCodec> m_codec;
    std::vector<std::byte> m_message;
    std::vector<std::byte> m_workspace;
};

CodecSpec
ParseSpec(const std::string& text)
{
    const Json document = Json::parse(text, nullptr, false);
    if (document.is_discarded())
    {
        throw ScenarioError("codec", fmt::format("found {}, expected JSON", text));
    }
    return ReadCodec(JsonValue(document, "codec", "codec"));
}

/// \returns whether all was there; false at the end of the input
bool
ReadGradient(std::istream& in, std::vector<float>& gradient)
{
    const auto bytes = static_cast<std::streamsize>(gradient.size() * sizeof(float));
    in.read(reinterpret_cast<char*>(gradient.data()), bytes);
    if (in.gcount() != 0 && in.gcount() != bytes)
    {
        throw ScenarioError(
            "standard input",
            fmt::format("ends in the middle of a gradient, {} of {} bytes", in.gcount(), bytes));
    }
    return in.gcount() == bytes;
}

} // namespace

int
CodecCommand(const CodecOptions& options, std::istream& in, std::ostream& out)
{
    auto spec = ParseSpec(options.codec);
    // Below the user's seed one for each worker and tensor, lest they draw the same numbers.
    spec.seed = uint64_t{options.seed} << 32;
    uint64_t elements = 0;
    std::vector<std::vector<TensorCodec>> workers(options.workers);
    for (const auto size : options.tensors)
    {
        if (size == 0 || size > std::numeric_limits<uint32_t>::max())
        {
            throw ScenarioError("--tensors", "a tensor has 1 to 4294967295 elements");
        }
        elements += size;
        for (auto& worker : workers)
        {
            worker.emplace_back(spec, size, options);
            ++spec.seed;
        }
    }
    if (elements == 0 || workers.empty())
    {
        throw ScenarioError("--tensors", "there must be a tensor and a worker");
    }
    std::vector<float> gradient(elements);
    for (size_t turn = 0; ReadGradient(in, gradient); turn = (turn + 1) % workers.size())
    {
        uint64_t bytes = 0;
        auto rest = std::span(gradient);
        for (size_t tensor = 0; tensor < options.tensors.size(); ++tensor)
        {
            bytes += workers[turn][tensor].Pass(rest.first(options.tensors[tensor]));
            rest = rest.subspan(options.tensors[tensor]);
        }
        out.write(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
        out.write(reinterpret_cast<const char*>(gradient.data()),
                  static_cast<std::streamsize>(gradient.size() * sizeof(float)));
        out.flush();
    }
    return exit_code::OK;
}

} // namespace ns3::gradsync
