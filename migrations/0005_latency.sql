-- Measured round trips between places: what estimates give way to, and what contradicts a claimed place. Version numbers of their own
-- table: to a server of the release before this one, still running beside, another counter would look like the reference data's.

CREATE TABLE latency_state (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version bigint NOT NULL DEFAULT 0 CHECK (version >= 0)
);
INSERT INTO latency_state DEFAULT VALUES;
COMMENT ON TABLE latency_state IS 'The version of the measured round trips; nodes compare it to notice changes';
COMMENT ON COLUMN latency_state.only_row IS 'Keeps the table at one row';
COMMENT ON COLUMN latency_state.version IS 'Bumped by each change, in its transaction';

CREATE TABLE latency_measurements (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    from_place slug NOT NULL REFERENCES places (slug),
    to_place slug NOT NULL REFERENCES places (slug),
    provider_id bigint REFERENCES providers (id),
    zone text CHECK (zone <> '' AND octet_length(zone) <= 200),
    measured_by bigint REFERENCES providers (id),
    median_us integer NOT NULL CHECK (median_us BETWEEN 1 AND 10000000),
    p95_us integer CHECK (p95_us BETWEEN median_us AND 10000000),
    samples integer CHECK (samples > 0),
    measured_at timestamptz NOT NULL,
    source text CHECK (source <> '' AND octet_length(source) <= 500),
    floor_us integer NOT NULL CHECK (floor_us >= 0),
    contradicts boolean NOT NULL GENERATED ALWAYS AS (median_us < floor_us) STORED,
    actor text COLLATE "C" NOT NULL CHECK (actor <> ''),
    received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT latency_measurements_pair UNIQUE NULLS NOT DISTINCT (from_place, to_place, provider_id, zone, measured_by),
    CHECK (from_place <> to_place),
    CHECK (zone IS NULL OR provider_id IS NOT NULL),
    CHECK (measured_by IS NULL OR provider_id = measured_by)
);
COMMENT ON TABLE latency_measurements IS 'The newest measurement of each direction, provider, zone and measurer';
COMMENT ON COLUMN latency_measurements.id IS 'Number, in order of arrival';
COMMENT ON COLUMN latency_measurements.from_place IS 'Where it was measured from';
COMMENT ON COLUMN latency_measurements.to_place IS 'Where the machine that answered is said to be';
COMMENT ON COLUMN latency_measurements.provider_id IS 'Whose machine answered; NULL unknown';
COMMENT ON COLUMN latency_measurements.zone IS 'The provider''s name for where that machine is; NULL any of its zones there';
COMMENT ON COLUMN latency_measurements.measured_by IS 'The provider that measured, of its own machines; NULL an operator';
COMMENT ON COLUMN latency_measurements.median_us IS 'Median round trip, microseconds';
COMMENT ON COLUMN latency_measurements.p95_us IS '95th percentile, microseconds; NULL unknown';
COMMENT ON COLUMN latency_measurements.samples IS 'Round trips behind it; NULL unknown';
COMMENT ON COLUMN latency_measurements.measured_at IS 'When it was measured';
COMMENT ON COLUMN latency_measurements.source IS 'How, in words, or a URL; NULL unknown';
COMMENT ON COLUMN latency_measurements.floor_us IS 'The least that light in fibre takes between the two places, as known when this came in; 0 where they may be neighbours';
COMMENT ON COLUMN latency_measurements.contradicts IS 'Faster than light in fibre: one end is not where it is said to be';
COMMENT ON COLUMN latency_measurements.actor IS 'Who sent it: key:N or cli';
COMMENT ON COLUMN latency_measurements.received_at IS 'When it came in';
CREATE INDEX latency_measurements_measurer ON latency_measurements (measured_by);
COMMENT ON INDEX latency_measurements_measurer IS 'How many a provider has';
COMMENT ON CONSTRAINT latency_measurements_pair ON latency_measurements IS 'A newer one takes its place';
