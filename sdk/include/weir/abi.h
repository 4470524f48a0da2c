/* The contract between the gateway and a module (C11). Everything that crosses a shared object's border is here; the
 * C++20 facade (weir/plugin.hpp) is written on top of it and adds nothing to the wire.
 *
 * Rules
 * - Every table begins with its size in bytes and grows only at its end. A reader uses a member only if it lies within
 *   the size the other side stated. A module's table that is smaller than its interface's revision 1 is refused.
 * - weir_upstream and weir_json_edit (they travel in arrays), weir_outcome, weir_str and weir_exchange never grow.
 * - Interfaces have string ids with a revision ("weir.plugin/1"). weir_module.find answers null for an id it does not
 *   know.
 * - No function may throw or unwind through this border. A host function that finds no memory answers WEIR_NO_MEMORY,
 *   null or 0; one that answers nothing has done nothing then.
 * - weir_str is a view, not terminated. Views the host hands out live until the exchange ends or, where said, until the
 *   call returns. Views a module hands in are copied before the call returns, unless said otherwise.
 * - Threads: "control" is the one thread that creates, prepares, releases and destroys; "loop" is the event loop that
 *   carries the exchange at hand (one plugin instance is called on several loops at once); "any" means any thread.
 * - A module imports nothing from the gateway: what it needs comes in the weir_host table at creation.
 */
#ifndef WEIR_ABI_H
#define WEIR_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_ABI_VERSION 1u

typedef struct weir_str {
    const char* data;
    size_t size;
} weir_str;

typedef enum weir_status {
    WEIR_OK = 0,
    WEIR_INVALID = 1,      /* the argument is wrong; the text says how */
    WEIR_NOT_FOUND = 2,
    WEIR_TOO_LARGE = 3,
    WEIR_NO_MEMORY = 4,
    WEIR_CANCELLED = 5,
    WEIR_IO = 6            /* the peer or the operating system broke it off */
} weir_status;

/* ---- Values: handles, configurations and records, read only, valid until the call that received them returns. ---- */

typedef struct weir_value weir_value;

typedef enum weir_kind {
    WEIR_NULL = 0,
    WEIR_SCALAR = 1,       /* text; typed reads decide what it means */
    WEIR_ARRAY = 2,
    WEIR_OBJECT = 3
} weir_kind;

/* Where a refusal is put. `path` is relative to the value, like "retry" or "[2].weight"; "" is the value itself. */
typedef struct weir_error weir_error;

/* ---- The exchange: one request and its response. ---- */

#define WEIR_ARENA_ALIGN 16u
#define WEIR_ARENA_STEP 64u
#define WEIR_ARENA_CLASSES 16u /* blocks up to 1024 bytes are recycled by size class */

/* The part of an exchange that the facade reads without a call. Loop thread only. Everything allocated from the arena
 * lives until the exchange ends; the host frees it at once, without destructors. */
typedef struct weir_exchange {
    char* arena_cur;
    char* arena_end;
    void* arena_free[WEIR_ARENA_CLASSES]; /* free[i]: recycled blocks of (i + 1) * WEIR_ARENA_STEP bytes, linked by
                                             their first word */
} weir_exchange;

typedef enum weir_side { WEIR_REQUEST = 0, WEIR_RESPONSE = 1 } weir_side;

typedef enum weir_part {
    WEIR_PART_METHOD = 0,
    WEIR_PART_TARGET = 1,          /* as received, origin-form */
    WEIR_PART_PATH = 2,            /* the target up to '?', undecoded: ShenYu's raw path */
    WEIR_PART_QUERY = 3,           /* behind '?', undecoded; data is null when there is no '?' */
    WEIR_PART_CLIENT_ADDRESS = 4,  /* the socket's peer, text without port */
    WEIR_PART_REQUEST_ID = 5
} weir_part;

