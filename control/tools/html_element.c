#include "control/tools/html_inside.h"

#include <stdlib.h>
#include <string.h>

struct element {
	const char *name;
	unsigned kinds;
};

/* In the order of the names. */
static const struct element elements[] = {
	{"address", HTML_BLOCK},
	{"area", HTML_VOID},
	{"article", HTML_BLOCK | HTML_MAIN},
	{"aside", HTML_DROPPED},
	{"audio", HTML_DROPPED},
	{"base", HTML_VOID},
	{"blockquote", HTML_BLOCK},
	{"body", HTML_BLOCK},
	{"br", HTML_VOID},
	{"button", HTML_DROPPED},
	{"canvas", HTML_DROPPED},
	{"caption", HTML_BLOCK},
	{"center", HTML_BLOCK},
	{"col", HTML_VOID},
	{"datalist", HTML_DROPPED},
	{"dd", HTML_LOOSE | HTML_BLOCK},
	{"details", HTML_BLOCK},
	{"dialog", HTML_DROPPED},
	{"div", HTML_BLOCK},
	{"dl", HTML_BLOCK},
	{"dt", HTML_LOOSE | HTML_BLOCK},
	{"embed", HTML_VOID},
	{"fieldset", HTML_BLOCK},
	{"figcaption", HTML_BLOCK},
	{"figure", HTML_BLOCK},
	{"footer", HTML_DROPPED},
	{"form", HTML_DROPPED},
	{"h1", HTML_BLOCK | HTML_HEADING},
	{"h2", HTML_BLOCK | HTML_HEADING},
	{"h3", HTML_BLOCK | HTML_HEADING},
	{"h4", HTML_BLOCK | HTML_HEADING},
	{"h5", HTML_BLOCK | HTML_HEADING},
	{"h6", HTML_BLOCK | HTML_HEADING},
	{"header", HTML_BLOCK},
	{"hgroup", HTML_BLOCK},
	{"hr", HTML_VOID | HTML_BLOCK},
	{"html", HTML_BLOCK},
	{"iframe", HTML_RAW},
	{"img", HTML_VOID},
	{"input", HTML_VOID},
	{"li", HTML_LOOSE | HTML_BLOCK},
	{"link", HTML_VOID},
	{"main", HTML_BLOCK | HTML_MAIN},
	{"meta", HTML_VOID},
	{"nav", HTML_DROPPED},
	{"noembed", HTML_RAW},
	{"noframes", HTML_RAW},
	{"noscript", HTML_RAW},
	{"object", HTML_DROPPED},
	{"ol", HTML_BLOCK},
	{"option", HTML_LOOSE},
	{"p", HTML_LOOSE | HTML_BLOCK},
	{"param", HTML_VOID},
	{"pre", HTML_BLOCK},
	{"script", HTML_RAW},
	{"section", HTML_BLOCK},
	{"select", HTML_DROPPED},
	{"source", HTML_VOID},
	{"style", HTML_RAW},
	{"summary", HTML_BLOCK},
	{"svg", HTML_DROPPED},
	{"table", HTML_BLOCK},
	{"tbody", HTML_BLOCK},
	{"td", HTML_LOOSE},
	{"template", HTML_DROPPED},
	{"textarea", HTML_RAW},
	{"tfoot", HTML_BLOCK},
	{"th", HTML_LOOSE},
	{"thead", HTML_BLOCK},
	{"title", HTML_RAW},
	{"tr", HTML_LOOSE | HTML_BLOCK},
	{"track", HTML_VOID},
	{"ul", HTML_BLOCK},
	{"video", HTML_DROPPED},
	{"wbr", HTML_VOID},
	{"xmp", HTML_BLOCK | HTML_RAW},
};

static int compare_name(const void *name, const void *element)
{
	return strcmp(name, ((const struct element *)element)->name);
}

unsigned html_element_kinds(const char *name)
{
	const struct element *e = bsearch(name, elements, sizeof elements / sizeof *elements,
					  sizeof *elements, compare_name);

	return e ? e->kinds : 0;
}
