/* The SQL itself: X(NAME, READ | WRITE, text). Included by db/statement.h and db/statement.c only,
 * with X defined. The order of the columns of an offer and of a provider is that of db/offer_row.c
 * and db/provider.c, which read and write them by position. */
/* clang-format off */
#ifndef OFFER_COLUMNS
#define OFFER_COLUMNS                                                                              \
    "id, provider_id, external_id, version, gpu, gpu_raw, gpu_count_milli, vram_gb_milli, "        \
    "vcpus_milli, memory_gib_milli, storage_gb_milli, interconnect, fabric, fabric_gbps_milli, "   \
    "place, region_raw, zone, availability, gpus_available, lead_time_days, schedule, "            \
    "egress_per_gb_microusd, storage_per_gb_month_microusd, billing_increment_seconds, "           \
    "minimum_duration_seconds, order_url, source_url, attribution, source, observed_at, flags, "   \
    "prices, content_hash, created_at, updated_at"
#define PROVIDER_COLUMNS                                                                           \
    "id, slug, name, kind, resells, website, contact, freshness_hours, sla_percent_milli, "        \
    "burn_in, monitoring, on_site, suspended, version, confirmed_at, updated_at"
#define KEY_COLUMNS                                                                                \
    "k.id, k.prefix, k.hash, p.slug, k.admin, k.revoked_at IS NOT NULL, k.created_at"
#define UPLOAD_COLUMNS                                                                             \
    "u.id, u.kind, u.format, u.actor, u.at, u.version, u.rows_read, u.created, u.updated, "        \
    "u.unchanged, u.removed, u.skipped, u.rejected, u.changes_truncated"
#endif