/* Routing state that matching and the upstream request need. Texts; unset reads as data == null. */
typedef enum weir_slot {
    WEIR_SLOT_REAL_URL = 0,             /* path for the upstream, contextPath removed (ShenYu realUrl) */
    WEIR_SLOT_CONTEXT_PATH = 1,
    WEIR_SLOT_REWRITE_URI = 2,          /* replaces realUrl in the upstream's target */
    WEIR_SLOT_REWRITE_CONTEXT_PATH = 3,
    WEIR_SLOT_RPC_TYPE = 4,             /* http, websocket, dubbo, ... ; decides which plugins are entered */
    WEIR_SLOT_MODULE = 5,
    WEIR_SLOT_METHOD = 6,               /* ShenYu context.method, not the HTTP method */
    WEIR_SLOT_COUNT = 7
} weir_slot;

/* How the upstream call is made, off unless set. */
typedef enum weir_option {
    /* A GET that asks to switch protocols (Upgrade, RFC 9110 7.8) is passed on as such. After the upstream's 101 the
     * exchange is a byte tunnel: no plugin sees what goes through; finished() tells its end. */
    WEIR_OPTION_ALLOW_UPGRADE = 0,
    /* The upstream gets the client's Host, not its own host:port. */
    WEIR_OPTION_PRESERVE_HOST = 1
} weir_option;

/* ---- Upstreams. ---- */

typedef enum weir_upstream_status {
    WEIR_UPSTREAM_OFF = 0,       /* taken out */
    WEIR_UPSTREAM_ON = 1,
    WEIR_UPSTREAM_UNCHECKED = 2  /* on, whatever a health check would find */
} weir_upstream_status;

typedef struct weir_upstream {
    uint32_t size;
    uint32_t weight;
    weir_str protocol;  /* "http://" */
    weir_str url;       /* host:port */
    int32_t status;     /* weir_upstream_status */
    int32_t gray;
    int64_t timestamp_ms;
    int64_t warmup_ms;
} weir_upstream;

/* The usable upstreams of a list (status on, weight above 0) with the state of the balancers that pick from them; made
 * in prepare, shared by all loops. Indexes count the usable ones. May be empty. */
typedef struct weir_upstream_set weir_upstream_set;

typedef enum weir_retry { WEIR_RETRY_CURRENT = 0, WEIR_RETRY_FAILOVER = 1 } weir_retry;

/* Where the request goes: written by a proxy plugin (divide), carried out by httpClient. */
typedef struct weir_route {
    uint32_t size;
    int32_t index;              /* of the upstream within `set` */
    weir_upstream_set* set;
    uint32_t balancer;          /* id from balancer_find, for another pick */
    uint32_t timeout_ms;        /* of each attempt: last request byte to response head */
    uint32_t retry;
    int32_t retry_strategy;     /* weir_retry */
} weir_route;

/* How an upstream call ended before a response head could be used. */
typedef enum weir_call {
    WEIR_CALL_NONE = -1,            /* none was made */
    WEIR_CALL_OK = 0,               /* the head is here, its body follows */
    WEIR_CALL_REFUSED = 1,          /* no connection; nothing was sent */
    WEIR_CALL_CONNECT_TIMEOUT = 2,
    WEIR_CALL_TIMEOUT = 3,          /* connected, no head in time */
    WEIR_CALL_RESET = 4,            /* broke off before a whole head */
    WEIR_CALL_BAD_REPLY = 5,        /* answered something that is not HTTP/1.1 */
    WEIR_CALL_UNRESOLVED = 6        /* the name has no address */
} weir_call;

/* Whether a request can be sent again after an upstream call that failed. */
typedef enum weir_repeat {
    WEIR_REPEAT_NEVER = 0, /* it may have taken effect (RFC 9110 9.2.2), its body is gone, or no call has failed */
    WEIR_REPEAT_NOW = 1,
    WEIR_REPEAT_LATER = 2  /* it could, but as many are being repeated as the host allows at one time */
} weir_repeat;

