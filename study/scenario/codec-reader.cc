// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/codec-reader.h"

#include "ns3/document-path.h"
#include "ns3/parameter-reader.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <type_traits>
#include <variant>
#include <vector>

namespace ns3::gradsync
{

namespace
{

constexpr double LARGEST = std::numeric_limits<double>::max();
constexpr const char* DENSITY = "density";

const std::vector<std::string> PROFILE_KEYS{"$schema",
                                            "format",
                                            "file",
                                            "origin",
                                            "device",
                                            "provenance",
                                            "copyBytesPerSecond",
                                            "kernels"};
const std::vector<std::string> KERNEL_KEYS{"bytesPerElement",
                                           "fixedSeconds",
                                           "bytesPerSecond",
                                           "points",
                                           "shareOfCopy",
                                           "largestFitError"};

double
ReadPositive(const JsonValue& value, const std::string& key)
{
    // Smaller than any time or rate of hardware, but not 0, by which is divided.
    return value.Require(key, "1.0").AsNumber(1e-15, LARGEST);
}

std::vector<ProfilePoint>
ReadPoints(const JsonValue& list)
{
    std::vector<ProfilePoint> points;
    for (const auto& item : list.GetItems())
    {
        item.CheckKeys({"elements", "median_s", "p10_s", "p90_s", "graph_s"});
        const auto elements =
            item.Require("elements", "1024").AsUnsigned(1, std::numeric_limits<uint32_t>::max());
        if (!points.empty() && elements <= points.back().elements)
        {
            item.FailWith("the elements of the points must ascend");
        }
        points.push_back({elements, ReadPositive(item, "median_s")});
    }
    return points;
}

KernelProfile
ReadKernel(const JsonValue& value)
{
    value.CheckKeys(KERNEL_KEYS);
    KernelProfile kernel;
    kernel.bytesPerElement = ReadPositive(value, "bytesPerElement");
    kernel.bytesPerSecond = ReadPositive(value, "bytesPerSecond");
    kernel.fixedSeconds = value.Require("fixedSeconds", "2e-6").AsNumber(0.0, LARGEST);
    if (const auto points = value.Find("points"))
    {
        kernel.points = ReadPoints(*points);
    }
    return kernel;
}

void
InlineProfile(Json& job,
              const std::string& scenarioFile,
              const std::string& path,
              NamedFiles& files)
{
    if (!job.is_object() || !job.contains("profile") || !job["profile"].is_string())
    {
        return;
    }
    const JsonValue name(job["profile"], scenarioFile, path + ".profile");
    const auto file = name.AsPath();
    Json content = files.ReadJson(file);
    // Read here so that an error names the profile and not the scenario.
    ReadProfile(JsonValue(content, file, ""));
    content["file"] = name.AsName();
    job["profile"] = std::move(content);
}

/// Unions of a measurement (doc/gradients.rst), whose first is the density itself.
std::vector<double>
ReadUnions(const JsonValue& value, const std::string& codec)
{
    value.CheckKeys({"file", "format", "origin", "data", "provenance", "codecs", "gradient"});
    value.Require("format", "1").AsUnsigned(1, 1);
    const auto codecs = value.Require("codecs", "{\"dgc\": {...}}");
    const auto found = codecs.IsObject() ? codecs.Find(codec) : std::nullopt;
    const auto list = found && found->IsObject() ? found->Find("unions") : std::nullopt;
    if (!list)
    {
        value.FailWith(fmt::format("the file has no unions of {}", codec));
    }
    std::vector<double> unions;
    for (const auto& item : list->GetItems())
    {
        unions.push_back(item.AsNumber(unions.empty() ? 1e-9 : unions.back(), 1.0));
    }
    if (unions.empty())
    {
        list->FailWith("expected at least one number");
    }
    return unions;
}

void
InlineDensity(Json& job,
              const std::string& scenarioFile,
              const std::string& path,
              NamedFiles& files)
{
    Json* density = FindAtPath(job, {"codec", "density"});
    if (density == nullptr || !density->is_string())
    {
        return;
    }
    const JsonValue name(*density, scenarioFile, path + ".codec.density");
    Json content = files.ReadJson(name.AsPath());
    if (content.is_object())
    {
        content["file"] = name.AsName();
    }
    *density = std::move(content);
}

/// A parameter of a codec as all others are declared.
ParameterSpec
MakeSpec(const CodecParameter& parameter, const CodecSpec& defaults)
{
    const auto value = std::visit(
        [&defaults](const auto field) -> ParameterValue {
            if constexpr (std::is_same_v<decltype(field), double CodecSpec::*const>)
            {
                return defaults.*field;
            }
            else
            {
                return static_cast<int64_t>(defaults.*field);
            }
        },
        parameter.field);
    ParameterSpec spec{parameter.name,
                       value,
                       parameter.help,
                       {},
                       parameter.minimum,
                       parameter.maximum};
    if (parameter.name == DENSITY)
    {
        // The name of a file, and what InlineProfiles puts in its place.
        spec.forms = {{DENSITY, std::string("gradients.json"), "", {}, 1},
                      {DENSITY, SharedShape{"measuredUnions"}, ""}};
    }
    return spec;
}

KindSpec
MakeCodecKind(const CodecInfo& codec)
{
    KindSpec kind{codec.name, codec.summary, {}, codec.source};
    for (const auto& parameter : codec.parameters)
    {
        kind.parameters.push_back(MakeSpec(parameter, codec.defaults));
    }
    if (codec.kind == CodecKind::PowerSgd)
    {
        return kind; // its sums are made of all messages
    }
    kind.parameters.push_back(
        {"between",
         std::string("all"),
         "messages that it works on: all, servers (those between dedicated servers), or a level of "
         "the topology such as rack, those between different groups of it",
         {},
         1});
    kind.parameters.push_back(
        Optional({"elsewhere",
                  SharedShape{"codec"},
                  "codec of all elements, such as fp16, for all other messages, and for tensors "
                  "that bisparse leaves dense; by default none"}));
    return kind;
}

void
SetField(const CodecParameter& parameter, const ParameterSet& parameters, CodecSpec& spec)
{
    const auto* number = parameters.Find<double>(parameter.name);
    const auto* integer = parameters.Find<int64_t>(parameter.name);
    if (integer && parameter.isPowerOfTwo && !std::has_single_bit(static_cast<uint64_t>(*integer)))
    {
        throw ParameterError(parameter.name,
                             fmt::format("found {}, expected a power of two", *integer));
    }
    std::visit(
        [&](const auto field) {
            using Type = std::decay_t<decltype(spec.*field)>;
            spec.*field = number    ? static_cast<Type>(*number)
                          : integer ? static_cast<Type>(*integer)
                                    : spec.*field;
        },
        parameter.field);
}

} // namespace

std::span<const KindSpec>
GetCodecKinds()
{
    static const std::vector<KindSpec> kinds = [] {
        std::vector<KindSpec> list;
        std::ranges::transform(GetCodecs(), std::back_inserter(list), MakeCodecKind);
        return list;
    }();
    return kinds;
}

CodecSpec
ReadCodec(const JsonValue& value)
{
    const auto& kind = ReadKind(value, GetCodecKinds(), "int8");
    const auto& codec = *FindCodec(kind.name);
    const auto parameters = ReadParameters(value, kind.parameters, {"kind"});
    CodecSpec spec = codec.defaults;
    for (const auto& parameter : codec.parameters)
    {
        PlaceParameterErrors(value, [&] { SetField(parameter, parameters, spec); });
    }
    if (parameters.Has(DENSITY) && !parameters.Find<double>(DENSITY))
    {
        spec.unions = ReadUnions(*value.Find(DENSITY), kind.name);
        spec.density = spec.unions.front();
    }
    return spec;
}

CodecChoice
ReadCodecChoice(const JsonValue& value)
{
    CodecChoice choice{ReadCodec(value)};
    if (const auto between = value.Find("between"))
    {
        choice.scope = between->AsName();
    }
    if (const auto elsewhere = value.Find("elsewhere"))
    {
        choice.elsewhere = ReadCodec(*elsewhere);
        if (SendsSums(*choice.elsewhere))
        {
            elsewhere->FailWith(
                fmt::format("{} encodes each gradient once: it cannot be the codec of "
                            "all other messages, expected one such as fp16",
                            GetCodecInfo(choice.elsewhere->kind).name));
        }
        for (const auto* key : {"between", "elsewhere"})
        {
            if (const auto member = elsewhere->Find(key))
            {
                member->FailWith("it works wherever the other codec does not");
            }
        }
    }
    return choice;
}

std::shared_ptr<const CodecProfile>
ReadProfile(const JsonValue& value)
{
    if (!value.IsObject())
    {
        value.Fail("the name of a profile file such as \"../profiles/h100.profile.json\"");
    }
    value.CheckKeys(PROFILE_KEYS);
    value.Require("format", "1").AsUnsigned(1, 1);
    auto profile = std::make_shared<CodecProfile>();
    const auto file = value.Find("file");
    profile->name = file ? file->AsName() : value.GetFile();
    profile->origin =
        value.Require("origin", "measurement").AsChoice({"measurement", "roofline-estimate"});
    profile->device = value.Require("device", "NVIDIA H100 SXM").AsName();
    const auto kernels = value.Require("kernels", "{\"int8-encode\": {...}}");
    if (!kernels.IsObject())
    {
        kernels.Fail("an object of kernels");
    }
    for (const auto& [name, content] : kernels.Get().items())
    {
        profile->kernels[name] = ReadKernel(*kernels.Find(name));
    }
    return profile;
}

void
InlineProfiles(Json& document, const std::string& scenarioFile, NamedFiles& files)
{
    const auto inlineJob = [&](Json& job, const std::string& path) {
        InlineProfile(job, scenarioFile, path, files);
        InlineDensity(job, scenarioFile, path, files);
        const auto inlineList = [&](Json* list, const std::string& name) {
            for (size_t i = 0; list != nullptr && list->is_array() && i < list->size(); ++i)
            {
                InlineDensity((*list)[i],
                              scenarioFile,
                              fmt::format("{}.{}.{}", path, name, i),
                              files);
            }
        };
        inlineList(FindAtPath(job, {"tensors"}), "tensors");
        inlineList(FindAtPath(job, {"training", "codecs"}), "training.codecs");
    };
    if (Json* job = FindAtPath(document, {"job"}))
    {
        inlineJob(*job, "job");
    }
    Json* jobs = FindAtPath(document, {"jobs"});
    for (size_t i = 0; jobs != nullptr && jobs->is_array() && i < jobs->size(); ++i)
    {
        inlineJob((*jobs)[i], fmt::format("jobs.{}", i));
    }
}

} // namespace ns3::gradsync
