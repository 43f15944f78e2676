/* docs/settings.md, made from the tables. */
#include "control/settings/settings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/settings/inside.h"
#include "control/settings/record.h"

const char *const settings_examples[SETTINGS_EXAMPLES][2] = {
	{"OpenAI hears, thinks and speaks",
	 "{\n"
	 "  \"discord_token_file\": \"/etc/parley/discord-token\",\n"
	 "  \"openai_api_key_file\": \"/etc/parley/openai-key\"\n"
	 "}\n"},
	{"Ollama writes, a local Whisper transcribes, a local voice reads out",
	 "{\n"
	 "  \"discord_token_file\": \"/etc/parley/discord-token\",\n"
	 "  \"providers\": [\n"
	 "    {\"name\": \"ollama\", \"url\": \"http://127.0.0.1:11434/v1\", \"model\": "
	 "\"llama3.2\"},\n"
	 "    {\"name\": \"whisper\", \"url\": \"http://127.0.0.1:8000/v1\", \"model\": "
	 "\"Systran/faster-whisper-small\"},\n"
	 "    {\"name\": \"kokoro\", \"url\": \"http://127.0.0.1:8880/v1\", \"model\": \"kokoro\", "
	 "\"voice\": \"af_heart\"}\n"
	 "  ],\n"
	 "  \"roles\": {\"text\": [\"ollama\"], \"transcribe\": [\"whisper\"], \"speech\": "
	 "[\"kokoro\"]},\n"
	 "  \"reply_path\": \"brain\", \"asr_sessions\": \"file\"\n"
	 "}\n"},
	{"Everything offline, by the embedded engine",
	 "{\n"
	 "  \"discord_token_file\": \"/etc/parley/discord-token\"\n"
	 "}\n"},
	{"xAI hears and thinks, ElevenLabs transcribes and reads its answers out",
	 "{\n"
	 "  \"discord_token_file\": \"/etc/parley/discord-token\",\n"
	 "  \"providers\": [\n"
	 "    {\"name\": \"grok\", \"dialect\": \"xai\", \"key_file\": \"/etc/parley/xai-key\"},\n"
	 "    {\"name\": \"eleven\", \"dialect\": \"elevenlabs\", \"key_file\": "
	 "\"/etc/parley/elevenlabs-key\",\n"
	 "     \"voice\": \"JBFqnCBsd6RMkjVDRZzb\"}\n"
	 "  ],\n"
	 "  \"roles\": {\"voice\": [\"grok\"], \"transcribe\": [\"eleven\", \"grok\"], \"speech\": "
	 "[\"eleven\"]},\n"
	 "  \"answer_audio\": \"speech\"\n"
	 "}\n"},
	{"Gemini hears, thinks and speaks, vLLM on this machine transcribes",
	 "{\n"
	 "  \"discord_token_file\": \"/etc/parley/discord-token\",\n"
	 "  \"providers\": [\n"
	 "    {\"name\": \"gemini\", \"dialect\": \"gemini\", \"key_file\": "
	 "\"/etc/parley/gemini-key\", \"voice\": \"Kore\"},\n"
	 "    {\"name\": \"vllm\", \"dialect\": \"vllm\", \"url\": \"http://127.0.0.1:8000/v1\",\n"
	 "     \"model\": \"mistralai/Voxtral-Mini-4B-Realtime-2602\"}\n"
	 "  ],\n"
	 "  \"roles\": {\"voice\": [\"gemini\"], \"transcribe\": [\"vllm\"]}\n"
	 "}\n"},
};

