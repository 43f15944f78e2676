/* Forms: a message with files, multipart/form-data as Discord documents it ("Uploading Files"), and
 * the fields of OAuth2. */
#ifndef TESTS_GUILDD_FORM_H
#define TESTS_GUILDD_FORM_H

#include <stddef.h>

#include <jansson.h>

/* The object of the part payload_json, with "attachments": [{"filename", "size", "text", "data"}]
 * for the parts files[n]; text only where the file is UTF-8, data in base64. type: the Content-Type
 * header. New reference; NULL: it is no such form. */
json_t *form_parse(const char *type, const char *body, size_t n);
/* The fields of application/x-www-form-urlencoded as an object of texts. New reference; NULL: it is
 * no such form, or a name comes twice. */
json_t *form_parse_fields(const char *type, const char *body, size_t n);

#endif
