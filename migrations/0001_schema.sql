-- Rackrate's schema: providers and their keys, reference tables, offers with their prices, what changed and who changed it.
--
-- What holds everywhere:
--   * Unknown is NULL, never 0 or ''. Money is bigint micro-dollars, quantities are bigint thousandths (`_milli`): no floats.
--   * Text that is a key or is compared has COLLATE "C": order is by bytes on every server, whatever its locale.
--   * Search is not this database's job: the only indexes are those of keys, of "what is newer than" and of history.
--   * A rule that the application keeps is written here again as a constraint, so that no other writer can break it.
--
-- Two choices were measured (PostgreSQL 15, 2 cores, 100,000 offers with three prices each, COPY):
--   * prices as an array of the domain `price` inside their offer take 2.0 s, a table of their own with a foreign key and a
--     unique index 8.5 s. The domain and prices_are_valid() hold the rules of a price; the view `prices` shows one a row.
--   * three foreign keys of offers cost 2.5 s (8 microseconds each a row). The rows they would point to are never deleted or
--     renamed (refuse_removal), so a statement trigger that looks at the distinct values proves the same (offers_refer).

-- ---- words ------------------------------------------------------------------------------------------------------------

CREATE TYPE provider_kind AS ENUM ('hyperscaler', 'gpu_cloud', 'marketplace', 'colocation', 'reseller');
COMMENT ON TYPE provider_kind IS 'What sort of business a provider is';
CREATE TYPE billing AS ENUM ('on_demand', 'spot', 'reserved');
COMMENT ON TYPE billing IS 'How a price is committed to; the order is the order of a price''s identity';
CREATE TYPE price_unit AS ENUM ('gpu', 'node');
COMMENT ON TYPE price_unit IS 'What an hourly amount was quoted for: one GPU or the whole node';
CREATE TYPE fabric AS ENUM ('none', 'ethernet', 'roce', 'infiniband');
COMMENT ON TYPE fabric IS 'Network between nodes; NULL where unknown, ''none'' where there is none';
CREATE TYPE interconnect AS ENUM ('pcie', 'nvlink');
COMMENT ON TYPE interconnect IS 'Links between the GPUs of one node; NULL where unknown';
CREATE TYPE availability_status AS ENUM ('unknown', 'available', 'limited', 'waitlist', 'sold_out');
COMMENT ON TYPE availability_status IS 'Whether an offer can be had now';
CREATE TYPE source_kind AS ENUM ('provider_api', 'import', 'sample');
COMMENT ON TYPE source_kind IS 'Where an offer comes from: its provider, an import by the operator, or the labelled sample';

