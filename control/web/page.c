/* The dashboard's files, compiled into the program. */
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "control/web/inside.h"

/* Of the linker: the bytes of a file, and where they end. The path is that from the root of the
 * tree, where the compiler runs; Makefile names the files as what this object depends on. */
#define FILE_BYTES(name, file)                                                                     \
	__asm__(".section .rodata\n"                                                               \
		".global page_" #name "_begin\n"                                                   \
		".global page_" #name "_end\n"                                                     \
		"page_" #name "_begin:\n"                                                          \
		".incbin \"control/web/page/" file "\"\n"                                          \
		"page_" #name "_end:\n"                                                            \
		".previous\n");                                                                    \
	extern const char page_##name##_begin[], page_##name##_end[];

FILE_BYTES(html, "page.html")
FILE_BYTES(css, "page.css")
FILE_BYTES(js, "page.js")
FILE_BYTES(nodes, "nodes.js")
FILE_BYTES(stream, "stream.js")
FILE_BYTES(views, "views.js")
FILE_BYTES(live, "live.js")
FILE_BYTES(times, "times.js")
FILE_BYTES(turn, "turn.js")
FILE_BYTES(turns, "turns.js")
FILE_BYTES(timeline, "timeline.js")
FILE_BYTES(latency, "latency.js")
FILE_BYTES(share_html, "share.html")
FILE_BYTES(share_css, "share.css")
FILE_BYTES(share_js, "share.js")

/* Nothing but our own files, no code in the page itself, and no text becomes a program. */
#define POLICY                                                                                     \
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src "  \
	"%s; "                                                                                     \
	"img-src 'self' data:; media-src 'self'; base-uri 'none'; form-action 'none'; "            \
	"frame-ancestors 'none'; "                                                                 \
	"require-trusted-types-for 'script'; trusted-types 'none'"

#define SCRIPT "text/javascript; charset=utf-8"
static const struct file {
	const char *path, *type, *begin, *end;
} files[] = {
	{"/", "text/html; charset=utf-8", page_html_begin, page_html_end},
	{"/page.css", "text/css; charset=utf-8", page_css_begin, page_css_end},
	{"/page.js", SCRIPT, page_js_begin, page_js_end},
	{"/nodes.js", SCRIPT, page_nodes_begin, page_nodes_end},
	{"/stream.js", SCRIPT, page_stream_begin, page_stream_end},
	{"/views.js", SCRIPT, page_views_begin, page_views_end},
	{"/live.js", SCRIPT, page_live_begin, page_live_end},
	{"/times.js", SCRIPT, page_times_begin, page_times_end},
	{"/turn.js", SCRIPT, page_turn_begin, page_turn_end},
	{"/turns.js", SCRIPT, page_turns_begin, page_turns_end},
	{"/timeline.js", SCRIPT, page_timeline_begin, page_timeline_end},
	{"/latency.js", SCRIPT, page_latency_begin, page_latency_end},
	{"/share/", "text/html; charset=utf-8", page_share_html_begin, page_share_html_end},
	{"/share/page.css", "text/css; charset=utf-8", page_css_begin, page_css_end},
	{"/share/share.css", "text/css; charset=utf-8", page_share_css_begin, page_share_css_end},
	{"/share/share.js", SCRIPT, page_share_js_begin, page_share_js_end},
};

/* A browser asks each time, and gets the bytes when they have changed. */
static void write_tag(const struct file *f, char out[WEB_TAG])
{
	uint8_t hash[crypto_generichash_BYTES_MIN];
	char hex[2 * sizeof hash + 1];

	_Static_assert(sizeof hex + 2 <= WEB_TAG, "a tag is too long");
	crypto_generichash(hash, sizeof hash, (const uint8_t *)f->begin,
			   (size_t)(f->end - f->begin), NULL, 0);
	sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
	out[0] = '"';
	memcpy(out + 1, hex, sizeof hex - 1);
	memcpy(out + sizeof hex, "\"", 2);
}

void web_page_tags(char tags[WEB_FILES_MAX][WEB_TAG])
{
	_Static_assert(sizeof files / sizeof files[0] <= WEB_FILES_MAX, "there are more files");
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		write_tag(&files[i], tags[i]);
}

static void send_file(const struct web *w, const struct web_request *r, const struct file *f)
{
	const char *tag = web_tag(w, (unsigned)(f - files));
	char policy[sizeof POLICY + 64];

	http_reply_field(r->x, "ETag", tag);
	http_reply_field(r->x, "Cache-Control", "no-cache");
	snprintf(policy, sizeof policy, POLICY, *web_talk(w) ? web_talk(w) : "'none'");
	http_reply_field(r->x, "Content-Security-Policy", policy);
	http_reply_field(r->x, "Cross-Origin-Opener-Policy", "same-origin");
	http_reply_field(r->x, "Cross-Origin-Resource-Policy", "same-origin");
	if (http_text_is(http_head_field(r->head, "If-None-Match"), tag))
		http_reply(r->x, 304, NULL, NULL, 0);
	else
		http_reply(r->x, 200, f->type, f->begin, (size_t)(f->end - f->begin));
}

void web_page_send(const struct web *w, const struct web_request *r, const char *path)
{
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		if (strcmp(files[i].path, path) == 0) {
			send_file(w, r, &files[i]);
			return;
		}
}

void web_page_get(struct web *w, const struct web_request *r)
{
	web_page_send(w, r, r->head->path);
}
