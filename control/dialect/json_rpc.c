#include "control/dialect/json_rpc.h"

#include <stdio.h>

#include "control/dialect/json_read.h"
#include "proto/base/utf8.h"

enum { METHOD_NOT_FOUND = -32601, LINE_MAX_BYTES = 256, CODE_MAX = 24 };

json_t *json_rpc_request(uint32_t id, const char *method, json_t *params)
{
	return json_pack("{s:s, s:I, s:s, s:o}", "jsonrpc", "2.0", "id", (json_int_t)id, "method",
			 method, "params", params);
}

json_t *json_rpc_notification(const char *method, json_t *params)
{
	return json_pack("{s:s, s:s, s:o*}", "jsonrpc", "2.0", "method", method, "params", params);
}

json_t *json_rpc_answer(const json_t *id, json_t *result)
{
	json_t *copy = json_deep_copy(id);

	if (result)
		return json_pack("{s:s, s:o, s:o}", "jsonrpc", "2.0", "id", copy, "result", result);
	return json_pack("{s:s, s:o, s:{s:i, s:s}}", "jsonrpc", "2.0", "id", copy, "error", "code",
			 METHOD_NOT_FOUND, "message", "Method not found");
}

void json_rpc_error_text(const json_t *error, char *to, size_t size)
{
	json_int_t code = json_integer_value(json_object_get(error, "code"));
	struct slice text = json_read_text(error, "message");
	char line[LINE_MAX_BYTES];
	size_t n = text.n < sizeof line - CODE_MAX ? text.n : sizeof line - CODE_MAX;

	snprintf(line, sizeof line, "%.*s (%" JSON_INTEGER_FORMAT ")",
		 (int)utf8_whole((const char *)text.p, n), (const char *)text.p, code);
	utf8_mend(line);
	utf8_plain(line);
	utf8_copy(to, size, line);
}
