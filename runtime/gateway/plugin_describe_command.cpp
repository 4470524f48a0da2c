// weir plugin describe: the documentation that a module carries in its manifest.
#include <sysexits.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "gateway/commands.hpp"
#include "module/module_file.hpp"

namespace weir::gateway {

namespace {

using base::Value;

std::string text(const Value& field, const char* key) {
    const Value* value = field.find(key);
    return value && value->isScalar() && !value->isNull() ? value->text() : std::string();
}

// For a table's cell.
std::string cell(std::string text) {
    for (std::size_t bar = text.find('|'); bar != text.npos; bar = text.find('|', bar + 2)) text.insert(bar, "\\");
    return forTerminal(std::move(text));
}

std::string typeOf(const Value& field) {
    std::string type = text(field, "type");
    if (const Value* items = field.find("items")) type += " of " + text(*items, "type") + "s";
    const Value* choices = field.find("oneOf");
    if (choices && choices->isArray()) {
        std::string list;
        for (const Value& choice : choices->items()) list += (list.empty() ? "" : ", ") + choice.text();
        return type + ": " + list;
    }
    const std::string min = text(field, "min");
    const std::string max = text(field, "max");
    if (!min.empty() && !max.empty()) return type + ", " + min + " to " + max;
    if (!min.empty()) return type + ", at least " + min;
    return max.empty() ? type : type + ", at most " + max;
}

std::string defaultOf(const Value& field) {
    if (text(field, "required") == "true") return "required";
    const std::string standard = text(field, "default");
    return standard.empty() ? "" : "`" + standard + "`";
}

void printRows(const Value& fields, const std::string& prefix) {
    for (const Value& field : fields.items()) {
        const std::string name = prefix + text(field, "name");
        std::printf("| `%s` | %s | %s | %s |\n", cell(name).c_str(), cell(typeOf(field)).c_str(),
                    cell(defaultOf(field)).c_str(), cell(text(field, "about")).c_str());
        const Value* items = field.find("items");
        const Value* inner = items ? items->find("fields") : field.find("fields");
        if (inner && inner->isArray()) printRows(*inner, name + (items ? "[]." : "."));
    }
}

void printTable(const char* title, const Value* fields) {
    if (!fields || !fields->isArray() || fields->items().empty()) return;
    std::printf("\n%s\n\n| key | type | default | meaning |\n|---|---|---|---|\n", title);
    printRows(*fields, "");
}

}  // namespace

int pluginDescribeCommand(const Arguments& arguments) {
    const auto read = module::readModuleFile(arguments.module);
    if (!read.ok()) return fail(EX_DATAERR, arguments.module.string() + ": " + read.error().text());
    for (const module::Provided& provided : read->manifest.provides) {
        if (provided.interface != module::kPluginInterface) {
            std::printf("%s `%s`\n", cell(provided.interface).c_str(), cell(provided.key).c_str());
            continue;
        }
        std::string rpcTypes;
        for (const std::string& type : provided.rpcTypes) rpcTypes += (rpcTypes.empty() ? "" : ", ") + type;
        std::printf("Plugin `%s`, order %d, for %s%s\n", cell(provided.key).c_str(), provided.order,
                    rpcTypes.empty() ? "all RPC types" : cell(rpcTypes).c_str(),
                    provided.matching == module::Matching::Rule ? ", with selectors and rules" : "");
        printTable("Configuration (`config` of the plugin):", provided.fields.find("config"));
        printTable("Handle of a selector:", provided.fields.find("selector"));
        printTable("Handle of a rule:", provided.fields.find("rule"));
    }
    return EX_OK;
}

}  // namespace weir::gateway