/* ---- Asynchronous work. A start function answers the operation's id (never 0) or 0 with nothing started; the
 * completion arrives as resume(frame, event) on the same loop. Starting one is allowed only from enter or resume, and
 * then the call must answer WEIR_SUSPENDED; a frame waits for one thing at a time. ---- */

typedef uint64_t weir_operation;

typedef enum weir_event_kind {
    WEIR_EVENT_RETURNED = 1,  /* the rest of the chain is done; status is a weir_next */
    WEIR_EVENT_COMPLETED = 2  /* the awaited operation is done */
} weir_event_kind;

typedef enum weir_next {
    WEIR_NEXT_OK = 0,
    WEIR_NEXT_TIMED_OUT = 1,
    WEIR_NEXT_FAILED = 2,          /* an inner plugin failed; the error reply is in the response */
    WEIR_NEXT_NOT_REPLAYABLE = 3   /* a second walk was asked for, but the request body is gone or the head is out */
} weir_next;

typedef struct weir_event {
    uint32_t size;
    uint32_t kind;             /* weir_event_kind */
    weir_operation operation;  /* of a completion */
    int32_t status;            /* weir_next; or weir_status; or weir_call for upstream_call */
    weir_str data;             /* a body that was asked for; lives until the exchange ends */
} weir_event;

/* ---- Metadata: what the data says of a service's method, ShenYu's MetaData. ---- */

/* Views live until the exchange ends. A member the data leaves out is empty. */
typedef struct weir_metadata {
    uint32_t size;
    uint32_t reserved;
    weir_str id;
    weir_str app_name;
    weir_str context_path;
    weir_str path;
    weir_str rpc_type;
    weir_str service_name;
    weir_str method_name;
    weir_str parameter_types;
    weir_str rpc_ext;  /* JSON text, as in the data */
} weir_metadata;

/* ---- What a plugin answers. ---- */

typedef enum weir_answer {
    WEIR_FORWARD = 1,    /* enter the rest of the chain; frame null: no return part. From resume: the frame that was
                            resumed; or null, the frame is gone and has no return part, which only one that has not
                            forwarded before may answer (else the request fails) */
    WEIR_SUSPENDED = 2,  /* waiting for the operation it started */
    WEIR_REPLY = 3,      /* the response is set: the forward walk ends here; the frame is gone */
    WEIR_DONE = 4,       /* the return part is over (from enter: over without forwarding); the frame is gone */
    WEIR_FAILED = 5      /* it failed, see fail(); the frame is gone */
} weir_answer;

typedef struct weir_frame weir_frame; /* the module's own */

typedef struct weir_outcome {
    weir_frame* frame;
    uint64_t deadline_ns;  /* with FORWARD: the longest the rest of the chain may take; 0: no limit */
} weir_outcome;

/* What matched. Handles are the plugin's own, from prepare. */
typedef struct weir_match {
    uint32_t size;
    void* config;
    void* selector;
    void* rule;
    weir_str selector_id;
    weir_str rule_id;
} weir_match;

typedef enum weir_scope {
    WEIR_SCOPE_CONFIG = 0,    /* PluginData.config */
    WEIR_SCOPE_SELECTOR = 1,  /* SelectorData.handle */
    WEIR_SCOPE_RULE = 2       /* RuleData.handle */
} weir_scope;

typedef enum weir_finish {
    WEIR_FINISH_OK = 0,       /* the whole response was handed to the client's socket */
    WEIR_FINISH_ABORTED = 1   /* the client or the upstream broke it off, or the gateway stopped */
} weir_finish;

typedef enum weir_log_level {
    WEIR_LOG_ERROR = 3,
    WEIR_LOG_WARNING = 4,
    WEIR_LOG_NOTICE = 5,
    WEIR_LOG_INFORMATION = 6,
    WEIR_LOG_DEBUG = 7
} weir_log_level;

#define WEIR_DISPATCHES 5u /* how often one request may go through the chain again */

