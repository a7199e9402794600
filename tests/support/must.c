#include "tests/support/must.h"

#include <stdarg.h>
#include <stdio.h>

void complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}
