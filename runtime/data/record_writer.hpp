#pragma once

#include "base/value.hpp"
#include "data/records.hpp"

namespace weir::data {

enum class Secrets { Hidden, Written };

// Records in ShenYu's JSON shape, as its gateway caches are dumped and as RecordReader (Lenient) reads them back: every
// key is there, `config`, `handle` and `rpcExt` are JSON as a text (null: none), `sort` of a plugin may be null. The
// order of the keys is fixed, so equal records give equal JSON. Origins are not written. Any thread.
base::Value toValue(const PluginData& plugin);
base::Value toValue(const SelectorData& selector);
base::Value toValue(const RuleData& rule);
base::Value toValue(const MetaData& metaData);
// Hidden leaves the key `appSecret` out.
base::Value toValue(const AppAuthData& auth, Secrets secrets);

}  // namespace weir::data
