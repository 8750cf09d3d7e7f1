// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/model-reader.h"

#include "ns3/dapple-model.h"
#include "ns3/document-path.h"
#include "ns3/model-kinds.h"
#include "ns3/parameter-reader.h"
#include "ns3/section-file.h"
#include "ns3/workload-builder.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace ns3::gradsync
{

namespace
{

ParameterSpec
MakeFileSpec(const char* example, const char* help)
{
    return Optional({"file", std::string(example), help});
}

KindSpec
AddFile(KindSpec kind)
{
    kind.parameters.insert(
        kind.parameters.begin(),
        MakeFileSpec(
            "../models/llama-2-7b.json",
            "a model file, or a table of layers as DAPPLE has them (.txt), from the folder "
            "of the scenario; keys beside it override its own"));
    return kind;
}

bool
IsModel(const std::string& path)
{
    return path.ends_with(".model");
}

} // namespace

std::span<const KindSpec>
GetModelKinds()
{
    static const std::vector<KindSpec> kinds = [] {
        std::vector<KindSpec> list;
        std::ranges::transform(GetModels(), std::back_inserter(list), [](const auto& model) {
            return AddFile(model.spec);
        });
        return list;
    }();
    return kinds;
}

ModelSpec
ReadModel(const JsonValue& value)
{
    if (!value.IsObject())
    {
        value.Fail("the name of a model file such as \"../models/llama-2-7b.json\", or an object");
    }
    const auto& kind = ReadKind(value, GetModelKinds(), "\"transformer\"");
    const auto parameters = ReadParameters(value, kind.parameters, {"kind"});
    const auto index = static_cast<size_t>(&kind - GetModelKinds().data());
    try
    {
        return PlaceParameterErrors(value,
                                    [&] { return MakeModel(GetModels()[index], parameters); });
    }
    catch (const WorkloadError& error)
    {
        value.FailWith(error.what());
    }
}

ParameterSpec
MakeDeviceSpec()
{
    auto device = MakeObjectSpec("device",
                                 "what the ranks are: a file, from the folder of the scenario, or "
                                 "what one has; with `model`",
                                 GetDeviceParameters());
    device.members.insert(
        device.members.begin(),
        MakeFileSpec("../devices/h100-sxm.json", "a device file; keys beside it override its own"));
    device.forms = {{"device", std::string("../devices/h100-sxm.json"), "", {}, 1}};
    return device;
}

DeviceProfile
ReadDevice(const JsonValue& value)
{
    if (!value.IsObject())
    {
        value.Fail("the name of a device file such as \"../devices/h100-sxm.json\", or an object");
    }
    const auto parameters = ReadParameters(value, GetDeviceParameters());
    return PlaceParameterErrors(value, [&] { return MakeDevice(parameters); });
}

std::vector<std::string>
ListTrainingFiles(const Json& document)
{
    std::vector<std::string> paths;
    const auto add = [&paths](const std::string& job) {
        paths.push_back(job + ".training.model");
        paths.push_back(job + ".training.device");
        paths.push_back(job + ".trace.device");
    };
    add("job");
    const Json* jobs = FindAtPath(document, {"jobs"});
    for (size_t i = 0; jobs != nullptr && jobs->is_array() && i < jobs->size(); ++i)
    {
        add(fmt::format("jobs.{}", i));
    }
    return paths;
}

void
InlineTrainingFiles(Json& document, const std::string& scenarioFile, NamedFiles& files)
{
    for (const auto& path : ListTrainingFiles(document))
    {
        Json* section = FindAtPath(document, SplitPath(path));
        if (section == nullptr)
        {
            continue;
        }
        SectionFile file{path, "{\"name\": \"NVIDIA H100 SXM\", ...}", &ReadDevice};
        if (IsModel(path))
        {
            file.example = "{\"kind\": \"transformer\", ...}";
            file.check = &ReadModel;
            const bool hasBatch = section->is_object() && section->contains("batch");
            file.read = [hasBatch](const std::string& name, NamedFiles& all) {
                return name.ends_with(".txt") ? ReadDappleModel(name, hasBatch, all)
                                              : all.ReadJson(name);
            };
        }
        InlineSectionFile(*section, file, scenarioFile, files);
    }
}

} // namespace ns3::gradsync