static const char intro[] =
	"control reads the settings when it starts, from four sources. Precedence, lowest first: "
	"the defaults; the settings file, a JSON\nobject (`/etc/parley/parley.json` if it exists, "
	"or `--config FILE`); the environment; the stored document, which the HTTP API\nwrites, "
	"and "
	"its part for one server. SIGHUP reads the file and every secret's file again; each "
	"setting "
	"says when a change takes\neffect.\n\n"
	"In the file numbers are plain, switches are `true` or `false`, and everything else is in "
	"quotes. control reports all faults of\nthe file at once, each with its line unless it "
	"concerns several members, and does not start (status 2). A number in the\nenvironment "
	"that "
	"is out of its range is clamped, which is logged; with any other value there that a "
	"setting "
	"cannot have control does not start, either.\nA list of ids is ids of Discord, as they are "
	"or as `<#ID>` and `<@ID>`, separated by commas or blanks; while the stored document\nhas "
	"a "
	"list with anything else in it, no call is joined and no message answered.\n\n"
	"This page is made from `control/settings/settings.def` and `records.def`; `control "
	"--settings` prints it.\n\n";

static const char *const effects[] = {[SETTINGS_NOW] = "Takes effect immediately.",
				      [SETTINGS_NEXT] = "Takes effect on the next call.",
				      [SETTINGS_START] = "Takes effect after a restart.",
				      [SETTINGS_SENT] =
					      "Takes effect immediately, or after a restart if it "
					      "needs messages that Discord does not send now."};

/* A text that grows; after a failure it stays as it is and err is set. */
struct page {
	char *text;
	size_t n, cap;
	int err;
};

__attribute__((format(printf, 2, 3))) static void page_add(struct page *p, const char *fmt, ...)
{
	va_list ap;
	int need;

	va_start(ap, fmt);
	need = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (p->err || need < 0)
		return;
	if (p->n + (size_t)need + 1 > p->cap) {
		size_t cap = 2 * p->cap + (size_t)need + 1;
		char *grown = realloc(p->text, cap);

		if (!grown) {
			p->err = ENOMEM;
			return;
		}
		p->text = grown;
		p->cap = cap;
	}
	va_start(ap, fmt);
	vsnprintf(p->text + p->n, p->cap - p->n, fmt, ap);
	va_end(ap);
	p->n += (size_t)need;
}

/* ---- one value ---- */

static void doc_secret(struct page *p, const struct settings_row *r)
{
	page_add(p,
		 "### `%s`\n\n%s\n\nPath of a file whose first line is the secret. Variable `%s` "
		 "holds the secret itself, `%s_FILE` names a file. %s\n\n",
		 r->path_name, r->text, r->env, r->env, effects[r->when]);
}

static void doc_row(struct page *p, const struct settings *defaults, const struct settings_row *r)
{
	char def[4096];

	if (r->kind == SETTINGS_SECRET) {
		doc_secret(p, r);
		return;
	}
	settings_print(defaults, r, def, sizeof def);
	page_add(p, "### `%s`\n\n%s\n\n", r->name, r->text);
	page_add(p, "Default: %s%s%s", *def ? "`" : "", *def ? def : "empty", *def ? "`" : "");
	if (r->kind == SETTINGS_NUMBER)
		page_add(p, "%s%s, from %u to %u", *r->unit ? " " : "", r->unit, r->min, r->max);
	if (r->kind == SETTINGS_WORD)
		page_add(p, ", one of `%s`", r->words);
	if (r->kind == SETTINGS_TEXT || r->kind == SETTINGS_IDS)
		page_add(p, ", at most %zu bytes", r->bytes - 1);
	page_add(p, ". Variable `%s`. %s\n\n", r->env, effects[r->when]);
}

static bool has_rows(enum settings_level level, unsigned group)
{
	for (size_t i = 0; i < settings_n_rows; i++)
		if (settings_rows[i].level == level && settings_rows[i].group == group)
			return true;
	return false;
}

