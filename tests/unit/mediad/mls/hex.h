/* Bytes that tests write in hexadecimal. */
#ifndef TESTS_UNIT_MEDIAD_MLS_HEX_H
#define TESTS_UNIT_MEDIAD_MLS_HEX_H

#include "proto/base/cursor.h"

/* Empty when it is no hexadecimal. Borrowed until hex_end, in which all are freed. */
struct slice hex_bytes(const char *hex);
void hex_end(void);

#endif
