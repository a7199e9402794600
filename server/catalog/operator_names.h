/* Inside of the catalogue: operators' names of one version, by counted references. Immutable; any
 * thread. */
#ifndef RACKRATE_CATALOG_OPERATOR_NAMES_H
#define RACKRATE_CATALOG_OPERATOR_NAMES_H

#include "server/reference/alias.h"

struct operator_names;

/* A copy, with one reference. */
struct operator_names *operator_names_new(const struct alias_sets *sets);
/* One more reference; one less. NULL is none. */
struct operator_names *operator_names_reference(struct operator_names *names);
void operator_names_release(struct operator_names *names);

/* The sets; empty ones of version 0 of NULL. */
const struct alias_sets *operator_names_sets(const struct operator_names *names);

#endif