static void doc_level(struct page *p, const struct settings *defaults, enum settings_level level)
{
	static const char *const groups[] = {
#define GROUP(NAME, title) title,
		SETTINGS_GROUPS(GROUP)
#undef GROUP
	};
	static const struct {
		const char *title, *text;
	} levels[] = {
#define LEVEL(NAME, title, text) {title, text},
		SETTINGS_LEVELS(LEVEL)
#undef LEVEL
	};

	page_add(p, "## %s\n\n%s\n\n", levels[level].title, levels[level].text);
	for (unsigned g = 0; g < SETTINGS_GROUP_COUNT; g++) {
		if (has_rows(level, g))
			page_add(p, "**%s**\n\n", groups[g]);
		for (size_t i = 0; i < settings_n_rows; i++)
			if (settings_rows[i].level == level && settings_rows[i].group == g)
				doc_row(p, defaults, &settings_rows[i]);
	}
}

/* ---- records and roles ---- */

static void doc_field(struct page *p, const struct record_field *f)
{
	page_add(p, "- `%s`: %s", f->name, f->text);
	if (f->words)
		page_add(p, " One of `%s`; default `%.*s`.", f->words, (int)strcspn(f->words, "|"),
			 f->words);
	if (f->kind == RECORD_TEXT || f->kind == RECORD_ADDRESS)
		page_add(p, " At most %zu bytes.", f->bytes - 1);
	if (f->kind == RECORD_NUMBER)
		page_add(p, " From 0 to %u; default %u.", f->max, f->def);
	page_add(p, "%s\n", f->needed ? " Required." : "");
}

static void doc_records(struct page *p)
{
	page_add(p,
		 "## Providers, roles and purposes\n\n"
		 "A provider is a server that can serve a role. A role is an ordered list of "
		 "providers; the first healthy one serves. A role\nthat is not given is served by "
		 "the providers that the short settings imply: `openai` with a key alone, "
		 "`embedded` with\nnothing. Changes take effect on the next call, those of "
		 "`mcp_servers` immediately; a key that changed in its file is used for\nthe next "
		 "connection.\n\n");
	for (unsigned k = 0; k < RECORD_KINDS; k++) {
		const struct record_kind *kind = &record_kinds[k];

		page_add(p, "### `%s`\n\n%s A list of at most %u records with these fields:\n\n",
			 kind->name, kind->text, kind->most);
		for (size_t i = 0; i < kind->n_fields; i++)
			doc_field(p, &kind->fields[i]);
		page_add(p, "\n");
	}
	page_add(p,
		 "### `roles`\n\nFor each role the names of its providers, first choice first, at "
		 "most %d.\n\n",
		 ROLE_PROVIDERS_MAX);
#define ROLE(NAME, name, text) page_add(p, "- `" #name "`: %s\n", text);
	SETTINGS_ROLES(ROLE)
#undef ROLE
	page_add(p, "\n### `purposes`\n\nFor each purpose the names of providers of its own. A "
		    "purpose that is not given is served by the\nrole in brackets.\n\n");
#define PURPOSE(NAME, name, fallback, text)                                                        \
	page_add(p, "- `" #name "` (%s): %s\n", role_name(ROLE_##fallback), text);
	SETTINGS_PURPOSES(PURPOSE)
#undef PURPOSE
	page_add(p, "\n");
}

static void doc_examples(struct page *p)
{
	page_add(p, "## Examples\n\n");
	for (unsigned i = 0; i < SETTINGS_EXAMPLES; i++)
		page_add(p, "%s:\n\n```\n%s```\n\n", settings_examples[i][0],
			 settings_examples[i][1]);
}

int settings_doc(char **out)
{
	struct settings *defaults = NULL;
	struct page page = {0};
	int err = settings_alloc(&defaults);

	if (err)
		return err;
	page_add(&page, "# Settings of control\n\n");
	page_add(&page, "%s", intro);
	doc_examples(&page);
	doc_level(&page, defaults, SETTINGS_LEVEL_BASIC);
	doc_records(&page);
	doc_level(&page, defaults, SETTINGS_LEVEL_ADVANCED);
	doc_level(&page, defaults, SETTINGS_LEVEL_TUNING);
	settings_free(defaults);
	if (page.err) {
		free(page.text);
		return page.err;
	}
	*out = page.text;
	return 0;
}
