// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/codec-reader.h"

#include "ns3/document-path.h"

#include <filesystem>
#include <fmt/format.h>
#include <limits>

namespace ns3::gradsync
{

namespace
{

constexpr double LARGEST = std::numeric_limits<double>::max();

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
        item.CheckKeys({"elements", "median_s", "p10_s", "p90_s"});
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
InlineProfile(Json& job, const std::string& scenarioFile, const std::string& path)
{
    if (!job.is_object() || !job.contains("profile") || !job["profile"].is_string())
    {
        return;
    }
    const auto name = JsonValue(job["profile"], scenarioFile, path + ".profile").AsName();
    const auto file = std::filesystem::path(scenarioFile).parent_path() / name;
    Json content = LoadJson(file);
    // Read here so that an error names the profile and not the scenario.
    ReadProfile(JsonValue(content, file.string(), ""));
    content["file"] = name;
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
InlineDensity(Json& job, const std::string& scenarioFile, const std::string& path)
{
    Json* density = FindAtPath(job, {"codec", "density"});
    if (density == nullptr || !density->is_string())
    {
        return;
    }
    const auto name = JsonValue(*density, scenarioFile, path + ".codec.density").AsName();
    Json content = LoadJson(std::filesystem::path(scenarioFile).parent_path() / name);
    if (content.is_object())
    {
        content["file"] = name;
    }
    *density = std::move(content);
}

} // namespace

std::vector<std::string>
GetCodecNames()
{
    std::vector<std::string> names;
    for (const auto& codec : GetCodecs())
    {
        names.push_back(codec.name);
    }
    return names;
}

std::vector<std::string>
GetCodecKeys(const std::string& name)
{
    std::vector<std::string> keys;
    if (const auto* codec = FindCodec(name))
    {
        keys = codec->parameters;
        keys.insert(keys.begin(), "kind");
        keys.emplace_back("between");
    }
    return keys;
}

CodecSpec
ReadCodec(const JsonValue& value)
{
    const auto name = value.Require("kind", "int8").AsChoice(GetCodecNames());
    value.CheckKeys(GetCodecKeys(name));
    CodecSpec spec = FindCodec(name)->defaults;
    const auto number = [&value](const char* key, double low, double high, double& field) {
        if (const auto member = value.Find(key))
        {
            field = member->AsNumber(low, high);
        }
    };
    const auto density = value.Find("density");
    if (density && density->IsObject())
    {
        spec.unions = ReadUnions(*density, name);
        spec.density = spec.unions.front();
    }
    else
    {
        number("density", 1e-9, 1.0, spec.density);
    }
    number("sampleRate", 1e-9, 1.0, spec.sampleRate);
    number("threshold", 1e-30, 1e30, spec.threshold);
    number("factor", 1e-30, 1e30, spec.factor);
    number("momentum", 0.0, 1.0, spec.momentum);
    number("clipNorm", 0.0, 1e30, spec.clipNorm);
    if (const auto member = value.Find("blockElements"))
    {
        // bbTopk's offsets have 16 bits.
        const uint64_t largest = spec.kind == CodecKind::BbTopK ? 1U << 16 : 1U << 30;
        spec.blockElements = static_cast<uint32_t>(member->AsUnsigned(1, largest));
        if (spec.kind == CodecKind::BbTopK && (spec.blockElements & (spec.blockElements - 1)) != 0)
        {
            member->FailWith(fmt::format("found {}, expected a power of two", spec.blockElements));
        }
    }
    if (const auto member = value.Find("warmUp"))
    {
        spec.warmUp =
            static_cast<uint32_t>(member->AsUnsigned(0, std::numeric_limits<uint32_t>::max()));
    }
    if (const auto member = value.Find("minimumElements"))
    {
        spec.minimumElements = member->AsUnsigned(0, std::numeric_limits<uint32_t>::max());
    }
    return spec;
}

std::string
ReadCodecScope(const JsonValue& value)
{
    const auto between = value.Find("between");
    return between ? between->AsName() : "all";
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
InlineProfiles(Json& document, const std::string& scenarioFile)
{
    if (Json* job = FindAtPath(document, {"job"}))
    {
        InlineProfile(*job, scenarioFile, "job");
        InlineDensity(*job, scenarioFile, "job");
    }
    Json* jobs = FindAtPath(document, {"jobs"});
    for (size_t i = 0; jobs != nullptr && jobs->is_array() && i < jobs->size(); ++i)
    {
        InlineProfile((*jobs)[i], scenarioFile, fmt::format("jobs.{}", i));
        InlineDensity((*jobs)[i], scenarioFile, fmt::format("jobs.{}", i));
    }
}

} // namespace ns3::gradsync
