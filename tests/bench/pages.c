/* Text of web pages: html_1mb_ms, a megabyte of ordinary markup; html_hostile_ms, the slowest of
 * many hostile pages of a megabyte; html_linear, the worst ratio of the time for such a page over
 * eight times that for its first eighth. */
#include "control/tools/html.h"
#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 1 << 20, TURNS = 9, PARTS = 8 };

static const char ordinary[] =
	"<div class=\"row c12\"><h2>A heading</h2>\n<p style=\"color: #123\">Words of a <a "
	"href=\"/somewhere/else.html?x=1&amp;y=2\" title='a title'>page</a>, with caf&eacute;s "
	"&mdash; "
	"and <b>bold</b> ones &#8364;5 <img src=x.png alt=\"\"><br>in lines that go on for a "
	"while.</p>\n<ul><li>one<li>two</ul><!-- a comment --><script>if (a < b) "
	"f();</script></div>\n";

static const char *const hostile[] = {
	"<div>",
	"<div a=b c='d' e ",
	"<p>",
	"<p>hello world ",
	"<a hidden>",
	"<",
	"&",
	"&#",
	"&amp",
	"&aaaaaaa",
	"<!--",
	"<!-",
	"-",
	"<script>",
	"<script></script",
	"</title",
	"<title></titl",
	"<svg><p>",
	"<svg>",
	"<template><template>",
	"<p style='display:non",
	"<nav><form>",
	"<xmp><",
	"<pre>\n",
	"<li>",
	"<table><tr><td>",
	"<h1>a ",
	"<main><article>a ",
	"word",
	"\xff\xc3",
	"\xe2\x80\x8b",
	"<a b=\"",
	"<?",
	"</ ",
};

struct page {
	const char *text;
	size_t n;
};

static void read_page(void *arg)
{
	const struct page *p = arg;
	struct html_text t = {0};

	BENCH_OK(html_read(&t, p->text, p->n));
	html_text_clear(&t);
}

/* ms for the first n bytes of the part, repeated. */
static double time_page(const char *name, const char *part, char *room, size_t n)
{
	struct page page = {room, n};
	size_t m = strlen(part);

	for (size_t i = 0; i < n; i++)
		room[i] = part[i % m];
	return bench_one(name, read_page, &page, 1, TURNS) / 1e6;
}

int main(void)
{
	static char room[PAGE];
	double worst = 0, ratio = 0;
	size_t slowest = 0;

	bench_row("html_1mb_ms", time_page("html_1mb_ms", ordinary, room, PAGE), "ms");
	for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
		double part = time_page("html_part", hostile[i], room, PAGE / PARTS),
		       whole = time_page("html_whole", hostile[i], room, PAGE);

		if (whole > worst)
			slowest = i;
		worst = whole > worst ? whole : worst;
		/* What takes less than a millisecond says nothing of its growth. */
		if (whole > 1 && whole / (part * PARTS) > ratio)
			ratio = whole / (part * PARTS);
	}
	bench_row_more("html_hostile_ms", worst, "ms", "\"pages\": %zu, \"slowest\": %zu",
		       sizeof hostile / sizeof *hostile, slowest);
	bench_row("html_linear", ratio, "");
	return 0;
}
