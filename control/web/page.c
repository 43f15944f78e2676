/* The dashboard's files, compiled into the program. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "control/web/gzip.h"
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
FILE_BYTES(visualizer, "visualizer.js")
FILE_BYTES(audit, "audit.js")
FILE_BYTES(memory, "memory.js")
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
	{"/visualizer.js", SCRIPT, page_visualizer_begin, page_visualizer_end},
	{"/audit.js", SCRIPT, page_audit_begin, page_audit_end},
	{"/memory.js", SCRIPT, page_memory_begin, page_memory_end},
	{"/share/", "text/html; charset=utf-8", page_share_html_begin, page_share_html_end},
	{"/share/page.css", "text/css; charset=utf-8", page_css_begin, page_css_end},
	{"/share/share.css", "text/css; charset=utf-8", page_share_css_begin, page_share_css_end},
	{"/share/share.js", SCRIPT, page_share_js_begin, page_share_js_end},
};

enum {
	FILES = sizeof files / sizeof files[0],
	TAG = 2 * crypto_generichash_BYTES_MIN + 4,
	PAGE_LEVEL = 9
};

struct web_page {
	char tags[FILES][TAG];
	struct packed {
		uint8_t *bytes; /* gzip */
		size_t n;
		char tag[TAG];
	} packed[FILES];
};

static size_t length(const struct file *f)
{
	return (size_t)(f->end - f->begin);
}

/* A browser asks each time, and gets the bytes when they have changed. The packed ones have a tag
 * of their own, since they are other bytes (RFC 9110 8.8.3.3). */
static void write_tags(const struct file *f, char tag[TAG], char of_packed[TAG])
{
	uint8_t hash[crypto_generichash_BYTES_MIN];
	char hex[2 * sizeof hash + 1];

	crypto_generichash(hash, sizeof hash, (const uint8_t *)f->begin, length(f), NULL, 0);
	sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
	snprintf(tag, TAG, "\"%s\"", hex);
	snprintf(of_packed, TAG, "\"%sz\"", hex);
}

int web_page_alloc(struct web_page **out)
{
	struct web_page *p = calloc(1, sizeof *p);
	int err = p ? 0 : ENOMEM;

	for (size_t i = 0; !err && i < FILES; i++) {
		write_tags(&files[i], p->tags[i], p->packed[i].tag);
		err = gzip_compress(files[i].begin, length(&files[i]), PAGE_LEVEL,
				    &p->packed[i].bytes, &p->packed[i].n);
	}
	if (err)
		web_page_free(p);
	else
		*out = p;
	return err;
}

struct web_page *web_page_free(struct web_page *p)
{
	for (size_t i = 0; p && i < FILES; i++)
		free(p->packed[i].bytes);
	free(p);
	return NULL;
}

static void send_file(const struct web *w, const struct web_request *r, const struct file *f)
{
	const struct web_page *p = web_page(w);
	const struct packed *packed = gzip_is_accepted(r->head) ? &p->packed[f - files] : NULL;
	const char *tag = packed ? packed->tag : p->tags[f - files];
	char policy[sizeof POLICY + 64];

	http_reply_field(r->x, "ETag", tag);
	http_reply_field(r->x, "Cache-Control", "no-cache");
	http_reply_field(r->x, "Vary", "Accept-Encoding");
	snprintf(policy, sizeof policy, POLICY, *web_talk(w) ? web_talk(w) : "'none'");
	http_reply_field(r->x, "Content-Security-Policy", policy);
	http_reply_field(r->x, "Cross-Origin-Opener-Policy", "same-origin");
	http_reply_field(r->x, "Cross-Origin-Resource-Policy", "same-origin");
	if (http_text_is(http_head_field(r->head, "If-None-Match"), tag)) {
		http_reply(r->x, 304, NULL, NULL, 0);
	} else if (packed) {
		http_reply_field(r->x, "Content-Encoding", "gzip");
		http_reply(r->x, 200, f->type, packed->bytes, packed->n);
	} else {
		http_reply(r->x, 200, f->type, f->begin, length(f));
	}
}

void web_page_send(const struct web *w, const struct web_request *r, const char *path)
{
	for (size_t i = 0; i < FILES; i++)
		if (strcmp(files[i].path, path) == 0) {
			send_file(w, r, &files[i]);
			return;
		}
}

void web_page_get(struct web *w, const struct web_request *r)
{
	web_page_send(w, r, r->head->path);
}
