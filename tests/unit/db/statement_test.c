/* Every statement is good SQL against the migrated schema, and every name is its own. */
#include "db/statement.h"

#include "db/connection.h"
#include "tests/support/test_database.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(statement, .timeout = 60, .fini = test_database_drop);

Test(statement, every_one_can_be_prepared)
{
    struct db_connection *connection = test_connect(test_database_new());
    for (int i = 0; i < STATEMENT_COUNT; i++)
        cr_expect(db_prepare(connection, (enum statement)i) == DB_OK, "%s",
                  statement_table[i].name);
    db_disconnect(connection);
}

Test(statement, a_query_that_needs_no_parameters_runs_before_the_schema_is_there)
{
    struct db_connection *connection = test_connect(test_database_new_empty());
    cr_expect(db_run(connection, STATEMENT_MIGRATION_TABLE, NULL, 0, NULL) == DB_OK);
    cr_expect(db_run(connection, STATEMENT_VERSIONS, NULL, 0, NULL) == DB_FAILED);
    cr_expect(!db_is_broken(connection), "a refused statement leaves the connection good");
    db_disconnect(connection);
}
