// SPDX-License-Identifier: GPL-2.0-only
#include "shared-memory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <memory>

/// Known to the symbol table too, which tells where thread-local memory begins.
extern "C" thread_local char gradsyncEmulatorMarker;
thread_local char gradsyncEmulatorMarker = 0;

namespace ns3::gradsync::emulator
{

namespace
{

struct Symbols
{
    size_t marker{0};
    size_t bytes{0};
    std::vector<SharedArray> arrays;
    std::vector<uint32_t> arrayOfByte; //!< of thread-local memory: a number from 1 on, or 0
};

/// Of "void a::(anonymous namespace)::Name<...>(...)::array" the last names of function and array.
bool
SplitName(const std::string& symbol, SharedArray& array)
{
    const auto last = symbol.rfind("::");
    if (last == std::string::npos || last == 0 || symbol[last - 1] != ')')
    {
        return false;
    }
    array.name = symbol.substr(last + 2);
    // The parameters' bracket: back over pairs from the last one.
    size_t open = last - 1;
    for (int depth = 0; open > 0; --open)
    {
        depth += symbol[open] == ')' ? 1 : (symbol[open] == '(' ? -1 : 0);
        if (depth == 0)
        {
            break;
        }
    }
    if (open > 0 && symbol[open - 1] == '>')
    {
        for (int depth = 0; open > 0; --open)
        {
            depth += symbol[open - 1] == '>' ? 1 : (symbol[open - 1] == '<' ? -1 : 0);
            if (depth == 0)
            {
                --open;
                break;
            }
        }
    }
    auto begin = open;
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>(symbol[begin - 1])) != 0 ||
                         symbol[begin - 1] == '_'))
    {
        --begin;
    }
    array.kernel = symbol.substr(begin, open - begin);
    return !array.kernel.empty();
}

Symbols
ReadSymbols()
{
    std::ifstream file("/proc/self/exe", std::ios::binary);
    const std::vector<char> image{std::istreambuf_iterator<char>(file), {}};
    const auto* const header = reinterpret_cast<const Elf64_Ehdr*>(image.data());
    const auto* const sections =
        reinterpret_cast<const Elf64_Shdr*>(image.data() + header->e_shoff);
    const auto* const segments =
        reinterpret_cast<const Elf64_Phdr*>(image.data() + header->e_phoff);
    Symbols symbols;
    for (size_t i = 0; i < header->e_phnum; ++i)
    {
        symbols.bytes = segments[i].p_type == PT_TLS ? segments[i].p_memsz : symbols.bytes;
    }
    for (size_t i = 0; i < header->e_shnum; ++i)
    {
        if (sections[i].sh_type != SHT_SYMTAB)
        {
            continue;
        }
        const auto* const entries =
            reinterpret_cast<const Elf64_Sym*>(image.data() + sections[i].sh_offset);
        const char* const names = image.data() + sections[sections[i].sh_link].sh_offset;
        for (size_t j = 0; j < sections[i].sh_size / sizeof(Elf64_Sym); ++j)
        {
            if (ELF64_ST_TYPE(entries[j].st_info) != STT_TLS)
            {
                continue;
            }
            const std::string name = names + entries[j].st_name;
            symbols.marker =
                name == "gradsyncEmulatorMarker" ? entries[j].st_value : symbols.marker;
            int status = 0;
            const std::unique_ptr<char, void (*)(void*)> readable(
                abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                std::free);
            SharedArray array{{}, {}, entries[j].st_value, entries[j].st_size};
            if (status == 0 && SplitName(readable.get(), array))
            {
                symbols.arrays.push_back(array);
            }
        }
    }
    symbols.arrayOfByte.resize(symbols.bytes);
    for (uint32_t number = 1; number <= symbols.arrays.size(); ++number)
    {
        const auto& array = symbols.arrays[number - 1];
        std::fill_n(symbols.arrayOfByte.begin() + static_cast<ptrdiff_t>(array.begin),
                    array.bytes,
                    number);
    }
    if (symbols.bytes == 0)
    {
        std::fprintf(stderr, "the emulator needs its symbol table: do not strip it\n");
        std::exit(2);
    }
    return symbols;
}

const Symbols&
GetSymbols()
{
    static const Symbols symbols = ReadSymbols();
    return symbols;
}

} // namespace

ThreadLocalMemory
GetThreadLocalMemory()
{
    const auto& symbols = GetSymbols();
    return {reinterpret_cast<uintptr_t>(&gradsyncEmulatorMarker) - symbols.marker, symbols.bytes};
}

std::vector<bool>
FindSharedArrays(const std::string& kernel)
{
    std::vector<bool> isOwn;
    for (const auto& array : GetSymbols().arrays)
    {
        isOwn.push_back(array.kernel == kernel);
    }
    return isOwn;
}

bool
IsShared(const std::vector<bool>& arrays, size_t begin, size_t bytes)
{
    const auto& symbols = GetSymbols();
    const uint32_t number = symbols.arrayOfByte[begin];
    return number > 0 && arrays[number - 1] &&
           begin + bytes <= symbols.arrays[number - 1].begin + symbols.arrays[number - 1].bytes;
}

} // namespace ns3::gradsync::emulator