typedef struct weir_pattern weir_pattern;  /* a compiled regular expression */

/* ---- Changes of JSON texts. ---- */

typedef enum weir_json_change {
    WEIR_JSON_ADD = 0,       /* in each object at path: the member key is the text value, instead of one of that name */
    WEIR_JSON_ADD_LIST = 1,  /* the same with a list of that one text */
    WEIR_JSON_RENAME = 2,    /* in each object at path: the member key becomes the member value; none: nothing */
    WEIR_JSON_REMOVE = 3     /* each value at path is gone; key and value are unused */
} weir_json_change;

/* A path that leads nowhere, or to what is no object where one is meant, changes nothing. */
typedef struct weir_json_edit {
    uint32_t size;
    int32_t change;  /* weir_json_change */
    weir_str where;  /* the path of a refusal: where the handle has this edit's path, like "removeBodyKeys[2]" */
    weir_str path;   /* JSONPath (RFC 9535) of names, indexes, * and ..; "a.b" means "$.a.b" */
    weir_str key;
    weir_str value;
} weir_json_edit;

typedef struct weir_json_edits weir_json_edits;  /* compiled, in the order they are made */

/* ---- Host services. ---- */

typedef struct weir_host weir_host;

struct weir_host {
    uint32_t size;
    uint32_t abi;      /* WEIR_ABI_VERSION of the host */
    uint32_t probing;  /* 1: this is a trial run before loading; keep your hands off the world */
    uint32_t reserved;

    /* any thread */
    void (*log)(weir_log_level level, weir_str text);
    void* (*allocate)(size_t size);                /* counted; aligned to WEIR_ARENA_ALIGN; null when refused */
    void (*release)(void* block, size_t size);
    uint64_t (*now_ns)(void);                      /* steady clock */

    /* values: control thread, inside the call that received them; a null pointer reads as a null value */
    weir_kind (*value_kind)(const weir_value*);
    size_t (*value_size)(const weir_value*);                           /* items or members */
    const weir_value* (*value_at)(const weir_value*, size_t index);    /* null out of range */
    weir_str (*value_key_at)(const weir_value*, size_t index);
    const weir_value* (*value_get)(const weir_value*, weir_str key);   /* null when absent or a null */
    weir_str (*value_text)(const weir_value*);                         /* as written */
    int32_t (*value_bool)(const weir_value*, int32_t* out);            /* 1: out is set; 0: not a boolean */
    int32_t (*value_int)(const weir_value*, int64_t* out);
    int32_t (*value_double)(const weir_value*, double* out);
    void (*error_set)(weir_error*, weir_str path, weir_str text);
    void (*unknown_key)(weir_error*, weir_str path);  /* a key the plugin does not know: the host warns once */

    /* interning: control thread, inside create or prepare */
    uint32_t (*attribute_id)(const weir_host*, weir_str name);     /* UINT32_MAX: out of memory */
    weir_status (*balancer_find)(const weir_host*, weir_str name, uint32_t* id, weir_error*);

    /* upstream sets: control thread, inside prepare and release */
    weir_status (*upstream_set_create)(const weir_host*, const weir_upstream* upstreams, size_t count,
                                       weir_upstream_set** out, weir_error*);
    void (*upstream_set_release)(weir_upstream_set*);

    /* everything below: loop thread, with the exchange at hand */
    void* (*arena_more)(weir_exchange*, size_t size);           /* when arena_cur..arena_end is too short */
    void* (*arena_large)(weir_exchange*, size_t size);          /* over 1024 bytes, given back by arena_large_free */
    void (*arena_large_free)(weir_exchange*, void* block, size_t size);

    weir_str (*part)(weir_exchange*, weir_part);
    weir_str (*slot_get)(weir_exchange*, weir_slot);
    void (*slot_set)(weir_exchange*, weir_slot, weir_str value);  /* data null: unset */
    weir_str (*attribute_get)(weir_exchange*, uint32_t id);
    void (*attribute_set)(weir_exchange*, uint32_t id, weir_str value);

