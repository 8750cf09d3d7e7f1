// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/dapple-model.h"

#include "ns3/dapple-table.h"
#include "ns3/import-error.h"
#include "ns3/scenario-error.h"

#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr uint64_t FLOAT_BYTES = 4;

Json
MakeLayer(const DappleLayer& layer)
{
    Json made = Json::object();
    made["name"] = layer.name;
    made["parameters"] = (layer.parameterBytes + FLOAT_BYTES - 1) / FLOAT_BYTES;
    made["forward"] = fmt::format("{}ps", layer.forwardPicoseconds);
    made["backward"] = fmt::format("{}ps", layer.backwardPicoseconds);
    made["kept"] = fmt::format("{}B", layer.activationBytes);
    made["output"] = fmt::format("{}B", layer.outputBytes);
    return made;
}

} // namespace

Json
MakeDappleModel(const std::string& file, std::string_view text)
{
    const std::filesystem::path path(file);
    Json model = Json::object();
    model["kind"] = "table";
    model["name"] = path.stem().string();
    model["source"] = "a table of layers, " + path.filename().string();
    if (const auto batch = FindDappleBatch(path.filename().string()))
    {
        model["batch"] = batch;
    }
    model["layers"] = Json::array();
    for (const auto& layer : ReadDappleTable(file, text))
    {
        model["layers"].push_back(MakeLayer(layer));
    }
    return model;
}

Json
ReadDappleModel(const std::string& file, bool hasBatch, NamedFiles& files)
{
    try
    {
        auto model = MakeDappleModel(file, *files.Read(file));
        if (!hasBatch && !model.contains("batch"))
        {
            throw ScenarioError(file,
                                "the name tells no batch, as bert-24-pbs-6.txt does: expected "
                                "\"batch\" beside \"file\", the samples that the table is of");
        }
        return model;
    }
    catch (const ImportError& error)
    {
        throw ScenarioError(error.what());
    }
    catch (const InputFileError& error)
    {
        throw ScenarioError(file, fmt::format("the file {}", error.what()));
    }
}

} // namespace ns3::gradsync
