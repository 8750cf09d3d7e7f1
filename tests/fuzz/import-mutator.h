// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_IMPORT_MUTATOR_H
#define GRADSYNC_IMPORT_MUTATOR_H

#include "fuzz/text-mutator.h"

#include "ns3/import-error.h"
#include "ns3/import-scheme.h"
#include "ns3/input-file.h"
#include "ns3/plan-verifier.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// Broken MSCCL algorithms and GOAL schedules: changes of bytes, of numbers, and of the order of
/// lines.
class ImportMutator final : public TextMutator
{
  public:
    using TextMutator::TextMutator;

  private:
    std::string Mutate(std::string text) override
    {
        for (size_t change = 1 + Draw(3); change > 0 && !text.empty(); --change)
        {
            ChangeOnce(text);
        }
        return text;
    }

    void ChangeOnce(std::string& text)
    {
        const size_t at = Draw(text.size());
        const size_t which = Draw(6);
        if (which < 3)
        {
            ChangeBytes(text, at, which);
        }
        else if (which == 3)
        {
            MoveLine(text, at);
        }
        else
        {
            ReplaceNumber(text, at);
        }
    }

    /// Copies the line at a place to another place, and removes it from there half of the times.
    void MoveLine(std::string& text, size_t at)
    {
        const size_t before = text.rfind('\n', at);
        const size_t begin = before == std::string::npos ? 0 : before + 1;
        const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
        const auto line = text.substr(begin, end - begin);
        if (Draw(2) == 0)
        {
            text.erase(begin, line.size());
        }
        const size_t gap = text.find('\n', Draw(text.size()));
        text.insert(gap == std::string::npos ? 0 : gap + 1, line);
    }

    void ReplaceNumber(std::string& text, size_t at)
    {
        static const std::vector<std::string> numbers{"0",
                                                      "1",
                                                      "2",
                                                      "3",
                                                      "4",
                                                      "-1",
                                                      "255",
                                                      "256",
                                                      "65536",
                                                      "4294967295",
                                                      "4294967296",
                                                      "17592186044416",
                                                      "18446744073709551615",
                                                      "99999999999999999999"};
        constexpr const char* DIGITS = "0123456789";
        const size_t begin = text.find_first_of(DIGITS, at);
        if (begin != std::string::npos)
        {
            const size_t end = std::min(text.find_first_not_of(DIGITS, begin), text.size());
            text.replace(begin, end - begin, numbers[Draw(numbers.size())]);
        }
    }
};

/// Plans a text and verifies what is small. \returns false when it was refused as it should be;
/// whatever else is thrown is a defect
inline bool
TryImport(const std::string& text)
{
    constexpr uint64_t SMALL = 4096;
    try
    {
        const auto plan = PlanImport("fuzz", text, 1'000'000, 4);
        CountImportServers("fuzz", text);
        if (uint64_t{plan.GetRankCount()} * plan.GetLayout().GetChunkCount() <= SMALL)
        {
            PlanVerifier().Verify(plan);
        }
        return true;
    }
    catch (const ImportError&)
    {
        return false;
    }
}

/// The algorithms and schedules in a folder.
inline std::vector<std::string>
LoadImports(const std::filesystem::path& folder)
{
    const auto files = ListFiles(folder, [](const std::string& /* name */) { return true; });
    std::vector<std::string> corpus;
    corpus.reserve(files.size());
    for (const auto& file : files)
    {
        corpus.push_back(ReadInputFile(file.string()));
    }
    return corpus;
}

} // namespace ns3::gradsync

#endif // GRADSYNC_IMPORT_MUTATOR_H
