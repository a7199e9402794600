/* Reference tables follow the binary: rows are added and changed, never removed, since offers name
 * them. All in one transaction, so that the hash is there exactly when everything else is. */
#include "db/seed.h"

#include "db/connection.h"
#include "db/resolve.h"
#include "server/base/crypto.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"
#include "server/reference/place_table.h"

#include <stdio.h>
#include <string.h>

#define SEED_TRIES 5

/* A statement whose parameters are texts. */
static enum db_status run_texts(struct db_connection *connection, enum statement statement,
                                const char *const *texts, size_t count)
{
    struct db_params params = {0};
    for (size_t i = 0; i < count; i++)
        param_text(&params, texts[i]);
    enum db_status status = db_run(connection, statement, &params, 0, NULL);
    params_free(&params);
    return status;
}

/* ---- what the binary has ---- */

static void add_text(struct crypt_hasher *hasher, const char *text)
{
    crypt_hasher_add(hasher, text == NULL ? "\1" : text, text == NULL ? 2 : strlen(text) + 1);
}

static void hash_words(struct crypt_hasher *hasher, const struct place_word *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add_text(hasher, words[i].provider);
        add_text(hasher, words[i].code);
        add_text(hasher, words[i].slug);
    }
}

static void hash_reference(uint8_t ret_hash[static CRYPT_HASH_BYTES])
{
    struct crypt_hasher hasher;
    crypt_hasher_init(&hasher, CRYPT_HASH_BYTES);
    for (uint16_t i = 0; i < gpu_count(); i++) {
        const struct gpu *gpu = gpu_at(i);
        add_text(&hasher, gpu->slug);
        add_text(&hasher, gpu->family);
        add_text(&hasher, gpu->vendor);
        add_text(&hasher, gpu->name);
        add_text(&hasher, form_factor_name(gpu->form_factor));
        crypt_hasher_add(&hasher, &gpu->vram_gb_milli, sizeof(gpu->vram_gb_milli));
        for (size_t k = 0; gpu->aliases != NULL && gpu->aliases[k] != NULL; k++)
            add_text(&hasher, gpu->aliases[k]);
    }
    for (uint16_t i = 0; i < place_count(); i++) {
        const struct place *place = place_at(i);
        const int32_t numbers[] = {(int32_t)place->kind, place->latitude_microdegrees,
                                   place->longitude_microdegrees};
        add_text(&hasher, place->slug);
        add_text(&hasher, place->name);
        add_text(&hasher, place->parent);
        add_text(&hasher, place->country);
        add_text(&hasher, place->continent);
        crypt_hasher_add(&hasher, numbers, sizeof(numbers));
    }
    hash_words(&hasher, place_words, place_word_count);
    hash_words(&hasher, country_words, country_word_count);
    crypt_hasher_finish(&hasher, ret_hash);
}

/* ---- into the tables ---- */

static enum db_status seed_gpu(struct db_connection *connection, const struct gpu *gpu)
{
    struct db_params params = {0};
    param_text(&params, gpu->slug);
    param_text(&params, gpu->family);
    param_text(&params, gpu->vendor[0] == '\0' ? NULL : gpu->vendor);
    param_text(&params, gpu->name);
    param_text(&params, form_factor_name(gpu->form_factor));
    param_bigint(&params, gpu->vram_gb_milli);
    enum db_status status = db_run(connection, STATEMENT_SEED_GPU, &params, 0, NULL);
    params_free(&params);
    return status;
}

static enum db_status seed_gpus(struct db_connection *connection)
{
    enum db_status status = DB_OK;
    for (uint16_t i = 0; i < gpu_count() && status == DB_OK; i++)
        status = seed_gpu(connection, gpu_at(i));
    if (status == DB_OK)
        status = db_run(connection, STATEMENT_SEED_GPU_ALIASES_CLEAR, NULL, 0, NULL);
    for (uint16_t i = 0; i < gpu_count() && status == DB_OK; i++) {
        const struct gpu *gpu = gpu_at(i);
        for (size_t k = 0; status == DB_OK && gpu->aliases != NULL && gpu->aliases[k] != NULL; k++)
            status = run_texts(connection, STATEMENT_SEED_GPU_ALIAS,
                               (const char *const[]){gpu->aliases[k], gpu->slug}, 2);
    }
    return status;
}

