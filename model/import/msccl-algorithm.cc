// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/msccl-algorithm.h"

#include "ns3/xml-document.h"

#include <fmt/format.h>
#include <map>

namespace ns3::gradsync
{

namespace
{

constexpr int64_t MAX_GPUS = 65'536;
constexpr int64_t MAX_CHUNKS = 1 << 20;
constexpr int64_t MAX_THREAD_BLOCKS = 65'536;
constexpr int64_t MAX_CHANNELS = 1024;
/// Chunks in all buffers, and chunks in all steps: what planning takes is linear in them.
constexpr uint64_t MAX_PLACES = 1 << 24;

/// What a step does, by its type.
struct StepForm
{
    bool receives;
    bool reduces;
    bool stores;
    bool sends;
    bool isLocal;
};

const std::map<std::string, StepForm>&
GetForms()
{
    static const std::map<std::string, StepForm> forms{
        {"s", {false, false, false, true, false}},
        {"r", {true, false, true, false, false}},
        {"rcs", {true, false, true, true, false}},
        {"rrc", {true, true, true, false, false}},
        {"rrs", {true, true, false, true, false}},
        {"rrcs", {true, true, true, true, false}},
        {"cpy", {false, false, true, false, true}},
        {"re", {false, true, true, false, true}},
        {"nop", {false, false, false, false, false}}};
    return forms;
}

MscclPlace
ReadPlace(const XmlElement& element, const MscclGpu& gpu, const std::string& side, uint32_t count)
{
    const auto buffer = element.GetChoice(side + "buf", {"i", "o", "s"});
    MscclPlace place;
    place.buffer = buffer == "i"   ? MscclBuffer::Input
                   : buffer == "o" ? MscclBuffer::Output
                                   : MscclBuffer::Scratch;
    const int64_t size = buffer == "i"   ? gpu.inputChunks
                         : buffer == "o" ? gpu.outputChunks
                                         : gpu.scratchChunks;
    place.offset =
        static_cast<uint32_t>(element.GetInteger(side + "off", 0, size - int64_t{count}));
    return place;
}

/// What a step moves, and where. A sum that is sent and not stored gets a place of its own.
void
ReadPlaces(const XmlElement& element, const StepForm& form, MscclGpu& gpu, MscclStep& step)
{
    step.count = static_cast<uint32_t>(element.GetIntegerOr("cnt", 1, MAX_CHUNKS, 1));
    if (step.reduces || step.isLocal || !step.receives)
    {
        step.source = ReadPlace(element, gpu, "src", step.count);
    }
    if (form.stores)
    {
        step.destination = ReadPlace(element, gpu, "dst", step.count);
    }
    else if (step.reduces)
    {
        step.destination = {MscclBuffer::Scratch, gpu.scratchChunks + gpu.spareChunks};
        gpu.spareChunks += step.count;
    }
}

MscclStep
ReadStep(const XmlElement& element, MscclGpu& gpu)
{
    std::vector<std::string> types;
    for (const auto& [name, form] : GetForms())
    {
        types.push_back(name);
    }
    const auto& form = GetForms().at(element.GetChoice("type", types));
    MscclStep step;
    step.where = element.GetWhere();
    step.receives = form.receives;
    step.reduces = form.reduces;
    step.sends = form.sends;
    step.isLocal = form.isLocal;
    step.waitBlock = element.GetIntegerOr("depid", -1, MAX_THREAD_BLOCKS, -1);
    step.waitStep = element.GetIntegerOr("deps", -1, INT32_MAX, -1);
    if (!step.receives && !step.sends && !step.isLocal)
    {
        return step;
    }
    ReadPlaces(element, form, gpu, step);
    return step;
}

MscclBlock
ReadBlock(const XmlElement& element, MscclGpu& gpu, int64_t gpus)
{
    MscclBlock block;
    block.sendPeer = element.GetInteger("send", -1, gpus - 1);
    block.receivePeer = element.GetInteger("recv", -1, gpus - 1);
    block.channel = static_cast<uint32_t>(element.GetIntegerOr("chan", 0, MAX_CHANNELS - 1, 0));
    for (const auto& child : element.GetChildren("step"))
    {
        child.GetInteger("s", std::ssize(block.steps), std::ssize(block.steps));
        block.steps.push_back(ReadStep(child, gpu));
        const auto& step = block.steps.back();
        if ((step.sends && block.sendPeer < 0) || (step.receives && block.receivePeer < 0))
        {
            child.Fail(fmt::format("type {} in a <tb> with {}=\"-1\"",
                                   child.GetText("type"),
                                   step.sends && block.sendPeer < 0 ? "send" : "recv"));
        }
    }
    return block;
}

uint64_t
CountPlaces(const MscclGpu& gpu, uint32_t chunks)
{
    uint64_t places = uint64_t{chunks} + gpu.scratchChunks + gpu.spareChunks;
    for (const auto& block : gpu.blocks)
    {
        for (const auto& step : block.steps)
        {
            places += step.count;
        }
    }
    return places;
}

MscclGpu
ReadGpu(const XmlElement& element, const MscclAlgorithm& algorithm, int64_t gpus)
{
    MscclGpu gpu;
    const auto size = [&element](const char* name) {
        return static_cast<uint32_t>(element.GetInteger(name, 0, MAX_CHUNKS));
    };
    // Input and output of an algorithm that works in place are one, and files give the size of
    // either. They follow from the collective.
    size("i_chunks");
    size("o_chunks");
    gpu.scratchChunks = size("s_chunks");
    const auto share = static_cast<uint32_t>(algorithm.chunks / gpus);
    gpu.inputChunks = algorithm.collective == "allgather" ? share : algorithm.chunks;
    gpu.outputChunks = algorithm.collective == "reducescatter" ? share : algorithm.chunks;
    for (const auto& child : element.GetChildren("tb"))
    {
        child.GetInteger("id", std::ssize(gpu.blocks), std::ssize(gpu.blocks));
        gpu.blocks.push_back(ReadBlock(child, gpu, gpus));
    }
    return gpu;
}

} // namespace

MscclAlgorithm
ReadMsccl(const std::string& file, const std::string& text)
{
    const XmlDocument document(file, text);
    const auto root = document.GetRoot();
    if (root.GetName() != "algo")
    {
        root.Fail("expected <algo>, the root of an MSCCL algorithm");
    }
    MscclAlgorithm algorithm;
    algorithm.collective = root.GetChoice("coll", {"allreduce", "allgather", "reducescatter"});
    const auto gpus = root.GetInteger("ngpus", 1, MAX_GPUS);
    algorithm.chunks = static_cast<uint32_t>(root.GetInteger("nchunksperloop", 1, MAX_CHUNKS));
    if (algorithm.collective != "allreduce" && algorithm.chunks % gpus != 0)
    {
        root.Fail(fmt::format("nchunksperloop: found {}, expected a multiple of the {} GPUs",
                              algorithm.chunks,
                              gpus));
    }
    root.GetInteger("inplace", 1, 1);
    uint64_t places = 0;
    for (const auto& child : root.GetChildren("gpu"))
    {
        child.GetInteger("id", std::ssize(algorithm.gpus), std::ssize(algorithm.gpus));
        algorithm.gpus.push_back(ReadGpu(child, algorithm, gpus));
        places += CountPlaces(algorithm.gpus.back(), algorithm.chunks);
        if (places > MAX_PLACES)
        {
            child.Fail(
                fmt::format("more than {} chunks in the buffers and steps so far", MAX_PLACES));
        }
    }
    if (std::ssize(algorithm.gpus) != gpus)
    {
        root.Fail(fmt::format("found {} <gpu>, expected ngpus = {}", algorithm.gpus.size(), gpus));
    }
    return algorithm;
}

} // namespace ns3::gradsync
