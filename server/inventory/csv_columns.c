/* The table; see DESIGN for what each column means. `vram_gb`, `currency`, `attribution` and
 * `provider` are optional additions. */
#include "server/inventory/csv_columns.h"

#include <string.h>

const struct csv_column csv_columns[CSV_COLUMN_COUNT] = {
    {"external_id", "", false},
    {"gpu", "", false},
    {"gpu_count", "", true},
    {"vram_gb", "", true},
    {"vcpus", "node", true},
    {"memory_gib", "node", true},
    {"storage_gb", "node", true},
    {"interconnect", "", false},
    {"fabric", "", false},
    {"fabric_gbps", "", true},
    {"region", "", false},
    {"zone", "", false},
    {"status", "availability", false},
    {"gpus_available", "availability", true},
    {"lead_time_days", "availability", true},
    {"billing", "prices", false},
    {"term_months", "prices", true},
    {"plan", "prices", false},
    {"price_per_gpu_hour", "prices", true},
    {"price_per_node_hour", "prices", true},
    {"min_gpus", "prices", true},
    {"max_gpus", "prices", true},
    {"upfront_percent", "prices", true},
    {"currency", "prices", false},
    {"order_url", "", false},
    {"source_url", "", false},
    {"attribution", "", false},
    {"observed_at", "", false},
    {"provider", "", false},
};