    /* Names compare without case. get answers the first line's value. set replaces all lines, add appends one, remove
     * takes all away. A name or value with bytes RFC 9110 5.1/5.5 forbids, and Content-Length, Transfer-Encoding and
     * Connection (the host frames messages) are refused with WEIR_INVALID and a log line. */
    weir_str (*header_get)(weir_exchange*, weir_side, weir_str name);
    size_t (*header_count)(weir_exchange*, weir_side);
    int32_t (*header_at)(weir_exchange*, weir_side, size_t index, weir_str* name, weir_str* value);
    weir_status (*header_set)(weir_exchange*, weir_side, weir_str name, weir_str value);
    weir_status (*header_add)(weir_exchange*, weir_side, weir_str name, weir_str value);
    void (*header_remove)(weir_exchange*, weir_side, weir_str name);

    int32_t (*status_get)(weir_exchange*);  /* of the response; 0 while there is none */
    weir_status (*status_set)(weir_exchange*, int32_t status);
    /* Sets the whole response, drops an upstream's. content_type with data null: none. */
    weir_status (*reply)(weir_exchange*, int32_t status, weir_str content_type, weir_str body);
    /* The error envelope {"code":code,"message":text} under `status` (fact sheet 4). */
    weir_status (*reply_error)(weir_exchange*, int32_t status, int32_t code, weir_str text);
    /* 1 when this frame's plugin has called reply or reply_error since it was entered or resumed. */
    int32_t (*replied)(weir_exchange*);
    /* Before answering WEIR_FAILED: what the error reply says. */
    void (*fail)(weir_exchange*, int32_t status, int32_t code, weir_str text);

    void (*route_set)(weir_exchange*, const weir_route*);
    int32_t (*route_get)(weir_exchange*, weir_route* out);      /* 0: none was set */
    /* A balancer's choice among the usable upstreams of the set; excluded has one bit per index, null: none. -1: none
     * is left, or the set is null. */
    int32_t (*upstream_pick)(weir_exchange*, weir_upstream_set*, uint32_t balancer, const uint64_t* excluded);
    int32_t (*call_result)(weir_exchange*);                     /* weir_call of the last upstream call */

    weir_operation (*upstream_call)(weir_exchange*);            /* to the route; completes with a weir_call */
    weir_operation (*request_body)(weir_exchange*, size_t limit); /* whole body; WEIR_TOO_LARGE past limit */
    weir_operation (*sleep)(weir_exchange*, uint64_t ns);
    /* Runs work(arg) on a worker thread, once; until it is done, this frame and all outer ones are kept. */
    weir_operation (*offload)(weir_exchange*, void (*work)(void*), void* arg);

    /* before the upstream call; WEIR_NOT_FOUND: this host does not know the option */
    weir_status (*option_set)(weir_exchange*, weir_option, int32_t on);

    /* Attaches the enabled metadata entry whose path matches to the exchange, in place of one that was attached. 1: one
     * was found; 0: there is none, and what was attached stays. */
    int32_t (*metadata_find)(weir_exchange*, weir_str path);
    /* The attached entry. The caller sets out->size; the host fills what lies within it. 1: out is set; 0: none is
     * attached. */
    int32_t (*metadata_get)(weir_exchange*, weir_metadata* out);

    /* Regular expressions of the RE2 syntax, as in conditions: time linear in the text. compile, release: control. A
     * refusal has a text; the path in weir_error stays as it is. */
    weir_status (*pattern_compile)(const weir_host*, weir_str expression, weir_pattern** out, weir_error*);
    void (*pattern_release)(weir_pattern*);
    /* any thread */
    uint32_t (*pattern_groups)(const weir_pattern*);  /* capturing groups, the whole not counted */
    /* 1: found, the first match at or behind `from`; with `whole` all of the text from there must be it. groups[0] is
     * the match, groups[i] group i, as views of `text`; one that took no part has data null. `count` are set. */
    int32_t (*pattern_find)(const weir_pattern*, weir_str text, size_t from, int32_t whole, weir_str* groups,
                            uint32_t count);

