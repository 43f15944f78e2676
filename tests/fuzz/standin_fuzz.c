/* The parsers of the stand-ins: scripts, frames and multipart bodies. No input may crash or pass a
 * bound; a frame that was read lies inside the bytes. The first byte selects the parser. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/standins/frame.h"
#include "tests/standins/multipart.h"
#include "tests/standins/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void script_try(const char *text, size_t n)
{
	struct si_script *s = NULL;
	const struct si_act *acts[4];
	const char *why;
	unsigned line;

	if (si_script_alloc(&s, text, n, &line, &why))
		return;
	for (int t = 0; t < SI_N_TRIGGERS; t++)
		for (size_t k = si_script_fire(s, (enum si_trigger)t, acts, 4); k; k--)
			if (strlen(acts[k - 1]->text) + strlen(acts[k - 1]->word) > n)
				abort();
	si_script_answer(s, "what is the code word");
	si_script_free(s);
}

static void frame_try(const uint8_t *data, size_t n)
{
	uint8_t *copy = malloc(n + 1);
	struct si_frame f;

	if (!copy)
		return;
	memcpy(copy, data, n);
	if (si_frame_parse(&f, copy, n) == 0) {
		if (f.head > n || f.length > n - f.head)
			abort();
		si_frame_unmask(&f, copy + f.head);
	}
	free(copy);
}

static void multipart_try(const char *body, size_t n)
{
	struct si_part p;

	if (si_multipart_find("multipart/form-data; boundary=x", body, n, "file", &p) &&
	    (p.data < body || p.data + p.n > body + n))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (data[0] % 3) {
	case 0:
		script_try((const char *)data + 1, size - 1);
		break;
	case 1:
		frame_try(data + 1, size - 1);
		break;
	default:
		multipart_try((const char *)data + 1, size - 1);
	}
	return 0;
}
