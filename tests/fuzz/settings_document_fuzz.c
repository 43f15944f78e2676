/* A stored document, and its intent as somebody may send it: what is taken is within the limits and
 * survives as text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/settings/document.h"
#include "control/settings/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use_intent(const uint8_t *data, size_t size, struct document *d, struct settings *base,
		       struct settings *out)
{
	struct document_change change = {.updated_at = document_updated_at(d),
					 .author = "fuzz",
					 .now = "2026-11-22T12:00:00.000Z"};
	json_t *intent = json_loadb((const char *)data, size, 0, NULL);
	enum document_result r = document_put(d, base, intent, &change, NULL, NULL);

	if (r == DOCUMENT_SAVED && document_effective(d, base, 0, out, NULL, NULL))
		abort(); /* it was checked */
	json_decref(settings_bindings_json(out));
	json_decref(document_diff(d, 0, 0));
	json_decref(intent);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct settings *base, *out;
	struct document *d = NULL, *again = NULL;
	char *text;

	if (!base && (settings_alloc(&base) || settings_alloc(&out)))
		abort();
	if (document_alloc(&d) || document_alloc(&again))
		abort();
	document_parse(d, (const char *)data, size);
	document_effective(d, base, 42, out, NULL, NULL);
	use_intent(data, size, d, base, out);
	text = document_text(d);
	if (text && strlen(text) <= DOCUMENT_MAX && document_parse(again, text, strlen(text)))
		abort();
	free(text);
	document_free(again);
	document_free(d);
	return 0;
}