    /* loop; the query that later plugins and the upstream get, without '?'; data null: none. WEIR_INVALID: it has bytes
     * that no request target has (RFC 3986 3.4). */
    weir_status (*query_set)(weir_exchange*, weir_str query);

    /* Reads the response's body whole, before it is committed; none comes with a response to HEAD, a 204 or a 304.
     * WEIR_OK: from now on it is not streamed any more. WEIR_TOO_LARGE: it has more than `limit` bytes and goes to the
     * client as if nobody had read it. WEIR_IO: it broke off, the response is lost. WEIR_NOT_FOUND: there is no
     * response. WEIR_INVALID: it switches protocols. */
    weir_operation (*response_body)(weir_exchange*, size_t limit);
    /* Another body; the host sets its length. WEIR_INVALID: bytes of the old one may have gone already (request_body
     * reads it whole, so that it can be replaced), or the message can not have one. */
    weir_status (*request_body_set)(weir_exchange*, weir_str body);
    weir_status (*response_body_set)(weir_exchange*, weir_str body);
    /* Undoes one content coding (RFC 9110 8.4.1), of gzip, x-gzip, deflate and identity. WEIR_NOT_FOUND: none of these;
     * WEIR_INVALID: malformed, or more than `limit` bytes. */
    weir_status (*content_decode)(weir_exchange*, weir_str coding, weir_str body, size_t limit, weir_str* out);
    /* Changes of JSON texts. compile, release: control. A refusal names the position within the path. */
    weir_status (*json_edits_compile)(const weir_host*, const weir_json_edit* edits, size_t count,
                                      weir_json_edits** out, weir_error*);
    void (*json_edits_release)(weir_json_edits*);
    /* loop; the changed text, which lives until the exchange ends: compact, with numbers and texts that were not touched
     * spelled as they were. Time linear in the text. WEIR_INVALID: it is not JSON (RFC 8259) or nested deeper than 64.
     * `out` is set with WEIR_OK only. */
    weir_status (*json_edits_apply)(const weir_json_edits*, weir_exchange*, weir_str json, weir_str* out);
    uint32_t (*upstream_count)(const weir_upstream_set*);  /* any thread: of the usable ones; 0 for null */
    /* loop, after an upstream call that failed: a weir_repeat. With `take` WEIR_REPEAT_NOW takes one of the places for
     * repeated calls (weir.upstream.retryBudget), until the next call ends or this frame is gone or forwards; make the
     * call then. Without, LATER is not answered: it only tells whether the request can be repeated at all. */
    int32_t (*upstream_repeat)(weir_exchange*, int32_t take);
    /* loop; enter answers WEIR_REPLY then, resume that or WEIR_DONE (of this and reply the last counts). The request
     * goes through the chain again from its start, as one for `target`: a path with a query or, without one, with the
     * client's. Outer frames are dropped first, innermost first: their return parts do not run. Response, request
     * fields, slots, metadata, route and options are again what they were when the request came. Attributes stay:
     * finished() finds them, once for each plugin entered, in whichever walk. WEIR_PART_TARGET stays what the client
     * sent; WEIR_PART_PATH and WEIR_PART_QUERY are those of `target`. WEIR_INVALID: `target` is no path, or has bytes
     * that no request target has; WEIR_TOO_LARGE: WEIR_DISPATCHES times already; WEIR_IO: the body is gone. */
    weir_status (*redispatch)(weir_exchange*, weir_str target);
};

/* ---- Interface "weir.plugin/1" ---- */

