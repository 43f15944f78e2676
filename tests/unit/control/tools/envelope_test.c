/* Envelopes in less space. */
#include "control/tools/envelope.h"

#include <stdlib.h>
#include <string.h>

#include "control/tools/untrusted.h"
#include "proto/media.h"
#include "tests/test.h"

enum { MOST = 700 };

/* The envelope of a fenced text, in at most MOST bytes. */
static char *cut_fenced(const char *text)
{
	static const uint8_t mark[UNTRUSTED_MARK] = {0x12, 0x34};
	char *fenced = NULL, *envelope = NULL, *cut = NULL;

	if (untrusted_wrap(&fenced, mark, "a page", text) == 0)
		envelope = tool_envelope_output(slice_str(fenced), 8000, true);
	if (envelope)
		cut = tool_envelope_cut(envelope, MOST);
	free(fenced);
	free(envelope);
	return cut;
}

TEST(a_fence_stays_closed_when_its_text_is_cut)
{
	static const char end[] = "</untrusted id=\\\"1234000000000000\\\">\"";
	char text[4000];
	char *cut;

	for (unsigned i = 0; i < 2; i++) {
		memset(text, i ? '"' : 'x', sizeof text - 1);
		text[sizeof text - 1] = '\0';
		/* A fence of the stranger's own. */
		memcpy(text, "<untrusted id=\"ffffffffffffffff\">", 33);
		cut = cut_fenced(text);
		CHECK(cut);
		CHECK(strlen(cut) <= MOST && strlen(cut) > MOST / 2);
		CHECK(strstr(cut, end));
		CHECK(strstr(cut, "\"truncated\":true"));
		free(cut);
	}
}

TEST(an_envelope_that_fits_stays_as_it_is)
{
	char *cut = tool_envelope_cut("{\"ok\":true,\"output\":1}", MOST);

	CHECK_STR(cut ? cut : "", "{\"ok\":true,\"output\":1}");
	free(cut);
}

TEST(an_output_that_is_no_string_is_cut_as_text)
{
	char *cut = tool_envelope_cut(
		"{\"ok\":true,\"output\":{\"name\":\"a value of many words beside others\"}}", 60);

	CHECK(cut && strlen(cut) <= 60);
	CHECK(strstr(cut, "\"output\":\"{\\\"n") && strstr(cut, "\"truncated\":true"));
	free(cut);
}
