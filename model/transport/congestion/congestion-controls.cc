// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/congestion-controls.h"

#include "ns3/object-factory.h"
#include "ns3/string.h"

#include <algorithm>
#include <cctype>

namespace ns3::gradsync
{

namespace
{

/// "dcqcn" of ns3::gradsync::DcqcnControl; other names stay as they are.
std::string
ShortenName(const std::string& typeName)
{
    constexpr std::string_view PREFIX = "ns3::gradsync::";
    constexpr std::string_view SUFFIX = "Control";
    if (!typeName.starts_with(PREFIX) || !typeName.ends_with(SUFFIX) ||
        typeName.find("::", PREFIX.size()) != std::string::npos)
    {
        return typeName;
    }
    std::string name;
    for (const char c :
         typeName.substr(PREFIX.size(), typeName.size() - PREFIX.size() - SUFFIX.size()))
    {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isupper(byte) != 0 && !name.empty())
        {
            name += '-';
        }
        name += static_cast<char>(std::tolower(byte));
    }
    return name;
}

/// All that ns-3 knows now.
std::vector<CongestionControlEntry>
FindAll()
{
    std::vector<CongestionControlEntry> entries;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
    {
        const auto type = TypeId::GetRegistered(i);
        if (type.IsChildOf(CongestionControl::GetTypeId()) && type.HasConstructor())
        {
            entries.push_back({ShortenName(type.GetName()), type});
        }
    }
    // ns-3 knows them in the order in which they were linked.
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
        return a.name < b.name;
    });
    return entries;
}

/// Looks through the types of ns-3 only when there are new ones: every run that is checked asks.
const std::vector<CongestionControlEntry>&
KnowAll()
{
    RequireCongestionControls();
    static std::vector<CongestionControlEntry> known;
    static uint16_t types = 0; // that were looked through
    if (types != TypeId::GetRegisteredN())
    {
        known = FindAll();
        types = TypeId::GetRegisteredN();
    }
    return known;
}

/// Texts that name a congestion control.
class CongestionControlChecker : public AttributeChecker
{
  public:
    bool Check(const AttributeValue& value) const override
    {
        const auto* text = dynamic_cast<const StringValue*>(&value);
        return text != nullptr &&
               (text->Get() == NO_CONGESTION_CONTROL || FindCongestionControl(text->Get()));
    }

    std::string GetValueTypeName() const override
    {
        return "ns3::StringValue";
    }

    bool HasUnderlyingTypeInformation() const override
    {
        return true;
    }

    std::string GetUnderlyingTypeInformation() const override
    {
        std::string inShort = NO_CONGESTION_CONTROL;
        std::string inFull;
        for (const auto& [name, type] : KnowAll())
        {
            inShort += "|" + name;
            inFull += name != type.GetName() ? "|" + type.GetName() : "";
        }
        return inShort + inFull;
    }

    Ptr<AttributeValue> Create() const override
    {
        return ns3::Create<StringValue>();
    }

    bool Copy(const AttributeValue& source, AttributeValue& destination) const override
    {
        const auto* from = dynamic_cast<const StringValue*>(&source);
        auto* to = dynamic_cast<StringValue*>(&destination);
        if (from == nullptr || to == nullptr)
        {
            return false;
        }
        *to = *from;
        return true;
    }
};

} // namespace

std::vector<CongestionControlEntry>
GetCongestionControls()
{
    return KnowAll();
}

std::optional<CongestionControlEntry>
FindCongestionControl(std::string_view name)
{
    for (const auto& entry : KnowAll())
    {
        if (entry.name == name || entry.type.GetName() == name)
        {
            return entry;
        }
    }
    return std::nullopt;
}

Ptr<CongestionControl>
MakeCongestionControl(const CongestionControlEntry& entry)
{
    ObjectFactory factory;
    factory.SetTypeId(entry.type);
    return factory.Create<CongestionControl>();
}

Ptr<const AttributeChecker>
MakeCongestionControlChecker()
{
    return Create<CongestionControlChecker>();
}

} // namespace ns3::gradsync