X(BEGIN, READ, "BEGIN")
X(BEGIN_SNAPSHOT, READ, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
X(BEGIN_REPEATABLE, READ, "BEGIN ISOLATION LEVEL REPEATABLE READ")
X(COMMIT, WRITE, "COMMIT")
X(ROLLBACK, READ, "ROLLBACK")

/* The oid of the database and of the epoch's table change when a dump is restored, though the row in it does not. */
X(EPOCH, READ,
  "SELECT left(encode(sha256(convert_to(concat_ws('/', s.system_identifier, "
  "CASE WHEN pg_is_in_recovery() THEN coalesce((SELECT received_tli FROM pg_stat_wal_receiver), c.timeline_id) "
  "ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer END, "
  "d.oid, 'cluster_epoch'::regclass::oid, e.epoch), 'UTF8')), 'hex'), 32) "
  "FROM cluster_epoch e, pg_control_system() s, pg_control_checkpoint() c, pg_database d "
  "WHERE d.datname = current_database()")
X(VERSIONS, READ,
  "SELECT 0 AS source, id, version FROM providers "
  "UNION ALL SELECT CASE name WHEN 'keys' THEN 1 ELSE 2 END, 0, version FROM counters "
  "UNION ALL SELECT 3, 0, coalesce(max(version), 0) FROM fixing_days "
  "UNION ALL SELECT 4, 0, version FROM latency_state ORDER BY 1, 2")
X(BUMP_COUNTER, WRITE, "UPDATE counters SET version = version + 1 WHERE name = $1")
X(AUDIT, WRITE,
  "INSERT INTO audit_log (actor, action, provider_id, detail) VALUES ($1, $2, $3::bigint, $4::jsonb)")

/* Providers and keys. */
X(PROVIDER_ADD, WRITE,
  "INSERT INTO providers (slug, name, kind, resells, website, contact, freshness_hours, sla_percent_milli, burn_in, "
  "monitoring, on_site, suspended, version) VALUES ($1, $2, $3::provider_kind, $4, $5, $6, $7::integer, $8::integer, "
  "$9::boolean, $10::boolean, $11::boolean, $12::boolean, 1) ON CONFLICT (slug) DO NOTHING "
  "RETURNING id, version, updated_at")
X(PROVIDER_UPDATE, WRITE,
  "UPDATE providers SET name = $2, kind = $3::provider_kind, resells = $4, website = $5, contact = $6, "
  "freshness_hours = $7::integer, sla_percent_milli = $8::integer, burn_in = $9::boolean, monitoring = $10::boolean, "
  "on_site = $11::boolean, suspended = $12::boolean, version = version + 1, "
  "updated_at = greatest(clock_timestamp(), updated_at + interval '1 microsecond') WHERE slug = $1 RETURNING id")
X(PROVIDER_LIST, READ, "SELECT " PROVIDER_COLUMNS " FROM providers ORDER BY slug")
X(PROVIDER_FIND, READ, "SELECT " PROVIDER_COLUMNS " FROM providers WHERE slug = $1")
X(PROVIDER_LOCK, WRITE, "SELECT " PROVIDER_COLUMNS " FROM providers WHERE slug = $1 FOR NO KEY UPDATE")
X(KEY_ADD, WRITE,
  "INSERT INTO keys (hash, prefix, provider_id, admin) VALUES ($1, $2, $3::bigint, $4::boolean) "
  "ON CONFLICT (hash) DO NOTHING RETURNING id, created_at")
X(KEY_LIST, READ,
  "SELECT " KEY_COLUMNS " FROM keys k LEFT JOIN providers p ON p.id = k.provider_id "
  "WHERE $1::text IS NULL OR p.slug = $1 ORDER BY k.id")
X(KEY_FIND, READ,
  "SELECT " KEY_COLUMNS " FROM keys k LEFT JOIN providers p ON p.id = k.provider_id WHERE k.hash = $1")
X(KEY_REVOKE, WRITE,
  "UPDATE keys SET revoked_at = greatest(clock_timestamp(), created_at) WHERE id = $1 AND revoked_at IS NULL "
  "RETURNING provider_id")
X(KEY_EXISTS, READ, "SELECT 1 FROM keys WHERE id = $1")

/* Inventory. */
X(BASELINE, READ,
  "SELECT external_id, content_hash FROM offers WHERE provider_id = $1 ORDER BY external_id")
X(OFFER_FIND, READ, "SELECT " OFFER_COLUMNS " FROM offers WHERE provider_id = $1 AND external_id = $2")
X(OFFERS_ALL, READ, "SELECT " OFFER_COLUMNS " FROM offers WHERE provider_id = $1 ORDER BY external_id")
X(OFFERS_SINCE, READ,
  "SELECT " OFFER_COLUMNS " FROM offers WHERE provider_id = $1 AND version > $2 ORDER BY external_id")
X(OFFERS_TO_RESOLVE, READ,
  "SELECT " OFFER_COLUMNS " FROM offers WHERE provider_id = $1 "
  "AND ($2::boolean OR gpu = 'unrecognized' OR (place IS NULL AND coalesce(region_raw, zone) IS NOT NULL)) "
  "ORDER BY external_id")
X(REMOVED_SINCE, READ,
  "SELECT external_id FROM tombstones WHERE provider_id = $1 AND version > $2 ORDER BY external_id")
X(TOMBSTONES_FROM, READ, "SELECT tombstones_from FROM providers WHERE id = $1")
X(TOMBSTONE, READ, "SELECT removed_at FROM tombstones WHERE offer_id = $1")
X(HAS_TOMBSTONES, READ, "SELECT EXISTS (SELECT FROM tombstones WHERE provider_id = $1)")
X(TOMBSTONES_UNDO, WRITE, "DELETE FROM tombstones WHERE offer_id = ANY ($1::bytea[])")
/* A version that grows strictly with its time, so that history never stands still. */
X(PROVIDER_BUMP, WRITE,
  "UPDATE providers SET version = version + 1, "
  "updated_at = greatest(clock_timestamp(), updated_at + interval '1 microsecond'), "
  "confirmed_at = CASE WHEN $2::boolean THEN greatest(confirmed_at, coalesce($3::timestamptz, clock_timestamp())) "
  "ELSE confirmed_at END WHERE id = $1 RETURNING version, confirmed_at, updated_at")
X(CLOCK, READ, "SELECT clock_timestamp()")
X(OFFERS_TAKE, WRITE,
  "DELETE FROM offers WHERE provider_id = $1 AND external_id = ANY ($2::text[]) RETURNING " OFFER_COLUMNS)
X(OFFERS_REMOVE, WRITE,
  "WITH gone AS (DELETE FROM offers WHERE provider_id = $1 AND external_id = ANY ($2::text[]) "
  "RETURNING id, provider_id, external_id, gpu_count_milli, prices, gpu, place, source, flags), "
  "logged AS (INSERT INTO price_changes (offer_id, version, provider_id, at, upload_id, actor, observed_at, "
  "before_gpu_count_milli, before, change_count, before_gpu, before_place, before_source, before_flags) "
  "SELECT id, $3::bigint, provider_id, $4::timestamptz, $5::uuid, $6::text, $7::timestamptz, gpu_count_milli, prices, "
  "cardinality(prices), gpu, place, source, flags FROM gone) "
  "INSERT INTO tombstones (offer_id, provider_id, external_id, version, removed_at) "
  "SELECT id, provider_id, external_id, $3::bigint, $4::timestamptz FROM gone")
X(OFFERS_COPY, WRITE, "COPY offers (" OFFER_COLUMNS ") FROM STDIN (FORMAT binary)")
/* Offers made by this version have their creation in it, so nothing travels twice. */
X(PRICES_CREATED, WRITE,
  "INSERT INTO price_changes (offer_id, version, provider_id, at, upload_id, actor, observed_at, after_gpu_count_milli, "
  "after, change_count) SELECT id, version, provider_id, updated_at, $3::uuid, $4::text, $5::timestamptz, gpu_count_milli, prices, "
  "cardinality(prices) FROM offers WHERE provider_id = $1 AND version = $2 AND created_at = updated_at")
X(PRICES_COPY, WRITE,
  "COPY price_changes (offer_id, version, provider_id, at, upload_id, actor, observed_at, before_gpu_count_milli, before, "
  "after_gpu_count_milli, after, change_count, before_gpu, before_place, before_source, before_flags) "
  "FROM STDIN (FORMAT binary)")
X(TYPE_OIDS, READ,
  "SELECT 'billing'::regtype::oid::bigint, 'price_unit'::regtype::oid::bigint, 'price'::regtype::oid::bigint, "
  "'delivery'::regtype::oid::bigint")

/* Uploads and history. */
X(UPLOAD_ADD, WRITE,
  "INSERT INTO uploads (id, provider_id, at, kind, format, actor, version, rows_read, created, updated, unchanged, "
  "removed, skipped, rejected, changes, changes_truncated) VALUES ($1::uuid, $2::bigint, $3::timestamptz, $4, $5, $6, "
  "$7::bigint, $8::bigint, $9::bigint, $10::bigint, $11::bigint, $12::bigint, $13::bigint, $14::bigint, $15::json, "
  "$16::boolean)")
X(ISSUES_COPY, WRITE,
  "COPY upload_issues (upload_id, is_error, number, row_number, external_id, pointer, code, message) "
  "FROM STDIN (FORMAT binary)")
X(UPLOAD_LIST, READ,
  "SELECT " UPLOAD_COLUMNS " FROM uploads u JOIN providers p ON p.id = u.provider_id WHERE p.slug = $1 "
  "AND ($2::uuid IS NULL OR u.number < (SELECT b.number FROM uploads b WHERE b.id = $2 AND b.provider_id = p.id)) "
  "ORDER BY u.number DESC LIMIT $3::bigint")
X(UPLOAD_COUNT, READ,
  "SELECT count(*) FROM uploads u JOIN providers p ON p.id = u.provider_id WHERE p.slug = $1")
X(UPLOAD_FIND, READ,
  "SELECT " UPLOAD_COLUMNS ", u.changes::text FROM uploads u JOIN providers p ON p.id = u.provider_id "
  "WHERE p.slug = $1 AND u.id = $2::uuid")
X(ISSUE_COUNT, READ, "SELECT count(*) FROM upload_issues WHERE upload_id = $1::uuid")
X(ISSUE_LIST, READ,
  "SELECT is_error, row_number, external_id, pointer, code, message FROM upload_issues WHERE upload_id = $1::uuid "
  "ORDER BY is_error DESC, number LIMIT $2::bigint OFFSET $3::bigint")
X(HISTORY_TOTAL, READ, "SELECT coalesce(sum(change_count), 0)::bigint FROM price_changes WHERE offer_id = $1")
X(HISTORY, READ,
  "SELECT version, at, observed_at, upload_id, actor, before_gpu_count_milli, before, after_gpu_count_milli, after "
  "FROM price_changes "
  "WHERE offer_id = $1 AND version <= $2 ORDER BY version DESC LIMIT $3::bigint")

/* Fixings. A day is a number of days after 1970-01-01. */
X(FIXING_LOCK, WRITE, "SELECT pg_try_advisory_xact_lock(7253811942060322)")
X(FIXING_DUE, READ,
  "SELECT d.day::date - DATE '1970-01-01' FROM generate_series(least((SELECT min(day) FROM confirmations), "
  "(SELECT min((created_at AT TIME ZONE 'UTC')::date) FROM providers)), DATE '1970-01-01' + $1::integer, "
  "interval '1 day') AS d (day) WHERE NOT EXISTS (SELECT FROM fixing_days f WHERE f.day = d.day::date) "
  "ORDER BY d.day LIMIT $2::bigint")
X(FIXING_IMPORTED, READ,
  "SELECT EXISTS (SELECT FROM uploads WHERE at > $1::timestamptz AND kind = 'import')")
X(FIXING_REVISION, READ,
  "SELECT coalesce(max(revision), 0) FROM fixing_days WHERE day = DATE '1970-01-01' + $1::integer")
X(FIXING_CONFIRMED, READ,
  "SELECT p.id, (SELECT c.at FROM confirmations c WHERE c.provider_id = p.id "
  "AND c.day <= DATE '1970-01-01' + $1::integer ORDER BY c.day DESC LIMIT 1) FROM providers p ORDER BY p.id")
X(FIXING_CHANGES, READ,
  "SELECT offer_id, provider_id, before_gpu_count_milli, before, after_gpu_count_milli, after, before_gpu, before_place, "
  "before_source, before_flags FROM price_changes WHERE at >= $1::timestamptz AND coalesce(observed_at, at) >= $1 "
  "ORDER BY offer_id, version DESC")
X(FIXING_OFFERS, READ, "SELECT " OFFER_COLUMNS " FROM offers WHERE id = ANY ($1::bytea[]) ORDER BY id")
X(FIXING_LAST_CHANGES, READ,
  "SELECT offer_id, max(coalesce(observed_at, at)) FROM price_changes WHERE offer_id = ANY ($1::bytea[]) "
  "AND coalesce(observed_at, at) < $2::timestamptz GROUP BY offer_id ORDER BY offer_id")
X(FIXING_DAY_ADD, WRITE,
  "INSERT INTO fixing_days (day, revision, version, method_version, row_count, made_by) "
  "SELECT DATE '1970-01-01' + $1::integer, $2::integer, coalesce(max(version), 0) + 1, $3::integer, $4::integer, $5 "
  "FROM fixing_days RETURNING version")
X(FIXINGS_COPY, WRITE,
  "COPY fixings (day, revision, gpu, billing, months_from, continent, min_microusd, p25_microusd, median_microusd, "
  "p75_microusd, max_microusd, offers, providers, input_hash) FROM STDIN (FORMAT binary)")
X(FIXINGS_SINCE, READ,
  "SELECT d.version, d.day - DATE '1970-01-01', d.revision, d.method_version, f.gpu, f.billing, f.months_from, "
  "f.continent, f.min_microusd, f.p25_microusd, f.median_microusd, f.p75_microusd, f.max_microusd, f.offers, "
  "f.providers, f.input_hash FROM fixing_days d LEFT JOIN fixings f ON f.day = d.day AND f.revision = d.revision "
  "WHERE d.version > $1::bigint ORDER BY d.version")

/* Idempotency. */
X(IDEMPOTENCY_LOCK, WRITE, "SELECT pg_try_advisory_xact_lock($1)")
X(IDEMPOTENCY_CLAIM, WRITE,
  "INSERT INTO idempotency AS i (scope, key, fingerprint) VALUES ($1, $2, $3) "
  "ON CONFLICT (scope, key) DO UPDATE SET fingerprint = excluded.fingerprint, status = NULL, body = NULL, "
  "created_at = now() WHERE i.created_at < now() - interval '24 hours' RETURNING 1")
X(IDEMPOTENCY_FIND, READ, "SELECT fingerprint, status, body FROM idempotency WHERE scope = $1 AND key = $2")
X(IDEMPOTENCY_STORE, WRITE,
  "UPDATE idempotency SET status = $3::integer, body = $4 WHERE scope = $1 AND key = $2 RETURNING 1")

/* Retention: at most so many rows a call. */
X(RETENTION_ANNOUNCE, WRITE, "SELECT set_config('rackrate.retention', 'on', true)")
X(EXPIRE_IDEMPOTENCY, WRITE,
  "DELETE FROM idempotency WHERE ctid = ANY (ARRAY(SELECT ctid FROM idempotency "
  "WHERE created_at < now() - interval '24 hours' LIMIT $1::bigint FOR UPDATE SKIP LOCKED))")
X(EXPIRE_UPLOADS, WRITE,
  "DELETE FROM uploads WHERE ctid = ANY (ARRAY(SELECT ctid FROM uploads "
  "WHERE at < now() - make_interval(days => $2::integer) LIMIT $1::bigint FOR UPDATE SKIP LOCKED))")
X(EXPIRE_AUDIT, WRITE,
  "DELETE FROM audit_log WHERE ctid = ANY (ARRAY(SELECT ctid FROM audit_log "
  "WHERE at < now() - make_interval(days => greatest($2::integer, 31)) LIMIT $1::bigint FOR UPDATE SKIP LOCKED))")
/* The provider's row is locked first, as every writer does. */
X(EXPIRE_TOMBSTONES_PROVIDER, READ,
  "SELECT p.slug, max(t.version) FROM providers p JOIN tombstones t ON t.provider_id = p.id "
  "WHERE t.removed_at < now() - make_interval(days => $1::integer) GROUP BY p.slug ORDER BY min(t.removed_at) LIMIT 1")
X(EXPIRE_TOMBSTONES, WRITE,
  "WITH floor AS (UPDATE providers SET tombstones_from = greatest(tombstones_from, $2) WHERE slug = $1 RETURNING id) "
  "DELETE FROM tombstones t USING floor WHERE t.provider_id = floor.id AND t.version <= $2")

/* Migration and seeding. */
X(MIGRATION_LOCK, WRITE, "SELECT pg_try_advisory_lock(7253811942060321)")
X(MIGRATION_UNLOCK, WRITE, "SELECT pg_advisory_unlock(7253811942060321)")
X(MIGRATION_TABLE, READ, "SELECT to_regclass('schema_migrations') IS NOT NULL")
X(MIGRATION_LIST, READ, "SELECT number, checksum FROM schema_migrations ORDER BY number")
X(MIGRATION_ADD, WRITE, "INSERT INTO schema_migrations (number, name, checksum) VALUES ($1::integer, $2, $3)")
X(REFERENCE_HASH, WRITE, "SELECT content_hash FROM counters WHERE name = 'reference' FOR UPDATE")
X(REFERENCE_SET_HASH, WRITE,
  "UPDATE counters SET content_hash = $1, version = version + 1 WHERE name = 'reference'")
X(SEED_GPU, WRITE,
  "INSERT INTO gpus (slug, family, vendor, name, form_factor, vram_gb_milli) "
  "VALUES ($1, $2, $3, $4, $5, $6::bigint) ON CONFLICT (slug) DO UPDATE SET family = excluded.family, "
  "vendor = excluded.vendor, name = excluded.name, form_factor = excluded.form_factor, "
  "vram_gb_milli = excluded.vram_gb_milli")
X(SEED_GPU_ALIASES_CLEAR, WRITE, "DELETE FROM gpu_aliases WHERE NOT by_operator")
X(SEED_GPU_ALIAS, WRITE,
  "INSERT INTO gpu_aliases (alias, gpu, by_operator) VALUES ($1, $2, false) ON CONFLICT DO NOTHING")
X(SEED_PLACE, WRITE,
  "INSERT INTO places (slug, kind, name, parent, country, continent, latitude_micro, longitude_micro) "
  "VALUES ($1, $2, $3, $4, $5, $6, $7::integer, $8::integer) ON CONFLICT (slug) DO UPDATE SET kind = excluded.kind, "
  "name = excluded.name, parent = excluded.parent, country = excluded.country, continent = excluded.continent, "
  "latitude_micro = excluded.latitude_micro, longitude_micro = excluded.longitude_micro")
X(SEED_PLACE_ALIASES_CLEAR, WRITE, "DELETE FROM place_aliases WHERE NOT by_operator")
X(SEED_PLACE_ALIAS, WRITE,
  "INSERT INTO place_aliases (provider, alias, place, by_operator) VALUES ($1, $2, $3, false) ON CONFLICT DO NOTHING")

/* Names that operators give, and those that mean nothing yet. */
X(LOCK_BRIEFLY, WRITE, "SET LOCAL lock_timeout = '500ms'")
X(PROVIDERS_STILL, WRITE, "LOCK TABLE providers IN EXCLUSIVE MODE")
X(REFERENCE_VERSION, READ, "SELECT version FROM counters WHERE name = 'reference'")
X(ALIAS_LIST, READ,
  "SELECT 0, '' AS provider, alias, gpu::text, spelling FROM gpu_aliases WHERE by_operator "
  "UNION ALL SELECT 1, provider, alias, place::text, spelling FROM place_aliases WHERE by_operator ORDER BY 1, 2, 3")
X(ALIAS_GPU_SET, WRITE,
  "INSERT INTO gpu_aliases (alias, by_operator, gpu, spelling) VALUES ($1, true, $2, $3) "
  "ON CONFLICT (alias, by_operator) DO UPDATE SET gpu = excluded.gpu, spelling = excluded.spelling")
X(ALIAS_PLACE_SET, WRITE,
  "INSERT INTO place_aliases (provider, alias, by_operator, place, spelling) VALUES ($1, $2, true, $3, $4) "
  "ON CONFLICT (provider, alias, by_operator) DO UPDATE SET place = excluded.place, spelling = excluded.spelling")
X(ALIAS_GPU_REMOVE, WRITE, "DELETE FROM gpu_aliases WHERE by_operator AND alias = $1 RETURNING 1")
X(ALIAS_PLACE_REMOVE, WRITE,
  "DELETE FROM place_aliases WHERE by_operator AND provider = $1 AND alias = $2 RETURNING 1")
X(RAW_GPUS, READ, "SELECT DISTINCT provider_id, gpu_raw FROM offers ORDER BY 1")
X(RAW_PLACES, READ, "SELECT DISTINCT provider_id, region_raw, zone FROM offers ORDER BY 1")
X(UNRECOGNIZED, READ,
  "SELECT u.kind, p.slug, u.name, u.offers FROM ("
  "SELECT 0 AS kind, provider_id, gpu_raw AS name, count(*) AS offers FROM offers WHERE gpu = 'unrecognized' GROUP BY 2, 3 "
  "UNION ALL SELECT 1, provider_id, coalesce(region_raw, zone), count(*) FROM offers "
  "WHERE place IS NULL AND coalesce(region_raw, zone) IS NOT NULL GROUP BY 2, 3) u "
  "JOIN providers p ON p.id = u.provider_id WHERE $1::text IS NULL OR p.slug = $1 "
  "ORDER BY u.offers DESC, u.kind, p.slug, u.name LIMIT 10000")

/* Measured round trips. */
X(LATENCY_BUMP, WRITE, "UPDATE latency_state SET version = version + 1 RETURNING version")
X(LATENCY_UPSERT, WRITE,
  "INSERT INTO latency_measurements AS m (from_place, to_place, provider_id, zone, measured_by, median_us, p95_us, samples, "
  "measured_at, source, floor_us, actor) VALUES ($1, $2, (SELECT id FROM providers WHERE slug = $3), $4, "
  "(SELECT id FROM providers WHERE slug = $5), $6::integer, $7::integer, $8::integer, $9::timestamptz, $10, $11::integer, $12) "
  "ON CONFLICT ON CONSTRAINT latency_measurements_pair DO UPDATE SET median_us = excluded.median_us, "
  "p95_us = excluded.p95_us, samples = excluded.samples, measured_at = excluded.measured_at, source = excluded.source, "
  "floor_us = excluded.floor_us, actor = excluded.actor, received_at = clock_timestamp() "
  "WHERE excluded.measured_at > m.measured_at OR (excluded.measured_at = m.measured_at AND "
  "(m.median_us, m.p95_us, m.samples, m.source) IS DISTINCT FROM "
  "(excluded.median_us, excluded.p95_us, excluded.samples, excluded.source)) RETURNING m.xmax = 0")
X(LATENCY_COUNT, READ,
  "SELECT count(*) FROM latency_measurements m JOIN providers p ON p.id = m.measured_by WHERE p.slug = $1")
X(LATENCY_REMOVE, WRITE, "DELETE FROM latency_measurements WHERE id = $1 RETURNING 1")
X(LATENCY_LIST, READ,
  "SELECT s.version, m.id, m.from_place::text, m.to_place::text, p.slug, m.zone, b.slug, m.median_us, m.p95_us, m.samples, "
  "m.measured_at, m.source, m.floor_us FROM latency_state s LEFT JOIN latency_measurements m ON true "
  "LEFT JOIN providers p ON p.id = m.provider_id LEFT JOIN providers b ON b.id = m.measured_by ORDER BY m.id")
/* clang-format on */
