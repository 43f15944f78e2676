#include "control/dialect/embeddings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/dialect/build.h"
#include "control/dialect/json_read.h"

static int check_texts(const struct embeddings_query *q)
{
	size_t bytes = 0;

	if (!q->n || q->n > EMBEDDINGS_TEXTS_MAX)
		return EINVAL;
	for (size_t i = 0; i < q->n; i++) {
		size_t n = strlen(q->texts[i]);

		if (!n || n > EMBEDDINGS_BYTES_MAX - bytes)
			return EINVAL;
		bytes += n;
	}
	return 0;
}

int embeddings_build(char **out, const struct embeddings_query *q)
{
	json_t *input, *root;
	char *text;
	int err = check_texts(q);

	if (err)
		return err;
	input = json_array();
	for (size_t i = 0; i < q->n && !err; i++)
		err = json_array_append_new(input, json_string(q->texts[i]));
	root = json_pack("{s:s,s:o,s:s}", "model", q->model, "input", input, "encoding_format",
			 "float");
	if (root && q->dimensions)
		err |= json_object_set_new(root, "dimensions", json_integer(q->dimensions));
	if (err) {
		json_decref(root);
		return ENOMEM;
	}
	text = build_text(root);
	if (!text)
		return ENOMEM;
	*out = text;
	return 0;
}

int embeddings_read_options(unsigned *dimensions, const char *options)
{
	json_t *root = *options ? json_loads(options, 0, NULL) : NULL;
	const json_t *value = json_object_get(root, "dimensions");
	json_int_t n = json_integer_value(value);
	int err = value && (n < EMBEDDINGS_DIM_MIN || n > EMBEDDINGS_DIM_MAX) ? EINVAL : 0;

	if (!err)
		*dimensions = value ? (unsigned)n : 0;
	json_decref(root);
	return err;
}

/* Scales it to length 1. EBADMSG: it has no direction. */
static int take_vector(float *out, const json_t *numbers, unsigned dim)
{
	double length = 0;

	for (unsigned i = 0; i < dim; i++) {
		const json_t *number = json_array_get(numbers, i);
		double v = json_number_value(number);

		if (!json_is_number(number) || fabs(v) > 1e6)
			return EBADMSG;
		length += v * v;
	}
	length = sqrt(length);
	if (length < 1e-6)
		return EBADMSG;
	for (unsigned i = 0; i < dim; i++)
		out[i] = (float)(json_number_value(json_array_get(numbers, i)) / length);
	return 0;
}

static int take_vectors(struct embeddings *e, const json_t *data)
{
	uint64_t seen = 0;
	const json_t *item;
	size_t i;
	int err = 0;

	json_array_foreach(data, i, item)
	{
		const json_t *numbers = json_object_get(item, "embedding"),
			     *index = json_object_get(item, "index");
		json_int_t at = json_integer_value(index);

		if (!json_is_integer(index) || at < 0 || (size_t)at >= e->n ||
		    seen & UINT64_C(1) << at || json_array_size(numbers) != e->dim)
			return EBADMSG;
		seen |= UINT64_C(1) << at;
		err = take_vector(e->v + (size_t)at * e->dim, numbers, e->dim);
		if (err)
			return err;
	}
	return 0;
}

static int read_root(struct embeddings *out, size_t n, const json_t *root)
{
	const json_t *data = json_object_get(root, "data");
	size_t dim = json_array_size(json_object_get(json_array_get(data, 0), "embedding"));
	struct embeddings e = {.n = n, .dim = (unsigned)dim};
	int err;

	if (!n || n > EMBEDDINGS_TEXTS_MAX || json_array_size(data) != n ||
	    dim < EMBEDDINGS_DIM_MIN || dim > EMBEDDINGS_DIM_MAX)
		return EBADMSG;
	e.v = calloc(n * dim, sizeof *e.v);
	if (!e.v)
		return ENOMEM;
	e.usage.n[PRICE_TEXT_IN] = json_read_count(json_object_get(root, "usage"), "prompt_tokens");
	err = take_vectors(&e, data);
	if (err)
		embeddings_clear(&e);
	else
		*out = e;
	return err;
}

int embeddings_read(struct embeddings *out, size_t n, struct slice body)
{
	json_error_t why;
	json_t *root = body.n <= EMBEDDINGS_ANSWER_MAX
			       ? json_loadb((const char *)body.p, body.n, 0, &why)
			       : NULL;
	int err = root ? read_root(out, n, root) : EBADMSG;

	if (!root && body.n <= EMBEDDINGS_ANSWER_MAX &&
	    json_error_code(&why) == json_error_out_of_memory)
		err = ENOMEM;
	json_decref(root);
	return err;
}

void embeddings_clear(struct embeddings *e)
{
	if (e->v)
		explicit_bzero(e->v, e->n * e->dim * sizeof *e->v);
	free(e->v);
	*e = (struct embeddings){0};
}
