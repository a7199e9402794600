/* The audit log and the counters: small writes that others make inside their own transactions. */
#include "db/connection.h"
#include "server/base/decimal.h"

enum db_status db_audit(struct db_connection *connection, const char *actor, const char *action,
                        int64_t provider_id, const char *detail)
{
    struct db_params params = {0};
    param_text(&params, actor);
    param_text(&params, action);
    param_bigint(&params, provider_id == 0 ? UNKNOWN : provider_id);
    param_text(&params, detail);
    enum db_status status = db_run(connection, STATEMENT_AUDIT, &params, 0, NULL);
    params_free(&params);
    return status;
}

enum db_status db_bump_counter(struct db_connection *connection, const char *name)
{
    struct db_params params = {0};
    param_text(&params, name);
    enum db_status status = db_run(connection, STATEMENT_BUMP_COUNTER, &params, 0, NULL);
    params_free(&params);
    return status;
}
