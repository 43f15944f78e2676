/* What `control --erase` and `--export` tell of the person whom they were given. */
#ifndef CONTROL_ERASED_TOLD_H
#define CONTROL_ERASED_TOLD_H

#include <stdbool.h>
#include <stdio.h>

/* Asks whether the id is right: nothing was known of it. */
void erased_told_unknown(FILE *err, const char *user);
/* Prints the sentence of a receipt (control/store/receipt.h) and the receipt itself to out. If
 * nothing was erased, err first has the question whether the id is right. True: traces of the id
 * are left, and err says what to do about them. */
bool erased_told(FILE *out, FILE *err, const char *user, const char *receipt);

#endif
