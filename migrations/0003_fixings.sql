-- Daily fixings: what GPUs cost at the end of each closed UTC day, published once and never rewritten. And what is needed to tell
-- how the market was on a day that passed while no server ran: when a change was seen, what was removed, who confirmed when.

-- ---- what changed, looked back upon -----------------------------------------------------------------------------------

-- Columns without a default take no rewrite; rows written by the release before this one leave them NULL.
ALTER TABLE price_changes ADD COLUMN observed_at timestamptz CHECK (observed_at <= at);
ALTER TABLE price_changes ADD COLUMN before_gpu text COLLATE "C";
ALTER TABLE price_changes ADD COLUMN before_place text COLLATE "C";
ALTER TABLE price_changes ADD COLUMN before_source source_kind;
ALTER TABLE price_changes ADD COLUMN before_flags integer CHECK (before_flags >= 0);
COMMENT ON COLUMN price_changes.observed_at IS 'When the change was seen, where an import was of an earlier day; NULL: at';
COMMENT ON COLUMN price_changes.before_gpu IS 'Slug of the offer''s GPU before the change; NULL where it is new';
COMMENT ON COLUMN price_changes.before_place IS 'Slug of its place before the change; NULL unknown or new';
COMMENT ON COLUMN price_changes.before_source IS 'Where it came from before the change; NULL where it is new';
COMMENT ON COLUMN price_changes.before_flags IS 'Doubts about the offer before the change, as bits; NULL where it is new';
CREATE INDEX price_changes_at ON price_changes USING brin (at);
COMMENT ON INDEX price_changes_at IS 'What changed since a moment; rows come in order of time';

CREATE TABLE confirmations (
    provider_id bigint NOT NULL REFERENCES providers (id),
    day date NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (provider_id, day),
    CHECK (day = (at AT TIME ZONE 'UTC')::date)
);
CREATE INDEX confirmations_day ON confirmations (day);
COMMENT ON INDEX confirmations_day IS 'The first day there is';
COMMENT ON TABLE confirmations IS 'When full uploads confirmed all that a provider offers: the last of each UTC day';
COMMENT ON COLUMN confirmations.provider_id IS 'Whose offers';
COMMENT ON COLUMN confirmations.day IS 'The UTC day of at';
COMMENT ON COLUMN confirmations.at IS 'The last confirmation of that day';
INSERT INTO confirmations (provider_id, day, at)
    SELECT provider_id, (at AT TIME ZONE 'UTC')::date, max(at) FROM uploads
    WHERE kind IN ('replace', 'sample') GROUP BY 1, 2;
INSERT INTO confirmations (provider_id, day, at)
    SELECT id, (confirmed_at AT TIME ZONE 'UTC')::date, confirmed_at FROM providers WHERE confirmed_at IS NOT NULL
    ON CONFLICT (provider_id, day) DO UPDATE SET at = greatest(confirmations.at, excluded.at);

-- A trigger, so that a server of the release before this one, still running beside, leaves no gap.
CREATE FUNCTION note_confirmation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO confirmations (provider_id, day, at)
        VALUES (NEW.id, (NEW.confirmed_at AT TIME ZONE 'UTC')::date, NEW.confirmed_at)
        ON CONFLICT (provider_id, day) DO UPDATE SET at = greatest(confirmations.at, excluded.at);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION note_confirmation() IS 'Keeps the last confirmation of each day';
CREATE TRIGGER providers_confirmed AFTER UPDATE OF confirmed_at ON providers FOR EACH ROW
    WHEN (NEW.confirmed_at IS NOT NULL AND NEW.confirmed_at IS DISTINCT FROM OLD.confirmed_at)
    EXECUTE FUNCTION note_confirmation();
COMMENT ON TRIGGER providers_confirmed ON providers IS 'Fixings of days past ask who had confirmed by then';

-- ---- fixings ----------------------------------------------------------------------------------------------------------