typedef struct weir_plugin {
    uint32_t size;
    uint32_t reserved;
    weir_str key;  /* the plugin's name in ShenYu's data: "divide" */

    /* control */
    weir_status (*create)(const weir_host* host, void** plugin, weir_error* error);
    /* A null value makes the default handle (selector with continued: false, or a plugin without config). */
    weir_status (*prepare)(void* plugin, weir_scope scope, const weir_value* value, void** handle, weir_error* error);
    void (*release)(void* plugin, weir_scope scope, void* handle);
    void (*destroy)(void* plugin);

    /* loop */
    int32_t (*enter)(void* plugin, weir_exchange*, const weir_match*, weir_outcome* out);       /* weir_answer */
    int32_t (*resume)(void* plugin, weir_exchange*, weir_frame*, const weir_event*, weir_outcome* out);
    void (*drop)(void* plugin, weir_exchange*, weir_frame*);  /* runs destructors, resumes nothing */
    void (*finished)(void* plugin, weir_exchange*, weir_finish);  /* null: not wanted */
} weir_plugin;

typedef struct weir_plugin_list {
    uint32_t size;
    uint32_t count;
    const weir_plugin* const* items;
} weir_plugin_list;

#define WEIR_INTERFACE_PLUGIN "weir.plugin/1"

/* ---- Interface "weir.load_balancer/1" ---- */

typedef struct weir_pick {
    uint32_t size;
    uint32_t reserved;
    weir_str client_address;
    const uint64_t* excluded;  /* one bit per index; null: none */
} weir_pick;

typedef struct weir_load_balancer {
    uint32_t size;
    uint32_t reserved;
    weir_str key;
    /* control; `set` has at least one upstream, all usable, and is copied if kept. */
    weir_status (*create)(const weir_host* host, const weir_upstream* set, size_t count, void** state,
                          weir_error* error);
    void (*destroy)(void* state);
    /* any loop, several at once; an index, or -1 when all are excluded */
    int32_t (*pick)(void* state, const weir_pick*);
    /* Any loop, exactly once for each index that pick answered: after the response head, or when none comes any more;
     * null: not wanted. Calls that are repeated to the same upstream are one.
     * failed: 1 when the upstream sent no response.
     * latency_ns 0 and failed 0: nothing was learnt of the upstream, as no call was made or the client left before
     * there was an answer.
     */
    void (*done)(void* state, int32_t index, uint64_t latency_ns, int32_t failed);
} weir_load_balancer;

typedef struct weir_load_balancer_list {
    uint32_t size;
    uint32_t count;
    const weir_load_balancer* const* items;
} weir_load_balancer_list;

#define WEIR_INTERFACE_LOAD_BALANCER "weir.load_balancer/1"

/* ---- Interface "weir.plugin_data_handler/1" ---- */

typedef enum weir_data_kind {
    WEIR_DATA_PLUGIN = 0,    /* PluginData */
    WEIR_DATA_SELECTOR = 1,  /* SelectorData */
    WEIR_DATA_RULE = 2       /* RuleData */
} weir_data_kind;

/* Hears of one plugin's data, whoever provides the plugin. All calls: control. */
typedef struct weir_plugin_data_handler {
    uint32_t size;
    uint32_t reserved;
    weir_str key;  /* the plugin whose data it hears of */

    weir_status (*create)(const weir_host* host, void** handler, weir_error* error);
    void (*destroy)(void* handler);
    /* A record is ShenYu's JSON object, with the keys of PluginData, SelectorData and RuleData; `handle` and `config`
     * are JSON texts in it. After create every record in force comes as upserted: plugin, then selectors, then rules;
     * from then on each change. A removed record is given as it was. */
    void (*upserted)(void* handler, weir_data_kind kind, const weir_value* record);
    void (*removed)(void* handler, weir_data_kind kind, const weir_value* record);
} weir_plugin_data_handler;

typedef struct weir_plugin_data_handler_list {
    uint32_t size;
    uint32_t count;
    const weir_plugin_data_handler* const* items;
} weir_plugin_data_handler_list;

#define WEIR_INTERFACE_PLUGIN_DATA_HANDLER "weir.plugin_data_handler/1"

