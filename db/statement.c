/* The table of statements, made of the one list. */
#include "db/statement.h"

const struct statement_text statement_table[STATEMENT_COUNT] = {
#define X(name, class, sql) [STATEMENT_##name] = {#name, STATEMENT_##class, sql},
#include "db/statement_list.h"
#undef X
};
