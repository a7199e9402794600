/* Idempotency records live and die with the write's own transaction: an answer is kept exactly when
 * its write is. */
#include "db/connection.h"
#include "db/upload.h"
#include "server/base/crypto.h"
#include "server/base/decimal.h"

#include <string.h>

/* Takes the lock of (scope, key) for this transaction without waiting; DB_RETRY where another holds
 * it. */
static enum db_status lock_key(struct db_connection *connection, const char *scope, const char *key)
{
    struct crypt_hasher hasher;
    unsigned char hash[16];
    crypt_hasher_init(&hasher, sizeof(hash));
    crypt_hasher_add(&hasher, scope, strlen(scope) + 1);
    crypt_hasher_add(&hasher, key, strlen(key));
    crypt_hasher_finish(&hasher, hash);
    int64_t number;
    memcpy(&number, hash, sizeof(number));
    if (number == UNKNOWN)
        number = 0;
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    param_bigint(&params, number);
    enum db_status status =
        db_run_one(connection, STATEMENT_IDEMPOTENCY_LOCK, &params, &result, &row);
    params_free(&params);
    if (status != DB_OK)
        return status;
    bool taken = row_bool(&row);
    db_result_free(result);
    return taken ? DB_OK : DB_RETRY;
}

/* What is stored: DB_NONE with the answer, or DB_CONFLICT. */
static enum db_status read_answer(struct db_connection *connection, const char *scope,
                                  const char *key, const uint8_t fingerprint[static 32],
                                  struct arena *arena, int *ret_status, const char **ret_body)
{
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    param_text(&params, scope);
    param_text(&params, key);
    enum db_status status =
        db_run_one(connection, STATEMENT_IDEMPOTENCY_FIND, &params, &result, &row);
    params_free(&params);
    if (status != DB_OK) /* gone since: retention took it */
        return status == DB_NONE ? DB_RETRY : status;
    uint8_t stored[32] = {0};
    (void)row_fixed_bytes(&row, stored, sizeof(stored));
    *ret_status = row_integer(&row);
    *ret_body = row_text(&row, arena);
    db_result_free(result);
    if (memcmp(stored, fingerprint, sizeof(stored)) != 0)
        return DB_CONFLICT;
    return *ret_body == NULL ? DB_RETRY : DB_NONE;
}

enum db_status db_idempotency_claim(struct db_connection *connection, const char *scope,
                                    const char *key, const uint8_t fingerprint[static 32],
                                    struct arena *arena, int *ret_status, const char **ret_body)
{
    enum db_status status = lock_key(connection, scope, key);
    if (status != DB_OK)
        return status;
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    param_text(&params, scope);
    param_text(&params, key);
    param_bytes(&params, fingerprint, 32);
    status = db_run_one(connection, STATEMENT_IDEMPOTENCY_CLAIM, &params, &result, &row);
    params_free(&params);
    if (status == DB_OK)
        db_result_free(result);
    if (status != DB_NONE)
        return status;
    return read_answer(connection, scope, key, fingerprint, arena, ret_status, ret_body);
}

enum db_status db_idempotency_store(struct db_connection *connection, const char *scope,
                                    const char *key, int status_code, const char *body)
{
    struct db_params params = {0};
    struct pg_result *result;
    struct db_row row;
    param_text(&params, scope);
    param_text(&params, key);
    param_integer(&params, status_code);
    param_text(&params, body);
    enum db_status status =
        db_run_one(connection, STATEMENT_IDEMPOTENCY_STORE, &params, &result, &row);
    params_free(&params);
    if (status == DB_OK)
        db_result_free(result);
    return status;
}
