-- A dump is restored with an empty search path: what a function's body names must be found all the same. The one that checks each row
-- names nothing any more; those that run once a statement carry the path they were made with.

CREATE OR REPLACE FUNCTION prices_are_valid(list price[]) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    former record;
    latter record;
BEGIN
    IF array_ndims(list) IS DISTINCT FROM 1 OR cardinality(list) > 200 OR array_lower(list, 1) <> 1 THEN
        RETURN false;
    END IF;
    FOR i IN 1 .. cardinality(list) LOOP
        IF list[i] IS NULL THEN
            RETURN false;
        END IF;
        latter := list[i];
        -- Strictly ascending by identity, so no identity twice; NULL comes first (text by bytes).
        IF i > 1 THEN
            IF (former.billing, former.term_months, coalesce(former.min_gpus, -1),
                    coalesce(former.upfront_percent_milli, -1), coalesce(former.plan, '') COLLATE "C")
                >= (latter.billing, latter.term_months, coalesce(latter.min_gpus, -1),
                    coalesce(latter.upfront_percent_milli, -1), coalesce(latter.plan, '') COLLATE "C") THEN
                RETURN false;
            END IF;
        END IF;
        former := latter;
    END LOOP;
    RETURN true;
END
$$;

ALTER FUNCTION offers_refer() SET search_path FROM CURRENT;
ALTER FUNCTION note_confirmation() SET search_path FROM CURRENT;
