/* The inputs of the calculators under /v1/tools as tables: what each is called, between what it may
 * be, what holds where it is left out and who says so. Every answer shows them with the values in
 * force. */
#ifndef RACKRATE_API_TOOL_INPUTS_H
#define RACKRATE_API_TOOL_INPUTS_H

#include "server/http/http.h"

#include <stdatomic.h>
#include <stdbool.h>

struct tool_input {
    const char *name;
    const char *unit; /* as printed: `USD`, `percent`, `months` */
    unsigned decimals;
    int64_t lowest, highest; /* scaled by the decimals, as all values */
    int64_t fallback;        /* UNKNOWN: none, the value is then unknown */
    const char *source;      /* of the fallback; NULL where it is nobody's claim, but a start */
};

/* Where the value of an input in force came from. */
struct tool_value {
    int64_t value; /* UNKNOWN where neither given nor with a fallback */
    bool given;
    const char *source; /* instead of the input's own, such as for a preset; NULL none */
};

/* An input that is one of some words; the first is the fallback. */
struct tool_choice {
    const char *name;
    const char *const *words; /* ends with NULL */
    const char *source;
};

struct input_text;
struct tool {
    const struct tool_input *inputs;
    size_t input_count;
    const struct tool_choice *choices;
    size_t choice_count;
    const char *const *others; /* more parameters, read by the caller; ends with NULL; NULL none */
    _Atomic(struct input_text *) *texts; /* a place of the tool's own, empty at first */
};

/* Reads the request's parameters into values[input_count] and the chosen words' numbers
 * chosen[choice_count]. False with a 400 in the reply that names every bad parameter: unknown,
 * repeated, no number, too precise, out of range, no such word. */
bool tool_read(struct request *request, struct reply *reply, const struct tool *tool,
               struct tool_value *values, size_t *chosen);

/* False with a 400 that names the input, unless it has a value. */
bool tool_require(struct request *request, struct reply *reply, const struct tool_input *input,
                  const struct tool_value *value);

/* False with a 400: sums of these inputs go beyond what can be added exactly. `name` is the input
 * to lower. */
bool tool_refuse_sums(struct request *request, struct reply *reply, const char *name);

/* Writes `"inputs":{name: {"value", "unit", "given", "default", "minimum", "maximum", "source"}}`;
 * choices have `choices` instead of unit and bounds. */
void tool_write_inputs(struct buf *out, const struct tool *tool, const struct tool_value *values,
                       const size_t *chosen);

/* An amount with six decimals that may be below nothing. */
void tool_write_signed(struct buf *out, const char *key, int64_t value);

/* Writes `"as_of"`: a time, or null of TIMESTAMP_UNKNOWN. */
void tool_write_as_of(struct buf *out, int64_t as_of_us);

/* Falls of on-demand prices that were published, for yearly_price_fall_percent: a member, with a
 * comma before it. A100: 2.40, 1.80 and 1.40 USD in 2020, 2023 and 2024; the yearly fall is
 * 100 x (1 - (later / earlier)^(1 / years)). */
#define TOOL_PRICE_FALLS                                                                           \
    ",\"price_falls\":["                                                                           \
    "{\"what\":\"H100 in a year, about\",\"yearly_price_fall_percent\":20},"                       \
    "{\"what\":\"A100 from 2.40 USD in 2020 to 1.80 in "                                           \
    "2023\",\"yearly_price_fall_percent\":9.144},"                                                 \
    "{\"what\":\"A100 from 1.80 USD in 2023 to 1.40 in 2024\","                                    \
    "\"yearly_price_fall_percent\":22.222}]"

/* Sets the reply's entity tag to a hash of its body, and its status: for answers that depend on
 * nothing but the request. 304 where the client has it. */
void tool_finish_constant(struct request *request, struct reply *reply);

#endif
