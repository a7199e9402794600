/* All faults of a request are collected before it is refused. */
#include "server/api/tool_inputs.h"

#include "server/api/market_parameters.h"
#include "server/base/crypto.h"
#include "server/base/decimal.h"
#include "server/base/nearest.h"
#include "server/base/timestamp.h"

#include <stdlib.h>
#include <string.h>

#define FAULTS_MAX 32

struct faults {
    struct problem_item items[FAULTS_MAX];
    size_t count;
};

static void fault(struct faults *faults, const char *parameter, const char *code,
                  const char *message)
{
    if (faults->count < FAULTS_MAX)
        faults->items[faults->count++] =
            (struct problem_item){.parameter = parameter, .code = code, .message = message};
}

static void read_number(struct request *request, struct faults *faults,
                        const struct tool_input *input, struct tool_value *value)
{
    const char *text = request_parameter(request, input->name);
    char lowest[32], highest[32];
    *value = (struct tool_value){.value = input->fallback, .given = text != NULL};
    if (text == NULL)
        return;
    switch (decimal_parse(text, strlen(text), input->decimals, false, &value->value)) {
    case DECIMAL_OK:
        if (value->value >= input->lowest && value->value <= input->highest)
            return;
        break;
    case DECIMAL_TOO_PRECISE:
    case DECIMAL_ROUNDED:
        fault(faults, input->name, "too_precise",
              input->decimals == 0
                  ? arena_printf(&request->arena, "%s is a whole number.", input->name)
                  : arena_printf(&request->arena, "%s has at most %u decimals.", input->name,
                                 input->decimals));
        return;
    case DECIMAL_MALFORMED:
        fault(faults, input->name, "not_a_number",
              arena_printf(&request->arena, "%s is a plain decimal number, not \"%.40s\".",
                           input->name, text));
        return;
    case DECIMAL_OUT_OF_RANGE:
        break;
    }
    decimal_print(input->lowest, input->decimals, lowest);
    decimal_print(input->highest, input->decimals, highest);
    fault(faults, input->name, "out_of_range",
          arena_printf(&request->arena, "%s is %s to %s.", input->name, lowest, highest));
}

static void read_word(struct request *request, struct faults *faults,
                      const struct tool_choice *choice, size_t *chosen)
{
    const char *text = request_parameter(request, choice->name);
    size_t count = 0;
    *chosen = 0;
    for (; choice->words[count] != NULL; count++) {
        if (text != NULL && strcmp(choice->words[count], text) == 0) {
            *chosen = count;
            return;
        }
    }
    if (text == NULL)
        return;
    const char *near = nearest_name(text, choice->words, count);
    struct buf all = {0};
    for (size_t i = 0; i < count; i++)
        buf_printf(&all, "%s%s", i == 0 ? "" : i + 1 == count ? " or " : ", ", choice->words[i]);
    fault(faults, choice->name, "unknown_value",
          near == NULL ? arena_printf(&request->arena, "%s is %s.", choice->name, all.data)
                       : arena_printf(&request->arena, "%s is %s; did you mean %s?", choice->name,
                                      all.data, near));
    buf_free(&all);
}

static bool check_names(struct request *request, struct reply *reply, const struct tool *tool)
{
    size_t others = 0, count = 0;
    while (tool->others != NULL && tool->others[others] != NULL)
        others++;
    const char **allowed = arena_calloc(
        &request->arena, tool->input_count + tool->choice_count + others + 1, sizeof(*allowed));
    for (size_t i = 0; i < tool->input_count; i++)
        allowed[count++] = tool->inputs[i].name;
    for (size_t i = 0; i < tool->choice_count; i++)
        allowed[count++] = tool->choices[i].name;
    for (size_t i = 0; i < others; i++)
        allowed[count++] = tool->others[i];
    return request_check_parameters(request, reply, allowed);
}

bool tool_read(struct request *request, struct reply *reply, const struct tool *tool,
               struct tool_value *values, size_t *chosen)
{
    struct faults faults; /* items are written before they are read */
    faults.count = 0;
    if (!check_names(request, reply, tool))
        return false;
    for (size_t i = 0; i < tool->input_count; i++)
        read_number(request, &faults, &tool->inputs[i], &values[i]);
    for (size_t i = 0; i < tool->choice_count; i++)
        read_word(request, &faults, &tool->choices[i], &chosen[i]);
    if (faults.count == 0)
        return true;
    reply_problem(request, reply, 400, "bad-parameter", faults.items[0].message, faults.items,
                  faults.count);
    return false;
}

bool tool_require(struct request *request, struct reply *reply, const struct tool_input *input,
                  const struct tool_value *value)
{
    return value->value >= 0 ||
           parameter_refuse(request, reply, input->name, "missing",
                            arena_printf(&request->arena, "%s is needed.", input->name));
}

bool tool_refuse_sums(struct request *request, struct reply *reply, const char *name)
{
    return parameter_refuse(request, reply, name, "out_of_range",
                            arena_printf(&request->arena,
                                         "The sums of these inputs are above 9.2 trillion USD; "
                                         "lower %s or the prices.",
                                         name));
}

/* What is written of an input but its value, made once: most answers leave most inputs out. */
struct input_text {
    char *left_out; /* the whole member, with its fallback */
    size_t left_out_length;
    char *given; /* a byte, and what follows a value that was given */
    size_t given_length;
};

