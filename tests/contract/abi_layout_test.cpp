// weir/abi.h as the compiler lays it out, compared with abi_layout.txt: modules that were built before must still fit.
#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>

#include "support/catch.hpp"
#include "weir/abi.h"

namespace {

// Where a layout that differs is written, in the test's working directory.
constexpr const char* kNewFile = "abi_layout.txt.new";

std::string readFile(const char* path) {
    std::ifstream file(path);
    REQUIRE(file);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Offsets do not show that a function's parameters changed, so the declarations have a checksum of their own: FNV-1a
// over abi.h without comments and blanks.
std::string declarations() {
    std::string text = readFile(WEIR_ABI_H_FILE);
    for (std::size_t begin; (begin = text.find("/*")) != std::string::npos;)
        text.erase(begin, text.find("*/", begin) + 2 - begin);
    std::uint64_t sum = 0xcbf29ce484222325;
    for (unsigned char c : text)
        if (c > ' ') sum = (sum ^ c) * 0x100000001b3;
    return std::to_string(sum);
}

#define STRUCT(type) \
    out += "struct " #type " size " + std::to_string(sizeof(type)) + " align " + std::to_string(alignof(type)) + "\n"
#define MEMBER(type, member) \
    out += "    " + std::to_string(offsetof(type, member)) + " " #member " " + \
           std::to_string(sizeof(type::member)) + "\n"
#define VALUE(name) out += "    " #name " " + std::to_string(static_cast<long long>(name)) + "\n"

std::string structs() {
    std::string out;
    STRUCT(weir_str);
    MEMBER(weir_str, data); MEMBER(weir_str, size);
    STRUCT(weir_exchange);
    MEMBER(weir_exchange, arena_cur); MEMBER(weir_exchange, arena_end); MEMBER(weir_exchange, arena_free);
    STRUCT(weir_upstream);
    MEMBER(weir_upstream, size); MEMBER(weir_upstream, weight); MEMBER(weir_upstream, protocol);
    MEMBER(weir_upstream, url); MEMBER(weir_upstream, status); MEMBER(weir_upstream, gray);
    MEMBER(weir_upstream, timestamp_ms); MEMBER(weir_upstream, warmup_ms);
    STRUCT(weir_route);
    MEMBER(weir_route, size); MEMBER(weir_route, index); MEMBER(weir_route, set); MEMBER(weir_route, balancer);
    MEMBER(weir_route, timeout_ms); MEMBER(weir_route, retry); MEMBER(weir_route, retry_strategy);
    STRUCT(weir_event);
    MEMBER(weir_event, size); MEMBER(weir_event, kind); MEMBER(weir_event, operation); MEMBER(weir_event, status);
    MEMBER(weir_event, data);
    STRUCT(weir_outcome);
    MEMBER(weir_outcome, frame); MEMBER(weir_outcome, deadline_ns);
    STRUCT(weir_match);
    MEMBER(weir_match, size); MEMBER(weir_match, config); MEMBER(weir_match, selector); MEMBER(weir_match, rule);
    MEMBER(weir_match, selector_id); MEMBER(weir_match, rule_id);
    STRUCT(weir_host);
    MEMBER(weir_host, size); MEMBER(weir_host, abi); MEMBER(weir_host, probing); MEMBER(weir_host, reserved);
    MEMBER(weir_host, log); MEMBER(weir_host, allocate); MEMBER(weir_host, release); MEMBER(weir_host, now_ns);
    MEMBER(weir_host, value_kind); MEMBER(weir_host, value_size); MEMBER(weir_host, value_at);
    MEMBER(weir_host, value_key_at); MEMBER(weir_host, value_get); MEMBER(weir_host, value_text);
    MEMBER(weir_host, value_bool); MEMBER(weir_host, value_int); MEMBER(weir_host, value_double);
    MEMBER(weir_host, error_set); MEMBER(weir_host, unknown_key); MEMBER(weir_host, attribute_id);
    MEMBER(weir_host, balancer_find); MEMBER(weir_host, upstream_set_create);
    MEMBER(weir_host, upstream_set_release); MEMBER(weir_host, arena_more); MEMBER(weir_host, arena_large);
    MEMBER(weir_host, arena_large_free); MEMBER(weir_host, part); MEMBER(weir_host, slot_get);
    MEMBER(weir_host, slot_set); MEMBER(weir_host, attribute_get); MEMBER(weir_host, attribute_set);
    MEMBER(weir_host, header_get); MEMBER(weir_host, header_count); MEMBER(weir_host, header_at);
    MEMBER(weir_host, header_set); MEMBER(weir_host, header_add); MEMBER(weir_host, header_remove);
    MEMBER(weir_host, status_get); MEMBER(weir_host, status_set); MEMBER(weir_host, reply);
    MEMBER(weir_host, reply_error); MEMBER(weir_host, replied); MEMBER(weir_host, fail);
    MEMBER(weir_host, route_set); MEMBER(weir_host, route_get); MEMBER(weir_host, upstream_pick);
    MEMBER(weir_host, call_result); MEMBER(weir_host, upstream_call); MEMBER(weir_host, request_body);
    MEMBER(weir_host, sleep); MEMBER(weir_host, offload);
    MEMBER(weir_host, option_set); MEMBER(weir_host, metadata_find); MEMBER(weir_host, metadata_get);
    MEMBER(weir_host, pattern_compile); MEMBER(weir_host, pattern_release); MEMBER(weir_host, pattern_groups);
    MEMBER(weir_host, pattern_find); MEMBER(weir_host, query_set);
    MEMBER(weir_host, response_body); MEMBER(weir_host, request_body_set); MEMBER(weir_host, response_body_set);
    MEMBER(weir_host, content_decode);
    MEMBER(weir_host, json_edits_compile); MEMBER(weir_host, json_edits_release); MEMBER(weir_host, json_edits_apply);
    STRUCT(weir_json_edit);
    MEMBER(weir_json_edit, size); MEMBER(weir_json_edit, change); MEMBER(weir_json_edit, where);
    MEMBER(weir_json_edit, path); MEMBER(weir_json_edit, key); MEMBER(weir_json_edit, value);
    MEMBER(weir_host, pattern_find); MEMBER(weir_host, query_set); MEMBER(weir_host, upstream_count);
    MEMBER(weir_host, upstream_repeat);
    MEMBER(weir_host, redispatch);
    STRUCT(weir_metadata);
    MEMBER(weir_metadata, size); MEMBER(weir_metadata, reserved); MEMBER(weir_metadata, id);
    MEMBER(weir_metadata, app_name); MEMBER(weir_metadata, context_path); MEMBER(weir_metadata, path);
    MEMBER(weir_metadata, rpc_type); MEMBER(weir_metadata, service_name); MEMBER(weir_metadata, method_name);
    MEMBER(weir_metadata, parameter_types); MEMBER(weir_metadata, rpc_ext);
    STRUCT(weir_plugin);
    MEMBER(weir_plugin, size); MEMBER(weir_plugin, reserved); MEMBER(weir_plugin, key);
    MEMBER(weir_plugin, create); MEMBER(weir_plugin, prepare); MEMBER(weir_plugin, release);
    MEMBER(weir_plugin, destroy); MEMBER(weir_plugin, enter); MEMBER(weir_plugin, resume);
    MEMBER(weir_plugin, drop); MEMBER(weir_plugin, finished);
    STRUCT(weir_plugin_list);
    MEMBER(weir_plugin_list, size); MEMBER(weir_plugin_list, count); MEMBER(weir_plugin_list, items);
    STRUCT(weir_pick);
    MEMBER(weir_pick, size); MEMBER(weir_pick, reserved); MEMBER(weir_pick, client_address);
    MEMBER(weir_pick, excluded);
    STRUCT(weir_load_balancer);
    MEMBER(weir_load_balancer, size); MEMBER(weir_load_balancer, reserved); MEMBER(weir_load_balancer, key);
    MEMBER(weir_load_balancer, create); MEMBER(weir_load_balancer, destroy); MEMBER(weir_load_balancer, pick);
    MEMBER(weir_load_balancer, done);
    STRUCT(weir_load_balancer_list);
    MEMBER(weir_load_balancer_list, size); MEMBER(weir_load_balancer_list, count);
    MEMBER(weir_load_balancer_list, items);
    STRUCT(weir_plugin_data_handler);
    MEMBER(weir_plugin_data_handler, size); MEMBER(weir_plugin_data_handler, reserved);
    MEMBER(weir_plugin_data_handler, key); MEMBER(weir_plugin_data_handler, create);
    MEMBER(weir_plugin_data_handler, destroy); MEMBER(weir_plugin_data_handler, upserted);
    MEMBER(weir_plugin_data_handler, removed);
    STRUCT(weir_plugin_data_handler_list);
    MEMBER(weir_plugin_data_handler_list, size); MEMBER(weir_plugin_data_handler_list, count);
    MEMBER(weir_plugin_data_handler_list, items);
    STRUCT(weir_parameter_data);
    MEMBER(weir_parameter_data, size); MEMBER(weir_parameter_data, reserved); MEMBER(weir_parameter_data, key);
    MEMBER(weir_parameter_data, create); MEMBER(weir_parameter_data, destroy); MEMBER(weir_parameter_data, read);
    STRUCT(weir_parameter_data_list);
    MEMBER(weir_parameter_data_list, size); MEMBER(weir_parameter_data_list, count);
    MEMBER(weir_parameter_data_list, items);
    STRUCT(weir_condition);
    MEMBER(weir_condition, size); MEMBER(weir_condition, reserved); MEMBER(weir_condition, param_type);
    MEMBER(weir_condition, param_name); MEMBER(weir_condition, param_value);
    STRUCT(weir_predicate_judge);
    MEMBER(weir_predicate_judge, size); MEMBER(weir_predicate_judge, blanks); MEMBER(weir_predicate_judge, key);
    MEMBER(weir_predicate_judge, create); MEMBER(weir_predicate_judge, destroy);
    MEMBER(weir_predicate_judge, judge);
    STRUCT(weir_predicate_judge_list);
    MEMBER(weir_predicate_judge_list, size); MEMBER(weir_predicate_judge_list, count);
    MEMBER(weir_predicate_judge_list, items);
    STRUCT(weir_conditions);
    MEMBER(weir_conditions, size); MEMBER(weir_conditions, count); MEMBER(weir_conditions, holds);
    STRUCT(weir_match_strategy);
    MEMBER(weir_match_strategy, size); MEMBER(weir_match_strategy, reserved); MEMBER(weir_match_strategy, key);
    MEMBER(weir_match_strategy, create); MEMBER(weir_match_strategy, destroy); MEMBER(weir_match_strategy, match);
    STRUCT(weir_match_strategy_list);
    MEMBER(weir_match_strategy_list, size); MEMBER(weir_match_strategy_list, count);
    MEMBER(weir_match_strategy_list, items);
    STRUCT(weir_module);
    MEMBER(weir_module, size); MEMBER(weir_module, abi); MEMBER(weir_module, find);
    return out;
}

std::string values() {
    std::string out = "constants\n";
    VALUE(WEIR_ABI_VERSION);
    VALUE(WEIR_ARENA_ALIGN);
    VALUE(WEIR_ARENA_STEP);
    VALUE(WEIR_ARENA_CLASSES);
    VALUE(WEIR_DISPATCHES);
    VALUE(WEIR_SLOT_COUNT);
    out += "enum weir_status\n";
    VALUE(WEIR_OK); VALUE(WEIR_INVALID); VALUE(WEIR_NOT_FOUND); VALUE(WEIR_TOO_LARGE); VALUE(WEIR_NO_MEMORY);
    VALUE(WEIR_CANCELLED); VALUE(WEIR_IO);
    out += "enum weir_kind\n";
    VALUE(WEIR_NULL); VALUE(WEIR_SCALAR); VALUE(WEIR_ARRAY); VALUE(WEIR_OBJECT);
    out += "enum weir_side\n";
    VALUE(WEIR_REQUEST); VALUE(WEIR_RESPONSE);
    out += "enum weir_part\n";
    VALUE(WEIR_PART_METHOD); VALUE(WEIR_PART_TARGET); VALUE(WEIR_PART_PATH); VALUE(WEIR_PART_QUERY);
    VALUE(WEIR_PART_CLIENT_ADDRESS); VALUE(WEIR_PART_REQUEST_ID);
    out += "enum weir_slot\n";
    VALUE(WEIR_SLOT_REAL_URL); VALUE(WEIR_SLOT_CONTEXT_PATH); VALUE(WEIR_SLOT_REWRITE_URI);
    VALUE(WEIR_SLOT_REWRITE_CONTEXT_PATH); VALUE(WEIR_SLOT_RPC_TYPE); VALUE(WEIR_SLOT_MODULE);
    VALUE(WEIR_SLOT_METHOD); VALUE(WEIR_SLOT_COUNT);
    out += "enum weir_option\n";
    VALUE(WEIR_OPTION_ALLOW_UPGRADE); VALUE(WEIR_OPTION_PRESERVE_HOST);
    out += "enum weir_upstream_status\n";
    VALUE(WEIR_UPSTREAM_OFF); VALUE(WEIR_UPSTREAM_ON); VALUE(WEIR_UPSTREAM_UNCHECKED);
    out += "enum weir_retry\n";
    VALUE(WEIR_RETRY_CURRENT); VALUE(WEIR_RETRY_FAILOVER);
    out += "enum weir_call\n";
    VALUE(WEIR_CALL_NONE); VALUE(WEIR_CALL_OK); VALUE(WEIR_CALL_REFUSED); VALUE(WEIR_CALL_CONNECT_TIMEOUT);
    VALUE(WEIR_CALL_TIMEOUT); VALUE(WEIR_CALL_RESET); VALUE(WEIR_CALL_BAD_REPLY); VALUE(WEIR_CALL_UNRESOLVED);
    out += "enum weir_repeat\n";
    VALUE(WEIR_REPEAT_NEVER); VALUE(WEIR_REPEAT_NOW); VALUE(WEIR_REPEAT_LATER);
    out += "enum weir_event_kind\n";
    VALUE(WEIR_EVENT_RETURNED); VALUE(WEIR_EVENT_COMPLETED);
    out += "enum weir_next\n";
    VALUE(WEIR_NEXT_OK); VALUE(WEIR_NEXT_TIMED_OUT); VALUE(WEIR_NEXT_FAILED); VALUE(WEIR_NEXT_NOT_REPLAYABLE);
    out += "enum weir_answer\n";
    VALUE(WEIR_FORWARD); VALUE(WEIR_SUSPENDED); VALUE(WEIR_REPLY); VALUE(WEIR_DONE); VALUE(WEIR_FAILED);
    out += "enum weir_scope\n";
    VALUE(WEIR_SCOPE_CONFIG); VALUE(WEIR_SCOPE_SELECTOR); VALUE(WEIR_SCOPE_RULE);
    out += "enum weir_finish\n";
    VALUE(WEIR_FINISH_OK); VALUE(WEIR_FINISH_ABORTED);
    out += "enum weir_log_level\n";
    VALUE(WEIR_LOG_ERROR); VALUE(WEIR_LOG_WARNING); VALUE(WEIR_LOG_NOTICE); VALUE(WEIR_LOG_INFORMATION);
    VALUE(WEIR_LOG_DEBUG);
    out += "enum weir_json_change\n";
    VALUE(WEIR_JSON_ADD); VALUE(WEIR_JSON_ADD_LIST); VALUE(WEIR_JSON_RENAME); VALUE(WEIR_JSON_REMOVE);
    out += "enum weir_data_kind\n";
    VALUE(WEIR_DATA_PLUGIN); VALUE(WEIR_DATA_SELECTOR); VALUE(WEIR_DATA_RULE);
    return out;
}

std::string texts() {
    return "symbol " WEIR_MODULE_SYMBOL "\ninterface " WEIR_INTERFACE_PLUGIN
           "\ninterface " WEIR_INTERFACE_LOAD_BALANCER "\ninterface " WEIR_INTERFACE_PLUGIN_DATA_HANDLER
           "\ninterface " WEIR_INTERFACE_PARAMETER_DATA "\ninterface " WEIR_INTERFACE_PREDICATE_JUDGE
           "\ninterface " WEIR_INTERFACE_MATCH_STRATEGY "\n";
}

}  // namespace

TEST_CASE("the layout of abi.h is the one modules were built with") {
    const std::string now = structs() + values() + texts() + "declarations " + declarations() + "\n";
    const std::string before = readFile(WEIR_ABI_LAYOUT_FILE);
    if (now != before) std::ofstream(kNewFile) << now;
    INFO("sdk/include/weir/abi.h is not what tests/contract/abi_layout.txt says.\n"
         "Members may be added at the end of a table, enum values behind the last one; anything else breaks modules\n"
         "that exist and needs a new interface revision or WEIR_ABI_VERSION. If the change is meant, add a line to\n"
         "docs/abi.md and copy "
         << kNewFile << " (in this test's working directory) to tests/contract/abi_layout.txt.");
    CHECK((now == before));  // whole, they would fill screens: diff shows the place
}
