/* RFC 4180: quotes around what holds a comma, a quote, a line end or outer spaces. */
#include "server/base/csv_cell.h"

bool csv_text_looks_like_formula(const char *text)
{
    text += strspn(text, "'");
    return *text != '\0' && strchr("=+-@\t\r", *text) != NULL;
}

void csv_add_cell(struct buf *out, const char *text, size_t length, bool harmless)
{
    bool quoted = false;
    if (length == 0)
        return;
    for (size_t i = 0; i < length && !quoted; i++)
        quoted = text[i] == ',' || text[i] == '"' || text[i] == '\r' || text[i] == '\n';
    quoted |=
        text[0] == ' ' || text[0] == '\t' || text[length - 1] == ' ' || text[length - 1] == '\t';
    harmless = harmless && csv_text_looks_like_formula(text);
    if (!quoted) {
        if (harmless)
            buf_add_char(out, '\'');
        buf_add(out, text, length);
        return;
    }
    buf_add(out, "\"'", harmless ? 2 : 1);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"')
            buf_add_char(out, '"');
        buf_add_char(out, text[i]);
    }
    buf_add_char(out, '"');
}
