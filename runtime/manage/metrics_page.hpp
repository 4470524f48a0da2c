#pragma once

#include <string>

#include "manage/status_source.hpp"

namespace weir::manage {

// GET /actuator/prometheus: the text format 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/).
std::string metricsPage(const StatusSource& source);
inline constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

// The two lines that begin a metric; type: counter, gauge or histogram.
void metricHead(std::string& out, const std::string& name, const std::string& type, const std::string& help);
// `text` as a label's value, without its quotes: backslash, quote and line end escaped, invalid UTF-8 replaced.
std::string labelValue(const std::string& text);

}  // namespace weir::manage
