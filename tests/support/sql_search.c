/* One statement a search: offers with what their providers and GPUs say, each with its cheapest
 * matching price. */
#include "tests/support/sql_search.h"

#include "tests/support/must.h"

#include <stdlib.h>
#include <string.h>

/* What each parameter is in SQL; $V stands for the quoted value. Of prices where it begins with
 * `p.`. */
static const struct {
    const char *name, *condition;
} conditions[] = {
    {"gpu", "(gpu = ANY (string_to_array($V, ',')) OR family = ANY (string_to_array($V, ',')))"},
    {"vendor", "vendor = ANY (string_to_array($V, ','))"},
    {"form_factor", "form = ANY (string_to_array($V, ','))"},
    {"min_vram_gb", "vram >= $V::numeric * 1000"},
    {"min_total_vram_gb", "total_vram >= $V::numeric * 1000"},
    {"gpu_count", "gpus / 1000.0 = ANY (string_to_array($V, ',')::numeric[])"},
    {"min_gpu_count", "gpus >= $V::numeric * 1000"},
    {"max_gpu_count", "gpus <= $V::numeric * 1000"},
    {"billing", "p.billing = ANY (string_to_array($V, ','))"},
    {"term_months", "p.term = ANY (string_to_array($V, ',')::int[])"},
    {"max_term_months", "p.term <= $V::int"},
    {"min_price", "p.amount >= $V::numeric * 1000000"},
    {"max_price", "p.amount <= $V::numeric * 1000000"},
    {"max_total_price", "p.node * nodes <= $V::numeric * 1000000"},
    {"gpus", "available * gd >= nodes * gn"},
    {"q", "has_words(gpu, place, provider, $V)"},
    {"fabric", "fabric = ANY (string_to_array($V, ','))"},
    {"min_fabric_gbps", "gbps >= $V::numeric * 1000"},
    {"interconnect", "interconnect = ANY (string_to_array($V, ','))"},
    {"min_vcpus", "vcpus >= $V::numeric * 1000"},
    {"min_memory_gib", "memory >= $V::numeric * 1000"},
    {"min_storage_gb", "storage >= $V::numeric * 1000"},
    {"region",
     "place IN (SELECT inner_slug FROM inside WHERE outer_slug = ANY (string_to_array($V, ',')))"},
    {"country",
     "(SELECT country FROM place WHERE slug = place) = ANY (string_to_array(upper($V), ','))"},
    {"continent",
     "(SELECT continent FROM place WHERE slug = place) = ANY (string_to_array($V, ','))"},
    {"provider", "provider = ANY (string_to_array($V, ','))"},
    {"provider_kind", "kind = ANY (string_to_array($V, ','))"},
    {"availability", "status = ANY (string_to_array($V, ','))"},
    {"max_lead_time_days", "lead <= $V::int"},
    {"min_sla_percent", "sla >= $V::numeric * 1000"},
    {"burn_in", "burn_in = $V::bool"},
    {"monitoring", "monitoring = $V::bool"},
    {"on_site", "on_site = $V::bool"},
    {"updated_since", "updated_us >= extract(epoch FROM $V::timestamptz) * 1000000"},
    {"include_stale", "($V::bool OR NOT stale)"},
    {"max_latency_ms", "latency <= $V::numeric * 100"},
    {"near", NULL},
    {"sort", NULL},
    {"limit", NULL},
};

static void add_condition(PGconn *connection, struct buf *sql, const char *condition,
                          const char *value)
{
    char *quoted = PQescapeLiteral(connection, value, strlen(value));
    buf_add_string(sql, " AND ");
    for (const char *at = condition; *at != '\0'; at++) {
        if (strncmp(at, "$V", 2) == 0) {
            buf_add_string(sql, quoted);
            at++;
        } else {
            buf_add_char(sql, *at);
        }
    }
    PQfreemem(quoted);
}