static enum db_status seed_place(struct db_connection *connection, const struct place *place)
{
    static const char *const kinds[] = {
        [PLACE_AREA] = "area", [PLACE_COUNTRY] = "country", [PLACE_POINT] = "place"};
    char latitude[16], longitude[16];
    /* As text, since -1 is a millionth of a degree here and no unknown. */
    snprintf(latitude, sizeof(latitude), "%d", (int)place->latitude_microdegrees);
    snprintf(longitude, sizeof(longitude), "%d", (int)place->longitude_microdegrees);
    bool located = place->kind != PLACE_AREA;
    const char *const texts[] = {place->slug,
                                 kinds[place->kind],
                                 place->name,
                                 place->parent,
                                 place->country,
                                 place->continent,
                                 located ? latitude : NULL,
                                 located ? longitude : NULL};
    return run_texts(connection, STATEMENT_SEED_PLACE, texts, sizeof(texts) / sizeof(texts[0]));
}

static enum db_status seed_words(struct db_connection *connection, const struct place_word *words,
                                 size_t count)
{
    enum db_status status = DB_OK;
    for (size_t i = 0; i < count && status == DB_OK; i++)
        status =
            run_texts(connection, STATEMENT_SEED_PLACE_ALIAS,
                      (const char *const[]){words[i].provider, words[i].code, words[i].slug}, 3);
    return status;
}

static enum db_status seed_places(struct db_connection *connection)
{
    enum db_status status = DB_OK;
    for (uint16_t i = 0; i < place_count() && status == DB_OK; i++)
        status = seed_place(connection, place_at(i));
    if (status == DB_OK)
        status = db_run(connection, STATEMENT_SEED_PLACE_ALIASES_CLEAR, NULL, 0, NULL);
    if (status == DB_OK)
        status = seed_words(connection, place_words, place_word_count);
    if (status == DB_OK)
        status = seed_words(connection, country_words, country_word_count);
    return status;
}

/* ---- the whole ---- */

/* Whether the tables hold exactly this; the row stays locked until the transaction ends. */
static enum db_status is_seeded(struct db_connection *connection,
                                const uint8_t hash[static CRYPT_HASH_BYTES], bool *ret_seeded)
{
    struct pg_result *result;
    struct db_row row;
    enum db_status status = db_run_one(connection, STATEMENT_REFERENCE_HASH, NULL, &result, &row);
    if (status != DB_OK)
        return status;
    uint8_t stored[CRYPT_HASH_BYTES];
    *ret_seeded =
        row_fixed_bytes(&row, stored, sizeof(stored)) && memcmp(stored, hash, sizeof(stored)) == 0;
    db_result_free(result);
    return DB_OK;
}

static enum db_status seed(struct db_connection *connection,
                           const uint8_t hash[static CRYPT_HASH_BYTES])
{
    bool seeded = false;
    enum db_status status = is_seeded(connection, hash, &seeded);
    if (status != DB_OK || seeded)
        return status;
    status = seed_gpus(connection);
    if (status == DB_OK)
        status = seed_places(connection);
    if (status == DB_OK)
        status = db_resolve_unknown(connection, "migrate");
    if (status == DB_OK)
        status = db_audit(connection, "migrate", "reference_seed", 0, "{}");
    if (status != DB_OK)
        return status;
    struct db_params params = {0};
    param_bytes(&params, hash, CRYPT_HASH_BYTES);
    status = db_run(connection, STATEMENT_REFERENCE_SET_HASH, &params, 0, NULL);
    params_free(&params);
    return status;
}

enum db_status db_seed_reference(struct db_connection *connection)
{
    uint8_t hash[CRYPT_HASH_BYTES];
    hash_reference(hash);
    enum db_status status = DB_RETRY;
    /* A provider that is being written to may keep its row locked for longer than lock_timeout. */
    for (int i = 0; i < SEED_TRIES && status == DB_RETRY; i++) {
        status = db_begin(connection);
        if (status == DB_OK)
            status = db_end_own(connection, true, seed(connection, hash));
    }
    return status;
}
