#include "control/dialect/json_rpc.h"

#include <string.h>

#include "proto/base/utf8.h"
#include "tests/test.h"

static bool prints(json_t *message, const char *text)
{
	char *printed = message ? json_dumps(message, JSON_COMPACT) : NULL;
	bool same = printed && strcmp(printed, text) == 0;

	free(printed);
	json_decref(message);
	return same;
}

TEST(json_rpc_messages_have_the_form_of_the_standard)
{
	json_t *id = json_string("a");

	CHECK(prints(json_rpc_request(3, "run", json_pack("{s:i}", "n", 1)),
		     "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"run\",\"params\":{\"n\":1}}"));
	CHECK(prints(json_rpc_notification("told", NULL),
		     "{\"jsonrpc\":\"2.0\",\"method\":\"told\"}"));
	CHECK(prints(json_rpc_answer(id, json_object()),
		     "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}"));
	CHECK(prints(json_rpc_answer(id, NULL),
		     "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"error\":{\"code\":-32601,\"message\":"
		     "\"Method not found\"}}"));
	json_decref(id);
}

TEST(json_rpc_errors_become_one_plain_line)
{
	char long_message[600], to[64], all[400];
	json_t *error = json_pack("{s:i, s:s}", "code", -32000, "message", "no\nentry\x7f");

	json_rpc_error_text(error, to, sizeof to);
	CHECK(strstr(to, "(-32000)") && !strpbrk(to, "\n\x7f"));
	json_decref(error);
	memset(long_message, 'x', sizeof long_message - 1);
	long_message[sizeof long_message - 1] = '\0';
	error = json_pack("{s:i, s:s}", "code", 7, "message", long_message);
	json_rpc_error_text(error, all, sizeof all);
	CHECK(strlen(all) < 256 && strstr(all, "(7)") && utf8_valid(all));
	json_decref(error);
	json_rpc_error_text(NULL, to, sizeof to);
	CHECK_STR(to, " (0)");
}