/* ---- Interface "weir.parameter_data/1" ---- */

/* A parameter type: where conditions with paramType `key` take their value from. */
typedef struct weir_parameter_data {
    uint32_t size;
    uint32_t reserved;
    weir_str key;  /* a paramType: "tenant" */

    /* control; one state per paramName that conditions use, "" among them. A paramName it does not take is refused
     * with WEIR_INVALID and error_set. */
    weir_status (*create)(const weir_host* host, weir_str param_name, void** state, weir_error* error);
    void (*destroy)(void* state);
    /* loop, several at once; may read the exchange, not change it. The value lives until the exchange ends: a view of
     * the host's, a text in the arena, or the state's own. Null or blank: the value is missing. */
    weir_str (*read)(void* state, weir_exchange*);
} weir_parameter_data;

typedef struct weir_parameter_data_list {
    uint32_t size;
    uint32_t count;
    const weir_parameter_data* const* items;
} weir_parameter_data_list;

#define WEIR_INTERFACE_PARAMETER_DATA "weir.parameter_data/1"

/* ---- Interface "weir.predicate_judge/1" ---- */

/* Views live until the call returns. */
typedef struct weir_condition {
    uint32_t size;
    uint32_t reserved;
    weir_str param_type;
    weir_str param_name;
    weir_str param_value;  /* trimmed */
} weir_condition;

/* An operator: whether a value meets a condition. */
typedef struct weir_predicate_judge {
    uint32_t size;
    uint32_t blanks;  /* 1: blank and missing values are judged too (as empty); 0: they never meet the condition */
    weir_str key;     /* an operator: "ipRange" */

    /* control; one state per condition. A paramValue it can not use is refused with WEIR_INVALID and error_set. */
    weir_status (*create)(const weir_host* host, const weir_condition* condition, void** state, weir_error* error);
    void (*destroy)(void* state);
    /* any loop, several at once: 1 holds, 0 not. `value` lives until the call returns. */
    int32_t (*judge)(void* state, weir_str value);
} weir_predicate_judge;

typedef struct weir_predicate_judge_list {
    uint32_t size;
    uint32_t count;
    const weir_predicate_judge* const* items;
} weir_predicate_judge_list;

#define WEIR_INTERFACE_PREDICATE_JUDGE "weir.predicate_judge/1"

/* ---- Interface "weir.match_strategy/1" ---- */

/* The conditions of one selector or rule, for one request; until the call returns. */
typedef struct weir_conditions {
    uint32_t size;
    uint32_t count;
    /* 1: condition `index` holds, 0: it does not, or there is none of that index. Each call judges anew. */
    int32_t (*holds)(const struct weir_conditions*, uint32_t index);
} weir_conditions;

/* A match mode: what the conditions of a selector or rule have to say for it to match. */
typedef struct weir_match_strategy {
    uint32_t size;
    uint32_t reserved;
    weir_str key;  /* a matchMode by name: "majority" */

    /* control; one state for all selectors and rules of that mode */
    weir_status (*create)(const weir_host* host, void** state, weir_error* error);
    void (*destroy)(void* state);
    int32_t (*match)(void* state, const weir_conditions*);  /* any loop, several at once: 1 matches, 0 not */
} weir_match_strategy;

typedef struct weir_match_strategy_list {
    uint32_t size;
    uint32_t count;
    const weir_match_strategy* const* items;
} weir_match_strategy_list;

#define WEIR_INTERFACE_MATCH_STRATEGY "weir.match_strategy/1"

/* ---- The one symbol a module exports. ---- */

typedef struct weir_module {
    uint32_t size;
    uint32_t abi;                              /* WEIR_ABI_VERSION it was built with */
    const void* (*find)(const char* interface_id); /* null: not provided */
} weir_module;

#define WEIR_MODULE_SYMBOL "weir_module_v1"

#ifdef __cplusplus
}
#endif

#endif