static void write_bounds(struct buf *out, const struct tool_input *input, bool given)
{
    buf_add_json_member_string(out, "unit", input->unit);
    buf_add_json_member_bool(out, "given", given);
    buf_add_json_member_decimal(out, "default", input->fallback, input->decimals);
    buf_add_json_member_decimal(out, "minimum", input->lowest, input->decimals);
    buf_add_json_member_decimal(out, "maximum", input->highest, input->decimals);
}

static void open_input(struct buf *out, const struct tool_input *input, int64_t value)
{
    buf_add_json_key(out, input->name);
    buf_add_char(out, '{');
    buf_add_json_member_decimal(out, "value", value, input->decimals);
}

static struct input_text make_text(const struct tool_input *input)
{
    struct buf left_out = {0}, given = {0};
    struct input_text text;
    open_input(&left_out, input, input->fallback);
    write_bounds(&left_out, input, false);
    buf_add_json_member_string(&left_out, "source", input->source);
    buf_add_char(&left_out, '}');
    buf_add_char(&given, '0'); /* stands for the value, so that a comma follows */
    write_bounds(&given, input, true);
    buf_add_string(&given, ",\"source\":null}");
    text.left_out = buf_detach(&left_out, &text.left_out_length);
    text.given = buf_detach(&given, &text.given_length);
    return text;
}

static void free_texts(struct input_text *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(texts[i].left_out);
        free(texts[i].given);
    }
    free(texts);
}

/* Made by the first who asks; the loser of a race throws its own away. */
static const struct input_text *texts_of(const struct tool *tool)
{
    struct input_text *known = atomic_load_explicit(tool->texts, memory_order_acquire);
    if (known != NULL)
        return known;
    struct input_text *mine = xcalloc(tool->input_count, sizeof(*mine));
    for (size_t i = 0; i < tool->input_count; i++)
        mine[i] = make_text(&tool->inputs[i]);
    if (atomic_compare_exchange_strong_explicit(tool->texts, &known, mine, memory_order_acq_rel,
                                                memory_order_acquire))
        return mine;
    free_texts(mine, tool->input_count);
    return known;
}

static void write_input(struct buf *out, const struct tool_input *input,
                        const struct input_text *text, const struct tool_value *value)
{
    if (value->given) {
        open_input(out, input, value->value);
        buf_add(out, text->given + 1, text->given_length - 1);
    } else if (value->source == NULL && value->value == input->fallback) {
        if (out->data[out->length - 1] != '{')
            buf_add_char(out, ',');
        buf_add(out, text->left_out, text->left_out_length);
    } else {
        open_input(out, input, value->value);
        write_bounds(out, input, false);
        buf_add_json_member_string(out, "source",
                                   value->source != NULL ? value->source : input->source);
        buf_add_char(out, '}');
    }
}

void tool_write_inputs(struct buf *out, const struct tool *tool, const struct tool_value *values,
                       const size_t *chosen)
{
    buf_add_json_key(out, "inputs");
    buf_add_char(out, '{');
    for (size_t i = 0; i < tool->choice_count; i++) {
        const struct tool_choice *choice = &tool->choices[i];
        buf_add_json_key(out, choice->name);
        buf_add_char(out, '{');
        buf_add_json_member_string(out, "value", choice->words[chosen[i]]);
        buf_add_json_member_string(out, "default", choice->words[0]);
        buf_add_json_key(out, "choices");
        buf_add_char(out, '[');
        for (size_t w = 0; choice->words[w] != NULL; w++) {
            if (w > 0)
                buf_add_char(out, ',');
            buf_add_json_string(out, choice->words[w]);
        }
        buf_add_char(out, ']');
        buf_add_json_member_string(out, "source", choice->source);
        buf_add_char(out, '}');
    }
    const struct input_text *texts = texts_of(tool);
    for (size_t i = 0; i < tool->input_count; i++)
        write_input(out, &tool->inputs[i], &texts[i], &values[i]);
    buf_add_char(out, '}');
}

void tool_write_signed(struct buf *out, const char *key, int64_t value)
{
    buf_add_json_key(out, key);
    buf_add_decimal(out, value, 6);
}

void tool_write_as_of(struct buf *out, int64_t as_of_us)
{
    char as_of[TIMESTAMP_TEXT_SIZE];
    if (as_of_us != TIMESTAMP_UNKNOWN)
        timestamp_print(as_of_us, as_of);
    buf_add_json_member_string(out, "as_of", as_of_us == TIMESTAMP_UNKNOWN ? NULL : as_of);
}

void tool_finish_constant(struct request *request, struct reply *reply)
{
    struct crypt_hasher hasher;
    uint8_t hash[16];
    char text[CRYPT_BASE64_SIZE(sizeof(hash)) + 4];
    crypt_hasher_init(&hasher, sizeof(hash));
    crypt_hasher_add(&hasher, reply->body.data, reply->body.length);
    crypt_hasher_finish(&hasher, hash);
    crypt_base64url(hash, sizeof(hash), text);
    reply->etag = arena_printf(&request->arena, "\"%s\"", text);
    if (!reply_not_modified(request, reply, reply->etag))
        reply->status = 200;
}