static const char *value_of(const struct query_parameter *parameters, size_t count,
                            const char *name, const char *fallback)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(parameters[i].name, name) == 0)
            return parameters[i].value;
    }
    return fallback;
}

static const char *sort_column(const char *sort)
{
    return strstr(sort, "total_price") ? "node * nodes"
           : strstr(sort, "per_vram")  ? "per_vram"
           : strstr(sort, "per_tflop") ? "per_tflop"
           : strstr(sort, "per_tbps")  ? "per_tbps"
           : strstr(sort, "price")     ? "amount"
           : strstr(sort, "vram")      ? "vram"
           : strstr(sort, "latency")   ? "latency"
                                       : "updated_us";
}

/* The offers that match with their prices, as something to select from. `pick` chooses one price of
 * those that match: of each offer, or of each value of something. */
static void write_found(PGconn *connection, struct buf *sql,
                        const struct query_parameter *parameters, size_t count, const char *pick)
{
    struct arena arena = {0};
    struct buf of_offer = {0}, of_price = {0};
    buf_add_string(&of_offer, "");
    buf_add_string(&of_price, "");
    for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
        const char *value = value_of(parameters, count, conditions[i].name,
                                     strcmp(conditions[i].name, "include_stale") == 0 ? "0" : NULL);
        if (value != NULL && conditions[i].condition != NULL)
            add_condition(connection,
                          strncmp(conditions[i].condition, "p.", 2) == 0 ? &of_price : &of_offer,
                          conditions[i].condition, value);
    }
    const char *near = value_of(parameters, count, "near", NULL), *latency = "NULL::bigint";
    if (near != NULL) {
        char *ends = PQescapeLiteral(connection, near, strlen(near));
        latency = arena_printf(&arena,
                               "(SELECT max(l.centi) FROM latency l WHERE l.slug = o.place AND "
                               "l.origin = ANY (string_to_array(%s, ';')))",
                               ends);
        PQfreemem(ends);
    }
    const char *gpus = value_of(parameters, count, "gpus", NULL), *nodes = "1";
    if (gpus != NULL) {
        /* 0.333 stands for a third. */
        nodes = arena_printf(&arena, "ceil(round(%s * gd * 6, 3) / (gn * 6))::bigint",
                             strcmp(gpus, "0.333") == 0 ? "1.0/3" : gpus);
        buf_add_string(&of_price, " AND (p.min_gpus IS NULL OR p.min_gpus * gd <= nodes * gn)"
                                  " AND (p.max_gpus IS NULL OR p.max_gpus * gd >= nodes * gn)");
    }
    buf_printf(
        sql,
        "(SELECT *, half_even(amount * 1000.0, vram) AS per_vram, half_even(amount * 1000.0, "
        "tflops) AS per_tflop, half_even(amount * 1000000.0, bandwidth) AS per_tbps FROM "
        "(SELECT o.*, %s AS nodes, %s AS latency, v.kind, v.suspended, v.sla, v.burn_in, "
        "v.monitoring, v.on_site, coalesce(NOT sample AND greatest(own_us, confirmed_us) + "
        "fresh_us < %lld, false) AS stale, g.tflops, g.gbps AS bandwidth FROM offer o JOIN "
        "provider v ON v.slug = o.provider JOIN gpu g ON g.slug = o.gpu) o, LATERAL (SELECT "
        "%s FROM price p WHERE p.offer = o.id%s ORDER BY %s) c WHERE NOT suspended%s) found",
        nodes, latency, (long long)(MARKET_NOW_US / 1000000 * 1000000), pick, of_price.data,
        strstr(pick, "DISTINCT") != NULL ? "c_value, p.amount" : "p.amount, p.position LIMIT 1",
        of_offer.data);
    buf_free(&of_offer);
    buf_free(&of_price);
    arena_free(&arena);
}

static PGresult *run(PGconn *connection, struct buf *sql)
{
    PGresult *result = PQexec(connection, sql->data);
    must(PQresultStatus(result) == PGRES_TUPLES_OK, "%s\n%s", PQerrorMessage(connection),
         sql->data);
    buf_free(sql);
    return result;
}