CREATE DOMAIN slug AS text COLLATE "C"
    CONSTRAINT slug_form CHECK (VALUE ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$');
COMMENT ON DOMAIN slug IS 'A short name for URLs: 1 to 63 of a-z, 0-9 and inner -';
CREATE DOMAIN web_url AS text
    CONSTRAINT web_url_form CHECK (VALUE ~* '^https?://' AND octet_length(VALUE) <= 2000);
COMMENT ON DOMAIN web_url IS 'An http or https URL of at most 2,000 bytes';

-- ---- the schema itself ------------------------------------------------------------------------------------------------
-- schema_migrations is made by the program before the first migration runs.

CREATE TABLE cluster_epoch (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    epoch uuid NOT NULL DEFAULT gen_random_uuid(),
    created_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO cluster_epoch DEFAULT VALUES;
COMMENT ON TABLE cluster_epoch IS 'Tells this database from any other; nodes that see another epoch load everything again';
COMMENT ON COLUMN cluster_epoch.only_row IS 'Always true: there is one row';
COMMENT ON COLUMN cluster_epoch.epoch IS 'Random, made with the schema; change it to make every node load everything again';
COMMENT ON COLUMN cluster_epoch.created_at IS 'When the schema was made';

CREATE TABLE counters (
    name text COLLATE "C" PRIMARY KEY CHECK (name IN ('keys', 'reference')),
    version bigint NOT NULL DEFAULT 0 CHECK (version >= 0),
    content_hash bytea CHECK (octet_length(content_hash) = 32)
);
INSERT INTO counters (name) VALUES ('keys'), ('reference');
COMMENT ON TABLE counters IS 'Versions of what belongs to no single provider; nodes compare them to notice changes';
COMMENT ON COLUMN counters.name IS 'keys: API keys; reference: GPUs, places and their aliases';
COMMENT ON COLUMN counters.version IS 'Bumped by each change, in its transaction';
COMMENT ON COLUMN counters.content_hash IS 'reference: BLAKE2b-256 of the tables as the program that seeded them had them';

-- ---- reference data ---------------------------------------------------------------------------------------------------

CREATE TABLE gpus (
    slug slug PRIMARY KEY,
    family slug NOT NULL,
    vendor text COLLATE "C" CHECK (vendor <> ''),
    name text NOT NULL CHECK (name <> ''),
    form_factor text COLLATE "C" NOT NULL
        CHECK (form_factor IN ('sxm', 'pcie', 'nvl', 'oam', 'other', 'undisclosed')),
    vram_gb_milli bigint CHECK (vram_gb_milli > 0)
);
COMMENT ON TABLE gpus IS 'GPU variants and families as this release knows them, seeded by migrate; rows are never removed';
COMMENT ON COLUMN gpus.slug IS 'Name in URLs, such as h100-sxm; a family''s own entry has the family''s slug';
COMMENT ON COLUMN gpus.family IS 'The product without form factor, size and edition, such as h100';
COMMENT ON COLUMN gpus.vendor IS 'Who makes it; NULL for the entry unrecognized';
COMMENT ON COLUMN gpus.name IS 'Name as printed';
COMMENT ON COLUMN gpus.form_factor IS 'sxm, pcie, nvl, oam, other or undisclosed';
COMMENT ON COLUMN gpus.vram_gb_milli IS 'Nominal memory of one GPU in thousandths of a GB; NULL where variants differ';

CREATE TABLE gpu_aliases (
    alias text COLLATE "C" NOT NULL CHECK (alias <> ''),
    gpu slug NOT NULL REFERENCES gpus (slug),
    by_operator boolean NOT NULL,
    PRIMARY KEY (alias, by_operator)
);
COMMENT ON TABLE gpu_aliases IS 'Other names of GPUs; those of the program are replaced when it changes, an operator''s are kept';
COMMENT ON COLUMN gpu_aliases.alias IS 'The other name';
COMMENT ON COLUMN gpu_aliases.gpu IS 'The GPU it means';
COMMENT ON COLUMN gpu_aliases.by_operator IS 'Whether an operator added it; such a one wins over the program''s';

CREATE TABLE places (
    slug slug PRIMARY KEY,
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('area', 'country', 'place')),
    name text NOT NULL CHECK (name <> ''),
    parent slug REFERENCES places (slug) DEFERRABLE INITIALLY DEFERRED,
    country text COLLATE "C" CHECK (country ~ '^[A-Z]{2}$'),
    continent text COLLATE "C" CHECK (continent ~ '^[A-Z]{2}$'),
    latitude_micro integer CHECK (latitude_micro BETWEEN -90000000 AND 90000000),
    longitude_micro integer CHECK (longitude_micro BETWEEN -180000000 AND 180000000),
    CHECK ((latitude_micro IS NULL) = (longitude_micro IS NULL)),
    CHECK (parent <> slug)
);
COMMENT ON TABLE places IS 'Areas, countries and places as this release knows them, seeded by migrate; rows are never removed';
COMMENT ON COLUMN places.slug IS 'us-east is an area, us a country, us-ashburn a place';
COMMENT ON COLUMN places.kind IS 'area, country or place';
COMMENT ON COLUMN places.name IS 'Name as printed';
COMMENT ON COLUMN places.parent IS 'The area it lies in';
COMMENT ON COLUMN places.country IS 'ISO 3166 alpha-2';
COMMENT ON COLUMN places.continent IS 'AF, AN, AS, EU, NA, OC or SA';
COMMENT ON COLUMN places.latitude_micro IS 'Millionths of a degree, north positive';
COMMENT ON COLUMN places.longitude_micro IS 'Millionths of a degree, east positive';

CREATE TABLE place_aliases (
    provider text COLLATE "C" NOT NULL,
    alias text COLLATE "C" NOT NULL CHECK (alias <> ''),
    place slug NOT NULL REFERENCES places (slug),
    by_operator boolean NOT NULL,
    PRIMARY KEY (provider, alias, by_operator)
);
COMMENT ON TABLE place_aliases IS 'Other names of places, each provider''s own and global ones';
COMMENT ON COLUMN place_aliases.provider IS 'Slug of the provider whose word it is; '''' for everybody''s';
COMMENT ON COLUMN place_aliases.alias IS 'The other name, such as eu-west-1';
COMMENT ON COLUMN place_aliases.place IS 'The place it means';
COMMENT ON COLUMN place_aliases.by_operator IS 'Whether an operator added it; such a one wins over the program''s';

-- ---- providers and keys -----------------------------------------------------------------------------------------------

CREATE TABLE providers (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    slug slug NOT NULL UNIQUE,
    name text NOT NULL CHECK (name <> '' AND octet_length(name) <= 200),
    kind provider_kind NOT NULL,
    resells slug,
    website web_url,
    contact text CHECK (contact <> '' AND octet_length(contact) <= 2000),
    freshness_hours integer CHECK (freshness_hours > 0),
    sla_percent_milli integer CHECK (sla_percent_milli BETWEEN 0 AND 100000),
    burn_in boolean,
    monitoring boolean,
    on_site boolean,
    suspended boolean NOT NULL DEFAULT false,
    version bigint NOT NULL DEFAULT 0 CHECK (version >= 0),
    tombstones_from bigint NOT NULL DEFAULT 0 CHECK (tombstones_from BETWEEN 0 AND version),
    confirmed_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CHECK (resells IS NULL OR (kind = 'reseller' AND resells <> slug))
);
COMMENT ON TABLE providers IS 'Who rents GPUs out; a write to a provider''s inventory locks its row and bumps version';
COMMENT ON COLUMN providers.id IS 'Key inside this database';
COMMENT ON COLUMN providers.slug IS 'Name in URLs; never changes, since the ids of offers come from it';
COMMENT ON COLUMN providers.name IS 'Name as printed';
COMMENT ON COLUMN providers.kind IS 'What sort of business it is';
COMMENT ON COLUMN providers.resells IS 'Slug of the provider whose machines a reseller offers';
COMMENT ON COLUMN providers.website IS 'Where to read about it';
COMMENT ON COLUMN providers.contact IS 'How buyers reach it';
COMMENT ON COLUMN providers.freshness_hours IS 'Hours after which an unconfirmed offer is stale; NULL: never';
COMMENT ON COLUMN providers.sla_percent_milli IS 'Uptime it promises, thousandths of a percent';
COMMENT ON COLUMN providers.burn_in IS 'Whether it tests hardware before hand-over; NULL where not said';
COMMENT ON COLUMN providers.monitoring IS 'Whether it monitors the hardware; NULL where not said';
COMMENT ON COLUMN providers.on_site IS 'Whether it has staff on site; NULL where not said';
COMMENT ON COLUMN providers.suspended IS 'An operator took its offers and keys out of service';
COMMENT ON COLUMN providers.version IS 'Bumped by each write under a lock on this row; what a write changed carries it';
COMMENT ON COLUMN providers.tombstones_from IS 'Removals up to this version may have been forgotten: who has less loads all again';
COMMENT ON COLUMN providers.confirmed_at IS 'When a full upload last confirmed everything it holds';
COMMENT ON COLUMN providers.created_at IS 'When it was added';
COMMENT ON COLUMN providers.updated_at IS 'When version was last bumped; grows strictly with it';

CREATE TABLE keys (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
    prefix text COLLATE "C" NOT NULL CHECK (octet_length(prefix) BETWEEN 1 AND 15),
    provider_id bigint REFERENCES providers (id),
    admin boolean NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz CHECK (revoked_at >= created_at),
    CHECK (admin = (provider_id IS NULL))
);
COMMENT ON TABLE keys IS 'API keys; the key itself is shown once and kept nowhere';
COMMENT ON COLUMN keys.id IS 'Number of the key, as printed and as in actor (key:12)';
COMMENT ON COLUMN keys.hash IS 'BLAKE2b-256 of the key''s text';
COMMENT ON COLUMN keys.prefix IS 'First characters of the key, to tell keys apart in a list';
COMMENT ON COLUMN keys.provider_id IS 'The one provider whose data it reaches; NULL for an operator''s';
COMMENT ON COLUMN keys.admin IS 'Whether it is an operator''s, for every provider';
COMMENT ON COLUMN keys.created_at IS 'When it was made';
COMMENT ON COLUMN keys.revoked_at IS 'Since when it opens nothing; NULL while it is good';

-- ---- offers -----------------------------------------------------------------------------------------------------------

CREATE TYPE price_row AS (
    billing billing,
    term_months integer,
    min_gpus integer,
    upfront_percent_milli integer,
    plan text,
    quoted_per price_unit,
    quoted_microusd bigint,
    max_gpus integer
);
COMMENT ON TYPE price_row IS 'The columns of a price; used through the domain price, which holds its rules';
COMMENT ON COLUMN price_row.billing IS 'On demand, spot or reserved';
COMMENT ON COLUMN price_row.term_months IS '0 unless reserved, then 1 to 600';
COMMENT ON COLUMN price_row.min_gpus IS 'Smallest order at this price; NULL where not said';
COMMENT ON COLUMN price_row.upfront_percent_milli IS 'Part due at once, thousandths of a percent; NULL where not said';
COMMENT ON COLUMN price_row.plan IS 'The provider''s own word for it; NULL where there is none';
COMMENT ON COLUMN price_row.quoted_per IS 'What the amount was quoted for';
COMMENT ON COLUMN price_row.quoted_microusd IS 'Micro-dollars an hour, exactly as quoted';
COMMENT ON COLUMN price_row.max_gpus IS 'Largest order at this price; NULL where not said';

CREATE DOMAIN price AS price_row
    CONSTRAINT price_complete CHECK ((VALUE).billing IS NOT NULL AND (VALUE).term_months IS NOT NULL
        AND (VALUE).quoted_per IS NOT NULL AND (VALUE).quoted_microusd IS NOT NULL)
    CONSTRAINT price_amount CHECK ((VALUE).quoted_microusd BETWEEN 1 AND 10000000000000)
    CONSTRAINT price_term CHECK (CASE (VALUE).billing WHEN 'reserved' THEN (VALUE).term_months BETWEEN 1 AND 600
        ELSE (VALUE).term_months = 0 END)
    CONSTRAINT price_order CHECK ((VALUE).min_gpus > 0)
    CONSTRAINT price_order_limit CHECK ((VALUE).max_gpus > 0 AND (VALUE).max_gpus >= coalesce((VALUE).min_gpus, 1))
    CONSTRAINT price_upfront CHECK ((VALUE).upfront_percent_milli BETWEEN 0 AND 100000)
    CONSTRAINT price_plan CHECK ((VALUE).plan <> '' AND octet_length((VALUE).plan) <= 100);
COMMENT ON DOMAIN price IS 'One way to pay for an offer, with the rules that hold for it alone';

CREATE FUNCTION prices_are_valid(list price[]) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    former price_row;
    latter price_row;
BEGIN
    IF array_ndims(list) IS DISTINCT FROM 1 OR cardinality(list) > 200 OR array_lower(list, 1) <> 1 THEN
        RETURN false;
    END IF;
    FOR i IN 1 .. cardinality(list) LOOP
        latter := list[i];
        IF latter IS NULL THEN
            RETURN false;
        END IF;
        -- Strictly ascending by identity, so no identity twice; NULL comes first (text by bytes).
        IF i > 1 AND (former.billing, former.term_months, coalesce(former.min_gpus, -1),
                coalesce(former.upfront_percent_milli, -1), coalesce(former.plan, '') COLLATE "C")
            >= (latter.billing, latter.term_months, coalesce(latter.min_gpus, -1),
                coalesce(latter.upfront_percent_milli, -1), coalesce(latter.plan, '') COLLATE "C") THEN
            RETURN false;
        END IF;
        former := latter;
    END LOOP;
    RETURN true;
END
$$;
COMMENT ON FUNCTION prices_are_valid(price[]) IS
    '1 to 200 prices in ascending order of identity (billing, term_months, min_gpus, upfront_percent, plan), none twice';

CREATE TYPE delivery_row AS (gpus integer, days integer);
COMMENT ON TYPE delivery_row IS 'Part of a big order that comes later; used through the domain delivery';
COMMENT ON COLUMN delivery_row.gpus IS 'How many GPUs';
COMMENT ON COLUMN delivery_row.days IS 'Within how many days';
CREATE DOMAIN delivery AS delivery_row
    CONSTRAINT delivery_complete CHECK ((VALUE).gpus IS NOT NULL AND (VALUE).days IS NOT NULL)
    CONSTRAINT delivery_range CHECK ((VALUE).gpus > 0 AND (VALUE).days >= 0);
COMMENT ON DOMAIN delivery IS 'Part of a big order that comes later: so many GPUs within so many days';

CREATE TABLE offers (
    id bytea PRIMARY KEY CHECK (octet_length(id) = 16),
    provider_id bigint NOT NULL,
    external_id text COLLATE "C" NOT NULL CHECK (octet_length(external_id) BETWEEN 1 AND 200),
    version bigint NOT NULL CHECK (version > 0),
    gpu text COLLATE "C" NOT NULL,
    gpu_raw text NOT NULL CHECK (octet_length(gpu_raw) BETWEEN 1 AND 200),
    gpu_count_milli integer NOT NULL CHECK (gpu_count_milli BETWEEN 1 AND 100000000),
    vram_gb_milli bigint CHECK (vram_gb_milli > 0),
    vcpus_milli bigint CHECK (vcpus_milli >= 0),
    memory_gib_milli bigint CHECK (memory_gib_milli >= 0),
    storage_gb_milli bigint CHECK (storage_gb_milli >= 0),
    interconnect interconnect,
    fabric fabric,
    fabric_gbps_milli bigint CHECK (fabric_gbps_milli >= 0),
    place text COLLATE "C",
    region_raw text CHECK (octet_length(region_raw) BETWEEN 1 AND 200),
    zone text CHECK (octet_length(zone) BETWEEN 1 AND 200),
    availability availability_status NOT NULL,
    gpus_available integer CHECK (gpus_available >= 0),
    lead_time_days integer CHECK (lead_time_days >= 0),
    schedule delivery[] CHECK (array_ndims(schedule) = 1 AND cardinality(schedule) BETWEEN 1 AND 100),
    egress_per_gb_microusd bigint CHECK (egress_per_gb_microusd >= 0),
    storage_per_gb_month_microusd bigint CHECK (storage_per_gb_month_microusd >= 0),
    billing_increment_seconds integer CHECK (billing_increment_seconds >= 0),
    minimum_duration_seconds integer CHECK (minimum_duration_seconds >= 0),
    order_url web_url,
    source_url web_url,
    attribution text CHECK (octet_length(attribution) BETWEEN 1 AND 2000),
    source source_kind NOT NULL,
    observed_at timestamptz NOT NULL,
    flags integer NOT NULL DEFAULT 0 CHECK (flags >= 0),
    prices price[] NOT NULL CHECK (prices_are_valid(prices)),
    content_hash bytea NOT NULL CHECK (octet_length(content_hash) = 16),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL CHECK (updated_at >= created_at),
    UNIQUE (provider_id, external_id)
);
CREATE INDEX offers_version ON offers (provider_id, version);
COMMENT ON INDEX offers_version IS 'What is newer than a version';
COMMENT ON TABLE offers IS 'Live offers: one node shape of one provider in one place, with its prices';
COMMENT ON COLUMN offers.id IS 'BLAKE2b-128 of provider slug, NUL, external_id: stable for ever, printed as of_ and base 32';
COMMENT ON COLUMN offers.provider_id IS 'Whose it is';
COMMENT ON COLUMN offers.external_id IS 'The provider''s own name for it';
COMMENT ON COLUMN offers.version IS 'Version of the provider that last changed this row';
COMMENT ON COLUMN offers.gpu IS 'Slug of the GPU its name was resolved to; unrecognized where nobody knows the name';
COMMENT ON COLUMN offers.gpu_raw IS 'The provider''s words for the GPU';
COMMENT ON COLUMN offers.gpu_count_milli IS 'GPUs of one node, thousandths: 125 is an eighth of a GPU';
COMMENT ON COLUMN offers.vram_gb_milli IS 'Memory of one GPU as uploaded, thousandths of a GB; NULL where not said';
COMMENT ON COLUMN offers.vcpus_milli IS 'Virtual processors of one node, thousandths';
COMMENT ON COLUMN offers.memory_gib_milli IS 'Memory of one node, thousandths of a GiB';
COMMENT ON COLUMN offers.storage_gb_milli IS 'Local disks of one node, thousandths of a GB';
COMMENT ON COLUMN offers.interconnect IS 'Between the GPUs of one node';
COMMENT ON COLUMN offers.fabric IS 'Between nodes';
COMMENT ON COLUMN offers.fabric_gbps_milli IS 'Network between nodes, thousandths of a Gb/s for one node';
COMMENT ON COLUMN offers.place IS 'Slug of the place, country or area its region was resolved to; NULL unknown';
COMMENT ON COLUMN offers.region_raw IS 'The provider''s words for the region';
COMMENT ON COLUMN offers.zone IS 'The provider''s word for the zone';
COMMENT ON COLUMN offers.availability IS 'Whether it can be had now';
COMMENT ON COLUMN offers.gpus_available IS 'How many GPUs can be had now';
COMMENT ON COLUMN offers.lead_time_days IS 'Days until delivery';
COMMENT ON COLUMN offers.schedule IS 'Later parts of a big order; NULL where there are none';
COMMENT ON COLUMN offers.egress_per_gb_microusd IS 'Micro-dollars a GB that leaves';
COMMENT ON COLUMN offers.storage_per_gb_month_microusd IS 'Micro-dollars a GB stored for a month';
COMMENT ON COLUMN offers.billing_increment_seconds IS 'What time is rounded up to';
COMMENT ON COLUMN offers.minimum_duration_seconds IS 'Shortest time that is charged';
COMMENT ON COLUMN offers.order_url IS 'Where to order it';
COMMENT ON COLUMN offers.source_url IS 'Where the price was seen';
COMMENT ON COLUMN offers.attribution IS 'Whom a licence asks to credit';
COMMENT ON COLUMN offers.source IS 'Where it comes from';
COMMENT ON COLUMN offers.observed_at IS 'When the price was seen; the time of the upload unless given';
COMMENT ON COLUMN offers.flags IS 'Doubts found at ingest, as bits';
COMMENT ON COLUMN offers.prices IS 'Its prices by identity; the view prices shows them one a row';
COMMENT ON COLUMN offers.content_hash IS 'BLAKE2b-128 of every fact but observed_at: equal hashes need no update';
COMMENT ON COLUMN offers.created_at IS 'When it first appeared, since it was last removed';
COMMENT ON COLUMN offers.updated_at IS 'When it last changed';

CREATE VIEW prices AS
    SELECT o.id AS offer_id, o.provider_id, p.billing, p.term_months, p.min_gpus, p.upfront_percent_milli, p.plan,
           p.quoted_per, p.quoted_microusd, p.max_gpus
    FROM offers o CROSS JOIN LATERAL unnest(o.prices) AS p;
COMMENT ON VIEW prices IS 'The prices of live offers, one a row';
COMMENT ON COLUMN prices.offer_id IS 'The offer';
COMMENT ON COLUMN prices.provider_id IS 'Whose it is';
COMMENT ON COLUMN prices.billing IS 'On demand, spot or reserved';
COMMENT ON COLUMN prices.term_months IS '0 unless reserved';
COMMENT ON COLUMN prices.min_gpus IS 'Smallest order at this price';
COMMENT ON COLUMN prices.upfront_percent_milli IS 'Part due at once, thousandths of a percent';
COMMENT ON COLUMN prices.plan IS 'The provider''s own word for it';
COMMENT ON COLUMN prices.quoted_per IS 'What the amount was quoted for';
COMMENT ON COLUMN prices.quoted_microusd IS 'Micro-dollars an hour, exactly as quoted';
COMMENT ON COLUMN prices.max_gpus IS 'Largest order at this price';

-- ---- what changed, and who changed it ---------------------------------------------------------------------------------

CREATE TABLE tombstones (
    offer_id bytea PRIMARY KEY CHECK (octet_length(offer_id) = 16),
    provider_id bigint NOT NULL,
    external_id text COLLATE "C" NOT NULL CHECK (octet_length(external_id) BETWEEN 1 AND 200),
    version bigint NOT NULL CHECK (version > 0),
    removed_at timestamptz NOT NULL
);
CREATE INDEX tombstones_version ON tombstones (provider_id, version);
COMMENT ON INDEX tombstones_version IS 'What was removed after a version';
COMMENT ON TABLE tombstones IS 'Removed offers, so that nodes learn of it and a reader gets 410; forgotten after a while';
COMMENT ON COLUMN tombstones.offer_id IS 'Id of the removed offer';
COMMENT ON COLUMN tombstones.provider_id IS 'Whose it was';
COMMENT ON COLUMN tombstones.external_id IS 'The provider''s own name for it';
COMMENT ON COLUMN tombstones.version IS 'Version of the provider that removed it';
COMMENT ON COLUMN tombstones.removed_at IS 'When';

CREATE TABLE uploads (
    id uuid PRIMARY KEY,
    number bigint GENERATED ALWAYS AS IDENTITY,
    provider_id bigint NOT NULL REFERENCES providers (id),
    at timestamptz NOT NULL,
    kind text COLLATE "C" NOT NULL
        CHECK (kind IN ('replace', 'upsert', 'patch', 'delete', 'import', 'sample', 'reference')),
    format text COLLATE "C" NOT NULL CHECK (format <> ''),
    actor text COLLATE "C" NOT NULL CHECK (actor <> ''),
    version bigint NOT NULL CHECK (version >= 0),
    rows_read bigint NOT NULL CHECK (rows_read >= 0),
    created bigint NOT NULL CHECK (created >= 0),
    updated bigint NOT NULL CHECK (updated >= 0),
    unchanged bigint NOT NULL CHECK (unchanged >= 0),
    removed bigint NOT NULL CHECK (removed >= 0),
    skipped bigint NOT NULL CHECK (skipped >= 0),
    rejected bigint NOT NULL CHECK (rejected >= 0),
    changes json CHECK (json_typeof(changes) = 'array'),
    changes_truncated boolean NOT NULL DEFAULT false
);
CREATE INDEX uploads_history ON uploads (provider_id, number);
CREATE INDEX uploads_retention ON uploads USING brin (at);
COMMENT ON INDEX uploads_history IS 'A provider''s uploads, newest first';
COMMENT ON INDEX uploads_retention IS 'What is older than retention keeps; rows come in order of time';
COMMENT ON TABLE uploads IS 'Writes to an inventory that were committed, with what each did';
COMMENT ON COLUMN uploads.id IS 'Name in URLs';
COMMENT ON COLUMN uploads.number IS 'Order in which they came; gaps mean nothing';
COMMENT ON COLUMN uploads.provider_id IS 'Whose inventory';
COMMENT ON COLUMN uploads.at IS 'When, under the lock on the provider';
COMMENT ON COLUMN uploads.kind IS 'replace, upsert, patch, delete, import, sample, or reference (names resolved again)';
COMMENT ON COLUMN uploads.format IS 'json, ndjson, csv or a catalogue''s name';
COMMENT ON COLUMN uploads.actor IS 'Who: key:12, cli, sample, migrate';
COMMENT ON COLUMN uploads.version IS 'Version of the provider after it; that of before where nothing changed';
COMMENT ON COLUMN uploads.rows_read IS 'Rows in the body';
COMMENT ON COLUMN uploads.created IS 'Offers that are new';
COMMENT ON COLUMN uploads.updated IS 'Offers that changed';
COMMENT ON COLUMN uploads.unchanged IS 'Offers that were there already, the same';
COMMENT ON COLUMN uploads.removed IS 'Offers that are gone';
COMMENT ON COLUMN uploads.skipped IS 'Rows that are no offer';
COMMENT ON COLUMN uploads.rejected IS 'Rows that were refused';
COMMENT ON COLUMN uploads.changes IS 'Up to 1,000 of {external_id, kind, fields, before, after}; NULL where there are none';
COMMENT ON COLUMN uploads.changes_truncated IS 'Whether there were more';

CREATE TABLE upload_issues (
    upload_id uuid NOT NULL REFERENCES uploads (id) ON DELETE CASCADE,
    is_error boolean NOT NULL,
    number integer NOT NULL CHECK (number >= 0),
    row_number bigint NOT NULL CHECK (row_number >= 0),
    external_id text,
    pointer text,
    code text COLLATE "C" NOT NULL CHECK (code <> ''),
    message text NOT NULL CHECK (message <> ''),
    PRIMARY KEY (upload_id, is_error, number)
);
COMMENT ON TABLE upload_issues IS 'Why rows of an upload were refused, and doubts about rows that were taken';
COMMENT ON COLUMN upload_issues.upload_id IS 'The upload';
COMMENT ON COLUMN upload_issues.is_error IS 'true: the row was refused; false: a warning';
COMMENT ON COLUMN upload_issues.number IS 'Order within errors or warnings, from 0';
COMMENT ON COLUMN upload_issues.row_number IS 'Row from 1 as the format counts; 0 for the whole upload';
COMMENT ON COLUMN upload_issues.external_id IS 'The offer, where the row named one';
COMMENT ON COLUMN upload_issues.pointer IS 'JSON pointer into the upload, or a CSV column';
COMMENT ON COLUMN upload_issues.code IS 'Stable word for the kind of issue';
COMMENT ON COLUMN upload_issues.message IS 'What is wrong and what would be right';

CREATE TABLE price_changes (
    offer_id bytea NOT NULL CHECK (octet_length(offer_id) = 16),
    version bigint NOT NULL CHECK (version > 0),
    provider_id bigint NOT NULL,
    at timestamptz NOT NULL,
    upload_id uuid NOT NULL,
    actor text COLLATE "C" NOT NULL CHECK (actor <> ''),
    before_gpu_count_milli integer CHECK (before_gpu_count_milli > 0),
    before price[] CHECK (before IS NULL OR prices_are_valid(before)),
    after_gpu_count_milli integer CHECK (after_gpu_count_milli > 0),
    after price[] CHECK (after IS NULL OR prices_are_valid(after)),
    change_count integer NOT NULL CHECK (change_count BETWEEN 1 AND 400),
    PRIMARY KEY (offer_id, version),
    CHECK (before IS NOT NULL OR after IS NOT NULL),
    CHECK ((before IS NULL) = (before_gpu_count_milli IS NULL)),
    CHECK ((after IS NULL) = (after_gpu_count_milli IS NULL))
);
COMMENT ON TABLE price_changes IS 'Every change of prices, for ever: rows are only added';
COMMENT ON COLUMN price_changes.offer_id IS 'Id of the offer, which may be gone by now';
COMMENT ON COLUMN price_changes.version IS 'Version of the provider that made the change';
COMMENT ON COLUMN price_changes.provider_id IS 'Whose it is';
COMMENT ON COLUMN price_changes.at IS 'When';
COMMENT ON COLUMN price_changes.upload_id IS 'The upload that made it; it may be forgotten by now';
COMMENT ON COLUMN price_changes.actor IS 'Who: key:12, cli, sample';
COMMENT ON COLUMN price_changes.before_gpu_count_milli IS 'GPUs of one node before, thousandths';
COMMENT ON COLUMN price_changes.before IS 'Prices that are gone or changed, as they were; NULL where all are new';
COMMENT ON COLUMN price_changes.after_gpu_count_milli IS 'GPUs of one node afterwards, thousandths';
COMMENT ON COLUMN price_changes.change_count IS 'How many prices this is about: the identities in before and after together';
COMMENT ON COLUMN price_changes.after IS 'Prices that are new or changed, as they are; NULL where all are gone';

CREATE TABLE idempotency (
    scope text COLLATE "C" NOT NULL CHECK (octet_length(scope) BETWEEN 1 AND 2000),
    key text COLLATE "C" NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 255),
    fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
    status integer CHECK (status BETWEEN 200 AND 399),
    body text,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (scope, key),
    CHECK ((status IS NULL) = (body IS NULL))
);
CREATE INDEX idempotency_retention ON idempotency (created_at);
COMMENT ON INDEX idempotency_retention IS 'What is older than a day';
COMMENT ON TABLE idempotency IS 'Answers to writes that carried an Idempotency-Key, committed with the write';
COMMENT ON COLUMN idempotency.scope IS 'Who used the key and for which call';
COMMENT ON COLUMN idempotency.key IS 'The Idempotency-Key';
COMMENT ON COLUMN idempotency.fingerprint IS 'BLAKE2b-256 of the decoded body';
COMMENT ON COLUMN idempotency.status IS 'Status of the answer; NULL only inside the write''s own transaction';
COMMENT ON COLUMN idempotency.body IS 'The answer';
COMMENT ON COLUMN idempotency.created_at IS 'When; a day later the key is free again';

CREATE TABLE audit_log (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor text COLLATE "C" NOT NULL CHECK (actor <> ''),
    action text COLLATE "C" NOT NULL CHECK (action <> ''),
    provider_id bigint REFERENCES providers (id),
    detail jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(detail) = 'object')
);
CREATE INDEX audit_log_retention ON audit_log USING brin (at);
COMMENT ON INDEX audit_log_retention IS 'What is older than retention keeps; rows come in order of time';
COMMENT ON TABLE audit_log IS 'Who did what: rows are only added, and removed by retention alone';
COMMENT ON COLUMN audit_log.id IS 'Order in which entries came; gaps mean nothing';
COMMENT ON COLUMN audit_log.at IS 'When';
COMMENT ON COLUMN audit_log.actor IS 'Who: key:12, cli, sample, migrate';
COMMENT ON COLUMN audit_log.action IS 'What: provider_add, provider_update, key_add, key_revoke, inventory_write, reference_seed';
COMMENT ON COLUMN audit_log.provider_id IS 'Whose data; NULL for none or all';
COMMENT ON COLUMN audit_log.detail IS 'Facts of the action; never a key, never a body';

-- ---- triggers ---------------------------------------------------------------------------------------------------------

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Retention announces itself, and even then only what is over thirty days old may go.
    IF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'audit_log' AND current_setting('rackrate.retention', true) = 'on'
       AND OLD.at < now() - interval '30 days' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'rows of % are only added, never changed or removed', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END
$$;
COMMENT ON FUNCTION refuse_change() IS 'Makes a table append-only';
CREATE TRIGGER price_changes_append_only BEFORE UPDATE OR DELETE ON price_changes
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER price_changes_no_truncate BEFORE TRUNCATE ON price_changes
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER price_changes_append_only ON price_changes IS 'Price history is for ever';
COMMENT ON TRIGGER price_changes_no_truncate ON price_changes IS 'Price history is for ever';
COMMENT ON TRIGGER audit_log_append_only ON audit_log IS 'Entries stay as they were written';
COMMENT ON TRIGGER audit_log_no_truncate ON audit_log IS 'Entries stay as they were written';

CREATE FUNCTION refuse_removal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are neither removed nor given another key: offers and history name them', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END
$$;
COMMENT ON FUNCTION refuse_removal() IS 'Keeps rows that others refer to without a foreign key';
CREATE TRIGGER gpus_no_removal BEFORE DELETE ON gpus FOR EACH ROW EXECUTE FUNCTION refuse_removal();
CREATE TRIGGER gpus_same_key BEFORE UPDATE ON gpus FOR EACH ROW
    WHEN (OLD.slug IS DISTINCT FROM NEW.slug) EXECUTE FUNCTION refuse_removal();
CREATE TRIGGER gpus_no_truncate BEFORE TRUNCATE ON gpus FOR EACH STATEMENT EXECUTE FUNCTION refuse_removal();
CREATE TRIGGER places_no_removal BEFORE DELETE ON places FOR EACH ROW EXECUTE FUNCTION refuse_removal();
CREATE TRIGGER places_same_key BEFORE UPDATE ON places FOR EACH ROW
    WHEN (OLD.slug IS DISTINCT FROM NEW.slug) EXECUTE FUNCTION refuse_removal();
CREATE TRIGGER places_no_truncate BEFORE TRUNCATE ON places FOR EACH STATEMENT EXECUTE FUNCTION refuse_removal();
CREATE TRIGGER providers_no_removal BEFORE DELETE ON providers FOR EACH ROW EXECUTE FUNCTION refuse_removal();
CREATE TRIGGER providers_same_key BEFORE UPDATE ON providers FOR EACH ROW
    WHEN (OLD.id <> NEW.id OR OLD.slug <> NEW.slug OR NEW.version < OLD.version) EXECUTE FUNCTION refuse_removal();
CREATE TRIGGER providers_no_truncate BEFORE TRUNCATE ON providers FOR EACH STATEMENT EXECUTE FUNCTION refuse_removal();
COMMENT ON TRIGGER gpus_no_removal ON gpus IS 'Offers name GPUs';
COMMENT ON TRIGGER gpus_same_key ON gpus IS 'Offers name GPUs';
COMMENT ON TRIGGER gpus_no_truncate ON gpus IS 'Offers name GPUs';
COMMENT ON TRIGGER places_no_removal ON places IS 'Offers name places';
COMMENT ON TRIGGER places_same_key ON places IS 'Offers name places';
COMMENT ON TRIGGER places_no_truncate ON places IS 'Offers name places';
COMMENT ON TRIGGER providers_no_removal ON providers IS 'Offers, tombstones and history name providers; suspend one instead';
COMMENT ON TRIGGER providers_same_key ON providers IS 'Ids of offers come from the slug, and a version never goes back';
COMMENT ON TRIGGER providers_no_truncate ON providers IS 'Offers, tombstones and history name providers';

CREATE FUNCTION offers_refer() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    missing text;
BEGIN
    SELECT string_agg(DISTINCT 'provider ' || n.provider_id, ', ') INTO missing FROM
        (SELECT provider_id, max(version) AS version FROM written GROUP BY provider_id) n
        LEFT JOIN providers p ON p.id = n.provider_id AND p.version >= n.version
        WHERE p.id IS NULL;
    IF missing IS NULL THEN
        SELECT string_agg('gpu ' || n.gpu, ', ') INTO missing FROM (SELECT DISTINCT gpu FROM written) n
            WHERE NOT EXISTS (SELECT FROM gpus g WHERE g.slug = n.gpu);
    END IF;
    IF missing IS NULL THEN
        SELECT string_agg('place ' || n.place, ', ') INTO missing
            FROM (SELECT DISTINCT place FROM written WHERE place IS NOT NULL) n
            WHERE NOT EXISTS (SELECT FROM places p WHERE p.slug = n.place);
    END IF;
    IF missing IS NOT NULL THEN
        RAISE EXCEPTION 'offers refer to what is not there: %', missing USING ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION offers_refer() IS
    'What foreign keys of offers would prove, for all rows of a statement at once; and no row is newer than its provider';
CREATE TRIGGER offers_refer_inserted AFTER INSERT ON offers REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION offers_refer();
CREATE TRIGGER offers_refer_updated AFTER UPDATE ON offers REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION offers_refer();
COMMENT ON TRIGGER offers_refer_inserted ON offers IS 'Provider, GPU and place are there';
COMMENT ON TRIGGER offers_refer_updated ON offers IS 'Provider, GPU and place are there';
