/* A recording as a form of several parts (RFC 7578): fields, then a WAV file. Pure. */
#ifndef CONTROL_DIALECT_RECORDING_FORM_H
#define CONTROL_DIALECT_RECORDING_FORM_H

#include "control/dialect/openai_http.h"
#include "proto/base/cursor.h"

/* Writes the fields before the file with form_field. */
typedef void(form_fields_h)(struct wr *w, const struct openai_recording *rec);

void form_field(struct wr *w, const char *boundary, const char *name, const char *value);
/* ENOMEM; EINVAL when the boundary or the fields have no place. out->p is freed by the caller. */
int form_build(struct openai_body *out, const struct openai_recording *rec, form_fields_h *fields);

#endif
