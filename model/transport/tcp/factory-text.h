// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FACTORY_TEXT_H
#define GRADSYNC_FACTORY_TEXT_H

#include "ns3/object-factory.h"
#include "ns3/type-id.h"

#include <string>

namespace ns3::gradsync
{

/**
 * The type of that name, with or without "ns3::", if it derives from `parent` and can be made.
 * \throws std::invalid_argument with what is wrong and the names that are allowed
 */
TypeId ParseType(const std::string& name, const TypeId& parent);

/**
 * Reads ns-3's text form of a type with attributes, "ns3::RedQueueDisc[MinTh=65|UseEcn=true]".
 * ns-3's own reader aborts the program at a mistake. \throws std::invalid_argument
 */
ObjectFactory ParseFactory(const std::string& text, const TypeId& parent);

} // namespace ns3::gradsync

#endif // GRADSYNC_FACTORY_TEXT_H
