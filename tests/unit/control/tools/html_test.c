#include "tests/test.h"

#include "control/tools/html.h"
#include "proto/base/utf8.h"

#define LONG                                                                                       \
	"one two three four five six seven eight nine ten eleven twelve thirteen fourteen "        \
	"fifteen "                                                                                 \
	"sixteen seventeen eighteen nineteen twenty one two three four five"

/* 26 characters: "The weather is fine today, so I went for a walk to the park." */
#define JAPANESE                                                                                   \
	"\u4eca\u65e5\u306f\u5929\u6c17\u304c\u826f\u3044\u306e\u3067\u516c\u5712\u307e\u3067"     \
	"\u6563\u6b69\u306b\u884c\u3063\u3066\u304d\u307e\u3057\u305f\u3088\u306d"

static struct html_text page;

static const char *read_text(const char *text)
{
	html_text_clear(&page);
	if (html_read(&page, text, strlen(text)))
		return "(no memory)";
	return page.text;
}

static void end(void)
{
	html_text_clear(&page);
}

TEST(html_text_follows_the_markup)
{
	static const struct {
		const char *page, *text;
	} rows[] = {
		{"", ""},
		{"plain\n  text", "plain text\n"},
		{"<p>a<p>b</p>c<br>d", "a\nb\nc\nd\n"},
		{"a<b>b</b> <i> c</i>", "ab c\n"},
		{"<ul><li>one<li>two</ul>", "- one\n- two\n"},
		{"<ul><li></li><li> </ul>x", "x\n"},
		{"<table><tr><th>a<th>b<tr><td>c<td>d</table>", "a | b\nc | d\n"},
		{"<pre>x\n  y</pre> z", "x\n  y\nz\n"},
		{"1 < 2 &amp; 3 &gt 2 &lt;b&gt; &unknown; & &; &#x;",
		 "1 < 2 & 3 > 2 <b> &unknown; & &; "
		 "&#x;\n"},
		{"caf&eacute; &#8364;5 &#x1F600; &#150; &#0; &#xD800; &#99999999999;",
		 "caf\u00e9 \u20ac"
		 "5 \U0001f600 \u2013 \ufffd \ufffd \ufffd\n"},
		{"a<!-- x --> b <!--> c <!---> d <!-- > --!> e <!doctype x> f <?php ?> g </ h> i",
		 "a b c d e f g i\n"},
		{"a<script>if (a<b) '</p>' </scripty></script >b", "ab\n"},
		{"a<style>p{}</STYLE\n>b<textarea><p></textarea>c<noscript>d</noscript>", "abc\n"},
		{"<a title='<p>' href=\"x>y\" b=c>link</a>", "link\n"},
		{"a<p", "a\n"},
		{"a<p title=\"x", "a\n"},
		{"a<", "a<\n"},
		{"<svg><title>no</title><p>x</svg>y", "y\n"},
		{"<x-unknown-element-name>a</x-unknown-element-name>", "a\n"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		CHECK_STR(read_text(rows[i].page), rows[i].text);
	end();
}

TEST(html_text_leaves_out_what_is_not_the_page)
{
	CHECK_STR(read_text("<nav><nav>a</nav>b</nav>c<footer>d</footer><aside>e</aside>"
			    "<form>f<p>g</form><template>h</template><select><option>i</select>j"),
		  "c\nj\n");
	/* An element that is dropped and never closed drops the rest, but not main. */
	CHECK_STR(read_text("<nav>a<p>b"), "");
	CHECK_STR(read_text("<form><nav>a<main>" LONG "</main>"), LONG "\n");
	CHECK_STR(read_text("<template><main>" LONG "</main></template>x"), "x\n");
	end();
}

TEST(html_text_leaves_out_hidden_elements)
{
	static const char *const hidden[] = {"hidden",
					     "HIDDEN=\"\"",
					     "aria-hidden=true",
					     "style='display : none'",
					     "style=\"color:red;VISIBILITY: hidden\"",
					     "style=opacity:0",
					     "style='font-size: 0px'"};
	static const char *const seen[] = {"hidden=until-found",  "aria-hidden=false",
					   "style='opacity:0.5'", "style='font-size:0.9em'",
					   "data-hidden",	  "class=hidden"};
	char text[256];

	for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
		snprintf(text, sizeof text, "a<div %s>b<div>c</div>d<main>e</main></div>f",
			 hidden[i]);
		CHECK_STR(read_text(text), "a\nf\n");
		snprintf(text, sizeof text, "<p %s>b<p>c", hidden[i]);
		CHECK_STR(read_text(text), "c\n");
	}
	for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
		snprintf(text, sizeof text, "a<div %s>b</div>c", seen[i]);
		CHECK_STR(read_text(text), "a\nb\nc\n");
	}
	end();
}

TEST(html_text_prefers_the_main_part)
{
	CHECK_STR(read_text("<p>" LONG "</p><article><h1>T</h1><p>" LONG "</article><p>x"),
		  "T\n" LONG "\n");
	CHECK_STR(read_text("<div role=main><div>a</div>" LONG "</div><p>" LONG " x"),
		  "a\n" LONG "\n");
	/* A main part without words is none. */
	CHECK_STR(read_text("<main>loading</main><p>" LONG), LONG "\n");
}

TEST(html_text_takes_long_blocks_without_a_main_part)
{
	CHECK_STR(read_text("<div>menu</div><h2>Head</h2><p>short<p>" LONG "<p><a href=x>" LONG
			    "</a><p>" LONG),
		  "Head\n" LONG "\n" LONG "\n");
	CHECK_STR(read_text("<p>one<p>two <a>three</a>"), "one\ntwo three\n");
	/* Writing without blanks. */
	CHECK_STR(read_text("<p>\u77ed\u3044<p>" JAPANESE JAPANESE), JAPANESE JAPANESE "\n");
	end();
}

TEST(html_title_is_one_clean_line)
{
	read_text("<title> A &amp;\nB\u200b\u202e </title><title>C</title>");
	CHECK_STR(page.title, " A & B ");
	CHECK_STR(page.text, "");
	end();
}

static char *repeat(const char *part, size_t size)
{
	size_t m = strlen(part);
	char *text = malloc(size + 1);

	for (size_t i = 0; text && i < size; i++)
		text[i] = part[i % m];
	if (text)
		text[size] = '\0';
	return text;
}

/* Each of these has a megabyte and is cheap to read; the bench says how cheap. */
TEST(html_text_of_hostile_pages_is_bounded)
{
	static const char *const parts[] = {"<div>",
					    "<div a=b c='d' ",
					    "<p>hello world ",
					    "<",
					    "&",
					    "<!--",
					    "<script>",
					    "</title",
					    "<title></titl",
					    "<svg><p>",
					    "<p style='display:non",
					    "&amp",
					    "&aaaaaaa",
					    "<xmp><",
					    "word",
					    "<li>",
					    "\xff\xc3",
					    "<main><h1>a "};
	char *text;

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		text = repeat(parts[i], 1 << 20);
		CHECK(text);
		CHECK(strlen(read_text(text)) < HTML_TEXT_MAX && utf8_valid(page.text));
		free(text);
	}
	text = repeat("<p>hello world ", 1 << 20);
	read_text(text);
	CHECK(page.cut);
	free(text);
	end();
}

TEST_OOM(html_read_survives_without_memory)
{
	CHECK_OOM(html_read(&page, "<p>a", 4), );
	end();
}
