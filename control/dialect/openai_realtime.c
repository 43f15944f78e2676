/* The codecs of the OpenAI Realtime family (openai_family.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/openai.h"
#include "control/dialect/openai_family.h"

static void codec_free(void *codec)
{
	struct openai_codec *c = codec;

	if (!c)
		return;
	free(c->url);
	free(c->model);
	free(c->voice);
	free(c);
}

static char *copy_text(const char *text)
{
	return strdup(text ? text : "");
}

static int codec_alloc(void **out, const struct realtime_conf *conf,
		       const struct openai_family *family)
{
	struct openai_codec *c;

	if (!conf->url || !conf->rate_out)
		return EINVAL;
	c = calloc(1, sizeof *c);
	if (!c)
		return ENOMEM;
	c->family = family;
	/* A session that only speaks is told some rate all the same. */
	c->rate_in = conf->rate_in ? conf->rate_in : conf->rate_out;
	c->rate_out = conf->rate_out;
	c->text_only = conf->text_only;
	c->url = copy_text(conf->url);
	c->model = copy_text(conf->model && *conf->model ? conf->model : family->model);
	c->voice = copy_text(conf->voice);
	if (!c->url || !c->model || !c->voice) {
		codec_free(c);
		return ENOMEM;
	}
	*out = c;
	return 0;
}

/* The wire names everything; nothing is kept from one connection to the next. */
static void codec_reset(void *codec)
{
	(void)codec;
}

static char *codec_url(const void *codec)
{
	const struct openai_codec *c = codec;

	return openai_url_voice(c->url, c->model);
}

/* OpenAI refuses less than 100 ms of audio. */
#define REALTIME_OF_FAMILY(ALLOC, HEADER, LEAST)                                                   \
	{                                                                                          \
		.header = (HEADER), .min_commit_ms = (LEAST), .alloc = (ALLOC),                    \
		.free = codec_free, .reset = codec_reset, .url = codec_url, .auth = openai_auth,   \
		.encode = openai_realtime_encode, .decode = openai_realtime_decode,                \
		.trouble = openai_trouble                                                          \
	}

static const struct openai_family family_ga = {.shape = OPENAI_SHAPE_GA,
					       .model = "gpt-realtime",
					       .said = "output_text",
					       .limit = "max_output_tokens",
					       .metadata = true,
					       .images = true,
					       .aside = true,
					       .line = OPENAI_LINE_OUT_OF_BAND};

static int ga_alloc(void **out, const struct realtime_conf *conf)
{
	return codec_alloc(out, conf, &family_ga);
}

const struct realtime_dialect realtime_openai = REALTIME_OF_FAMILY(ga_alloc, NULL, 100);

static const struct openai_family family_xai = {.shape = OPENAI_SHAPE_XAI,
						.model = "grok-voice-latest",
						.said = "output_text",
						.modalities = true,
						.line = OPENAI_LINE_ITEM};

static int xai_alloc(void **out, const struct realtime_conf *conf)
{
	return codec_alloc(out, conf, &family_xai);
}

const struct realtime_dialect realtime_xai = REALTIME_OF_FAMILY(xai_alloc, NULL, 0);

static const struct openai_family family_localai = {
	.shape = OPENAI_SHAPE_GA, .said = "output_text", .line = OPENAI_LINE_NONE};

static int localai_alloc(void **out, const struct realtime_conf *conf)
{
	return codec_alloc(out, conf, &family_localai);
}

const struct realtime_dialect realtime_localai = REALTIME_OF_FAMILY(localai_alloc, NULL, 0);

static const struct openai_family family_beta = {.shape = OPENAI_SHAPE_BETA,
						 .said = "text",
						 .limit = "max_output_tokens",
						 .modalities = true,
						 .metadata = true,
						 .line = OPENAI_LINE_NONE};

static int beta_alloc(void **out, const struct realtime_conf *conf)
{
	return codec_alloc(out, conf, &family_beta);
}

const struct realtime_dialect realtime_openai_beta =
	REALTIME_OF_FAMILY(beta_alloc, "OpenAI-Beta: realtime=v1", 100);