PGresult *sql_search(PGconn *connection, const struct query_parameter *parameters, size_t count)
{
    const char *sort = value_of(parameters, count, "sort", "price");
    struct buf sql = {0};
    buf_add_string(&sql,
                   "SELECT id, amount, coalesce(latency, -1), node * nodes, coalesce(per_vram, "
                   "-1), coalesce(per_tflop, -1), coalesce(per_tbps, -1) FROM ");
    write_found(connection, &sql, parameters, count, "p.amount, p.node");
    buf_printf(&sql, " ORDER BY %s %s NULLS LAST, id", sort_column(sort),
               sort[0] == '-' ? "DESC" : "ASC");
    return run(connection, &sql);
}

/* What each facet goes by, and which parameters are its own. */
static const struct {
    const char *name, *value, *own[3], *pick;
} facets[] = {
    {"gpu", "gpu", {"gpu"}, NULL},
    {"vendor", "nullif(vendor, '')", {"vendor"}, NULL},
    {"form_factor", "form", {"form_factor"}, NULL},
    {"gpu_count", "gpus", {"gpu_count", "min_gpu_count", "max_gpu_count"}, NULL},
    {"billing",
     "c_value",
     {"billing"},
     "DISTINCT ON (p.billing) p.billing AS c_value, p.amount, p.node"},
    {"term_months",
     "c_value",
     {"term_months", "max_term_months"},
     "DISTINCT ON (p.term) p.term AS c_value, p.amount, p.node"},
    {"fabric", "fabric", {"fabric"}, NULL},
    {"interconnect", "interconnect", {"interconnect"}, NULL},
    {"region", "place", {"region"}, NULL},
    {"country", "(SELECT country FROM place WHERE slug = place)", {"country"}, NULL},
    {"continent", "(SELECT continent FROM place WHERE slug = place)", {"continent"}, NULL},
    {"latency",
     "CASE WHEN latency <= 1000 THEN '000-10' WHEN latency <= 2500 THEN '010-25' WHEN latency <= "
     "5000 THEN '025-50' WHEN latency <= 10000 THEN '050-100' WHEN latency <= 20000 THEN '100-200' "
     "WHEN latency <= 30000 THEN '200-300' WHEN latency IS NOT NULL THEN '300+' END",
     {"max_latency_ms"},
     NULL},
    {"provider", "provider", {"provider"}, NULL},
    {"provider_kind", "kind", {"provider_kind"}, NULL},
    {"availability", "status", {"availability"}, NULL},
};

PGresult *sql_facet(PGconn *connection, const struct query_parameter *parameters, size_t count,
                    const char *facet)
{
    struct query_parameter others[MARKET_PARAMETERS_MAX];
    size_t index = 0, kept = 0;
    struct buf sql = {0};
    while (strcmp(facets[index].name, facet) != 0)
        index++;
    for (size_t i = 0; i < count; i++) {
        bool own = false;
        for (size_t j = 0; j < 3 && facets[index].own[j] != NULL; j++)
            own = own || strcmp(parameters[i].name, facets[index].own[j]) == 0;
        if (!own)
            others[kept++] = parameters[i];
    }
    bool number = strcmp(facet, "gpu_count") == 0 || strcmp(facet, "term_months") == 0;
    buf_printf(&sql,
               "SELECT value, n, a[1], half_even(a[(n + 1) / 2] + a[n / 2 + 1], 2) FROM (SELECT %s "
               "AS value, count(*)::int AS n, array_agg(amount ORDER BY amount) AS a FROM ",
               facets[index].value);
    write_found(connection, &sql, others, kept,
                facets[index].pick == NULL ? "p.amount, p.node" : facets[index].pick);
    buf_printf(&sql, " GROUP BY 1) g ORDER BY n DESC, value%s NULLS LAST",
               number ? "" : " COLLATE \"C\"");
    return run(connection, &sql);
}