CREATE TABLE fixing_days (
    day date NOT NULL,
    revision integer NOT NULL CHECK (revision >= 1),
    version bigint NOT NULL UNIQUE CHECK (version >= 1),
    method_version integer NOT NULL CHECK (method_version >= 1),
    row_count integer NOT NULL CHECK (row_count >= 0),
    made_by text COLLATE "C" NOT NULL CHECK (made_by <> ''),
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (day, revision),
    CHECK (made_at >= (day + 1)::timestamp AT TIME ZONE 'UTC')
);
COMMENT ON TABLE fixing_days IS 'Closed UTC days whose fixings are published: rows are only added';
COMMENT ON COLUMN fixing_days.day IS 'The UTC day';
COMMENT ON COLUMN fixing_days.revision IS '1, then one more for each correction that an operator publishes';
COMMENT ON COLUMN fixing_days.version IS 'Order of publication, without gaps; nodes fetch what is newer than they hold';
COMMENT ON COLUMN fixing_days.method_version IS 'Version of the method the figures were made by';
COMMENT ON COLUMN fixing_days.row_count IS 'Rows of fixings; 0 where nothing was on offer';
COMMENT ON COLUMN fixing_days.made_by IS 'Who: server or cli';
COMMENT ON COLUMN fixing_days.made_at IS 'When, after the day had closed';

CREATE TABLE fixings (
    day date NOT NULL,
    revision integer NOT NULL,
    gpu text COLLATE "C" NOT NULL REFERENCES gpus (slug),
    billing billing NOT NULL,
    months_from integer NOT NULL CHECK (months_from IN (0, 1, 3, 6, 12, 24, 36)),
    continent text COLLATE "C" NOT NULL CHECK (continent = '' OR continent ~ '^[A-Z]{2}$'),
    min_microusd bigint NOT NULL CHECK (min_microusd > 0),
    p25_microusd bigint NOT NULL CHECK (p25_microusd >= min_microusd),
    median_microusd bigint NOT NULL CHECK (median_microusd >= p25_microusd),
    p75_microusd bigint NOT NULL CHECK (p75_microusd >= median_microusd),
    max_microusd bigint NOT NULL CHECK (max_microusd >= p75_microusd),
    offers integer NOT NULL CHECK (offers >= providers),
    providers integer NOT NULL CHECK (providers > 0),
    input_hash bytea NOT NULL CHECK (octet_length(input_hash) = 32),
    PRIMARY KEY (day, revision, gpu, billing, months_from, continent),
    FOREIGN KEY (day, revision) REFERENCES fixing_days (day, revision),
    CHECK ((months_from > 0) = (billing = 'reserved'))
);
COMMENT ON TABLE fixings IS 'The index of a closed day by GPU variant, billing and term bucket, for the world and by continent: rows are only added';
COMMENT ON COLUMN fixings.day IS 'The UTC day';
COMMENT ON COLUMN fixings.revision IS 'Which publication of the day';
COMMENT ON COLUMN fixings.gpu IS 'Slug of the GPU variant';
COMMENT ON COLUMN fixings.billing IS 'On demand, spot or reserved';
COMMENT ON COLUMN fixings.months_from IS 'Where the term bucket begins: 1, 3, 6, 12, 24, 36; 0 unless reserved';
COMMENT ON COLUMN fixings.continent IS 'Offers of this continent only; '''' for all';
COMMENT ON COLUMN fixings.min_microusd IS 'Lowest vote, micro-dollars a GPU-hour';
COMMENT ON COLUMN fixings.p25_microusd IS 'First quartile of the votes';
COMMENT ON COLUMN fixings.median_microusd IS 'Median of the votes';
COMMENT ON COLUMN fixings.p75_microusd IS 'Third quartile of the votes';
COMMENT ON COLUMN fixings.max_microusd IS 'Highest vote';
COMMENT ON COLUMN fixings.offers IS 'Offers behind the votes';
COMMENT ON COLUMN fixings.providers IS 'Votes that count, one a provider';
COMMENT ON COLUMN fixings.input_hash IS 'BLAKE2b-256 over all votes: provider, amount, offers, and whether it counts';

CREATE FUNCTION refuse_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are only added, never changed or removed', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END
$$;
COMMENT ON FUNCTION refuse_rewrite() IS 'Makes a table append-only, for good';
CREATE TRIGGER fixing_days_append_only BEFORE UPDATE OR DELETE ON fixing_days
    FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER fixing_days_no_truncate BEFORE TRUNCATE ON fixing_days
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER fixings_append_only BEFORE UPDATE OR DELETE ON fixings
    FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER fixings_no_truncate BEFORE TRUNCATE ON fixings
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();
COMMENT ON TRIGGER fixing_days_append_only ON fixing_days IS 'A published day stays as it was published';
COMMENT ON TRIGGER fixing_days_no_truncate ON fixing_days IS 'A published day stays as it was published';
COMMENT ON TRIGGER fixings_append_only ON fixings IS 'A published day stays as it was published';
COMMENT ON TRIGGER fixings_no_truncate ON fixings IS 'A published day stays as it was published';
