/* Every SQL statement of the program, by name. Each is prepared once per connection, when it is
 * first used, since a connection may be older than the schema; a test prepares them all against the
 * migrated schema. Nothing is ever pasted into SQL. */
#ifndef RACKRATE_DB_STATEMENT_H
#define RACKRATE_DB_STATEMENT_H

/* How long a server that gives no sign of life is waited for. */
enum statement_class {
    STATEMENT_READ,  /* reads a little */
    STATEMENT_WRITE, /* may wait for a lock, lock_timeout at most */
};

enum statement {
#define X(name, class, sql) STATEMENT_##name,
#include "db/statement_list.h"
#undef X
    STATEMENT_COUNT
};

struct statement_text {
    const char *name; /* of the prepared statement, unique */
    enum statement_class class;
    const char *sql;
};

extern const struct statement_text statement_table[STATEMENT_COUNT];

#endif
