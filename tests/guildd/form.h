/* A message with files: multipart/form-data as Discord documents it ("Uploading Files"). */
#ifndef TESTS_GUILDD_FORM_H
#define TESTS_GUILDD_FORM_H

#include <stddef.h>

#include <jansson.h>

/* The object of the part payload_json, with "attachments": [{"filename", "size", "text"}] for the
 * parts files[n]; text only where the file is UTF-8. type: the Content-Type header. New reference;
 * NULL: it is no such form. */
json_t *form_parse(const char *type, const char *body, size_t n);

#endif
