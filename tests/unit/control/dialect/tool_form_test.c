/* Tools in the form of each provider. */
#include "control/dialect/tool_form.h"

#include "control/dialect/realtime.h"
#include "control/dialect/text.h"
#include "control/tools/registry.h"
#include "tests/test.h"

static const struct {
	const char *name;
	enum tool_form form;
} forms[] = {
#define F(NAME, n, ...) {#n, TOOL_FORM_##NAME},
	TOOL_FORMS(F)
#undef F
};
enum { FORMS = sizeof forms / sizeof forms[0] };

static const char *formed(enum tool_form form, const char *schema)
{
	static char text[4096];
	json_t *out = tool_form_text(form, schema);
	char *dumped = out ? json_dumps(out, JSON_COMPACT) : NULL;

	snprintf(text, sizeof text, "%s", dumped ? dumped : "none");
	free(dumped);
	json_decref(out);
	return text;
}

TEST(every_provider_takes_the_names_of_all_our_tools)
{
	char longest[TOOLS_NAME_MAX];

	memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	for (unsigned i = 0; i < FORMS; i++) {
		CHECK(tool_form_takes(forms[i].form, longest));
		CHECK(tool_form_takes(forms[i].form, "notes__read_file_0a1b2c3d"));
#define X(NAME, n, ...) CHECK(tool_form_takes(forms[i].form, #n));
		TOOLS(X)
#undef X
		CHECK(!tool_form_takes(forms[i].form, ""));
		CHECK(!tool_form_takes(forms[i].form, "7up"));
		CHECK(!tool_form_takes(forms[i].form, "a b"));
		CHECK(!tool_form_takes(forms[i].form, "caf\xc3\xa9"));
	}
}

TEST(names_have_the_limits_of_their_provider)
{
	char name[131];

	for (unsigned i = 0; i < FORMS; i++) {
		enum tool_form f = forms[i].form;
		size_t most = f == TOOL_FORM_CHAT || f == TOOL_FORM_REALTIME ? 64 : 128;

		memset(name, 'n', sizeof name);
		name[most] = '\0';
		CHECK(tool_form_takes(f, name));
		name[most] = 'n';
		name[most + 1] = '\0';
		CHECK(!tool_form_takes(f, name));
		CHECK(tool_form_takes(f, "read-file"));
		CHECK(tool_form_takes(f, "read.file") == (f == TOOL_FORM_GEMINI));
	}
}

TEST(no_provider_gets_words_of_documents)
{
	for (unsigned i = 0; i < FORMS; i++)
		CHECK_STR(formed(forms[i].form,
				 "{\"$schema\":\"http://json-schema.org/draft-07/"
				 "schema#\",\"$id\":\"x\","
				 "\"$comment\":\"c\",\"properties\":{\"$id\":{\"type\":\"string\","
				 "\"examples\":[\"a\"],\"x-mcp-header\":\"A\"}},\"required\":[],"
				 "\"type\":\"object\"}"),
			  "{\"properties\":{\"$id\":{\"type\":\"string\"}},\"type\":\"object\"}");
}

TEST(references_within_a_schema_are_resolved)
{
	for (unsigned i = 0; i < FORMS; i++) {
		CHECK_STR(
			formed(forms[i].form,
			       "{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/"
			       "p~1q\","
			       "\"title\":\"t\"}},\"$defs\":{\"p/"
			       "q\":{\"type\":\"array\",\"items\":{"
			       "\"$ref\":\"#/$defs/r\"}},\"r\":{\"type\":\"integer\"}}}"),
			"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\",\"items\":{"
			"\"type\":\"integer\"},\"title\":\"t\"}}}");
		/* Elsewhere, nowhere, to itself: anything. */
		CHECK_STR(
			formed(forms[i].form,
			       "{\"properties\":{\"a\":{\"$ref\":\"https://example.org/s\"},\"b\":{"
			       "\"$ref\":\"#/no\"},\"c\":{\"$ref\":\"#/$defs/c\"},\"d\":{\"$ref\":"
			       "\"#\"}},\"$defs\":{\"c\":{\"items\":{\"$ref\":\"#/$defs/c\"}}}}"),
			"{\"properties\":{\"a\":{},\"b\":{},\"c\":{\"items\":{}},\"d\":{}},"
			"\"type\":"
			"\"object\"}");
	}
}

TEST(the_outermost_schema_is_a_plain_object)
{
	for (unsigned i = 0; i < FORMS; i++) {
		CHECK_STR(formed(forms[i].form,
				 "{\"type\":\"object\",\"oneOf\":[{\"required\":[\"a\"]}],"
				 "\"allOf\":[true],\"not\":{},\"if\":{}}"),
			  "{\"type\":\"object\",\"properties\":{}}");
		CHECK_STR(formed(forms[i].form, "7"), "{\"type\":\"object\",\"properties\":{}}");
		CHECK_STR(formed(forms[i].form,
				 "{\"properties\":{\"a\":{\"anyOf\":[{\"type\":\"null\"},"
				 "{\"type\":\"string\"}]}}}"),
			  "{\"properties\":{\"a\":{\"anyOf\":[{\"type\":\"null\"},{\"type\":"
			  "\"string\"}]}},"
			  "\"type\":\"object\"}");
	}
}

