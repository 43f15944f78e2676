#include "control/text/attached.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "proto/base/utf8.h"
#include "proto/discord.h"

enum { KILO = 1000 };

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* ---- what it is ---- */

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && strcasecmp(name + n - m, end) == 0;
}

static bool is_text_type(const char *type)
{
	static const char *const others[] = {"application/json",       "application/xml",
					     "application/javascript", "application/x-sh",
					     "application/yaml",       "application/toml"};

	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (strcasecmp(type, others[i]) == 0)
			return true;
	return strncasecmp(type, "text/", 5) == 0;
}

enum attached_kind attached_kind_of(const char *type, const char *name)
{
	static const struct {
		const char *end;
		enum attached_kind kind;
	} ends[] = {{".png", ATTACHED_IMAGE},  {".jpg", ATTACHED_IMAGE}, {".jpeg", ATTACHED_IMAGE},
		    {".webp", ATTACHED_IMAGE}, {".txt", ATTACHED_TEXT},	 {".md", ATTACHED_TEXT},
		    {".log", ATTACHED_TEXT},   {".json", ATTACHED_TEXT}, {".csv", ATTACHED_TEXT}};

	if (strcasecmp(type, "image/png") == 0 || strcasecmp(type, "image/jpeg") == 0 ||
	    strcasecmp(type, "image/webp") == 0)
		return ATTACHED_IMAGE;
	if (*type)
		return is_text_type(type) ? ATTACHED_TEXT : ATTACHED_OTHER;
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
		if (ends_with(name, ends[i].end))
			return ends[i].kind;
	return ATTACHED_OTHER;
}

void attached_copy_plain(char *to, size_t size, const char *text)
{
	utf8_copy(to, size, text);
	utf8_plain(to);
	for (char *p = to; *p; p++)
		if (*p == '[' || *p == ']')
			*p = ' ';
}

static bool read_one(struct attached *a, const json_t *o)
{
	const json_t *size = json_object_get(o, "size");
	const char *url = text_at(o, "url");
	json_int_t bytes = json_integer_value(size);

	*a = (struct attached){.size = bytes > 0 ? (uint64_t)bytes : 0};
	attached_copy_plain(a->name, sizeof a->name, text_at(o, "filename"));
	/* "text/plain; charset=utf-8", after control characters and brackets have become blanks. */
	attached_copy_plain(a->type, sizeof a->type, text_at(o, "content_type"));
	a->type[strcspn(a->type, "; ")] = '\0';
	if (strlen(url) < sizeof a->url)
		memcpy(a->url, url, strlen(url) + 1);
	a->kind = attached_kind_of(a->type, text_at(o, "filename"));
	return discord_snowflake(text_at(o, "id"), &a->id) && *a->name;
}

void attached_read(struct attached_list *out, const json_t *attachments)
{
	const json_t *o;
	size_t i;

	out->n = 0;
	json_array_foreach(attachments, i, o)
	{
		if (out->n < ATTACHED_FILES && read_one(&out->v[out->n], o))
			out->n++;
	}
}

size_t attached_line(const struct attached *a, char buf[ATTACHED_LINE])
{
	char size[24];
	int n;

	if (a->size >= (uint64_t)KILO * KILO)
		snprintf(size, sizeof size, "%llu.%llu MB",
			 (unsigned long long)(a->size / (KILO * KILO)),
			 (unsigned long long)(a->size / (KILO * KILO / 10) % 10));
	else if (a->size >= KILO)
		snprintf(size, sizeof size, "%llu kB", (unsigned long long)(a->size / KILO));
	else
		snprintf(size, sizeof size, "%llu bytes", (unsigned long long)a->size);
	n = snprintf(buf, ATTACHED_LINE, "[attached: %s%s%s, %s]", a->name, *a->type ? ", " : "",
		     a->type, size);
	return (size_t)n;
}

/* ---- where it is ---- */

size_t attached_origin(const char *url, size_t *host)
{
	size_t n;

	*host = strncmp(url, "https://", 8) == 0 ? 8 : strncmp(url, "http://", 7) == 0 ? 7 : 0;
	n = *host ? strcspn(url + *host, "/?#@\\") : 0;
	/* What follows a name and "@" would be the host. */
	return n && url[*host + n] != '@' && url[*host + n] != '\\' ? *host + n : 0;
}

bool attached_url_fits(const char *url, const char *api)
{
	static const char *const own[] = {"https://cdn.discordapp.com/",
					  "https://media.discordapp.net/"};
	static const char discord[] = "https://discord.com/";
	size_t host, n = attached_origin(api, &host);

	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
		if (strncmp(url, own[i], strlen(own[i])) == 0)
			return true;
	return n && strncmp(api, discord, sizeof discord - 1) != 0 && strncmp(url, api, n) == 0 &&
	       url[n] == '/';
}