TEST(gemini_gets_only_the_keywords_that_it_reads)
{
	static const char schema[] =
		"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"pattern\":\"^"
		"x\","
		"\"minLength\":1,\"default\":\"x\",\"description\":\"A.\"},\"b\":{\"const\":\"on\"}"
		","
		"\"c\":{\"type\":\"integer\",\"minimum\":1,\"multipleOf\":2}},\"required\":[\"a\"],"
		"\"additionalProperties\":false}";

	CHECK_STR(formed(TOOL_FORM_CHAT, schema), schema);
	CHECK_STR(formed(TOOL_FORM_RESPONSES, schema), schema);
	CHECK_STR(formed(TOOL_FORM_REALTIME, schema), schema);
	CHECK_STR(formed(TOOL_FORM_MESSAGES, schema), schema);
	CHECK_STR(formed(TOOL_FORM_GEMINI, schema),
		  "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"description\":"
		  "\"A.\"},\"b\":{\"enum\":[\"on\"]},\"c\":{\"type\":\"integer\",\"minimum\":1}},"
		  "\"required\":[\"a\"],\"additionalProperties\":false}");
}

TEST(references_cannot_multiply_a_schema_without_end)
{
	char text[2048], *at = text;
	json_t *out;

	at += sprintf(at, "{\"$defs\":{");
	for (unsigned i = 0; i < 12; i++)
		at += sprintf(at,
			      "\"d%u\":{\"anyOf\":[{\"$ref\":\"#/$defs/d%u\"},{\"$ref\":"
			      "\"#/$defs/d%u\"},{\"$ref\":\"#/$defs/d%u\"}]},",
			      i, i + 1, i + 1, i + 1);
	sprintf(at, "\"d12\":{}},\"properties\":{\"a\":{\"$ref\":\"#/$defs/d0\"}}}");
	out = tool_form_text(TOOL_FORM_CHAT, text);
	CHECK(out && json_dumpb(out, NULL, 0, JSON_COMPACT) < 65536);
	json_decref(out);
}

/* ---- the dialects use it ---- */

static const struct engine_tool offered[] = {
	{.name = "good", .description = "Works.", .schema = "{\"oneOf\":[{}],\"$id\":\"x\"}"},
	{.name = "bad name", .description = "Does not.", .schema = "{}"},
};

TEST(text_models_get_tools_in_their_form)
{
	static const struct text_dialect *const dialects[] = {
		&text_dialect_chat, &text_dialect_responses, &text_dialect_messages};
	const struct engine_message question = {.role = ENGINE_USER, .speaker = "", .text = "hi"};
	const struct engine_ask ask = {.id = 1,
				       .instructions = "",
				       .model = "m",
				       .voice = "",
				       .messages = &question,
				       .n = 1,
				       .tools = offered,
				       .n_tools = 2};
	struct text_options options;

	text_options_parse(&options, "");
	for (unsigned i = 0; i < 3; i++) {
		char *body = dialects[i]->build(
			&(struct text_request){.ask = &ask, .options = &options, .previous = ""});

		CHECK(body && strstr(body, "{\"type\":\"object\",\"properties\":{}}"));
		CHECK(strstr(body, "good") && !strstr(body, "bad name") && !strstr(body, "oneOf"));
		free(body);
	}
}

static int keep(bool text, const void *data, size_t n, void *arg)
{
	char *out = arg;

	(void)text;
	snprintf(out + strlen(out), 8192 - strlen(out), "%.*s", (int)n, (const char *)data);
	return 0;
}

TEST(voices_get_tools_in_their_form)
{
	static const struct realtime_dialect *const dialects[] = {
		&realtime_openai, &realtime_openai_beta, &realtime_xai, &realtime_gemini};

	for (unsigned i = 0; i < 4; i++) {
		char out[8192] = "";
		void *codec;

		CHECK_INT(
			dialects[i]->alloc(&codec, &(struct realtime_conf){.url = "ws://127.0.0.1/",
									   .model = "m",
									   .voice = "v",
									   .rate_in = 24000,
									   .rate_out = 24000}),
			0);
		CHECK_INT(
			dialects[i]->encode(
				codec,
				&(struct realtime_command){
					.type = REALTIME_DESCRIBE,
					.text = "",
					.tools = "[{\"name\":\"good\",\"description\":\"Works.\","
						 "\"parameters\":{\"oneOf\":[{}],\"$id\":\"x\"}},{"
						 "\"name\":\"bad name\",\"parameters\":{}}]"},
				keep, out),
			0);
		CHECK(strstr(out, "{\"type\":\"object\",\"properties\":{}}"));
		CHECK(strstr(out, "good") && !strstr(out, "bad name") && !strstr(out, "oneOf"));
		dialects[i]->free(codec);
	}
}
