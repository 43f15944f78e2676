#include "control/dialect/eleven.h"
#include "control/dialect/openai.h"
#include "control/dialect/realtime.h"
#include "control/dialect/text.h"
#include "control/engine/caps.def"
#include "control/engine/engine.h"
#include "ipc/unreachable.h"

static const struct engine_caps rows[] = {
#define ROW_(D, R, shell, text, pcm, instructions, tools, can_cancel, can_truncate, can_erase,     \
	     exact, image, side, in, out, minutes, interrupted)                                    \
	{.dialect = DIALECT_##D,                                                                   \
	 .role = ROLE_##R,                                                                         \
	 .ops = &(shell),                                                                          \
	 .text_in = (text),                                                                        \
	 .pcm_in = (pcm),                                                                          \
	 .live_instructions = (instructions),                                                      \
	 .live_tools = (tools),                                                                    \
	 .cancel = (can_cancel),                                                                   \
	 .truncate = (can_truncate),                                                               \
	 .erase = (can_erase),                                                                     \
	 .exact_line = (exact),                                                                    \
	 .image_in = (image),                                                                      \
	 .aside = (side),                                                                          \
	 .rate_in = (in),                                                                          \
	 .rate_out = (out),                                                                        \
	 .session_min = (minutes),                                                                 \
	 .interrupts = (interrupted)},
	ENGINE_CAPS(ROW_)
#undef ROW_
};

const struct engine_caps *engine_caps(enum dialect dialect, enum role role)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].dialect == dialect && rows[i].role == role)
			return &rows[i];
	return NULL;
}

const struct realtime_dialect *engine_wire(enum dialect dialect)
{
	static const struct {
		enum dialect dialect;
		const struct realtime_dialect *wire;
	} wires[] = {
#define WIRE_(D, WIRE) {DIALECT_##D, &(WIRE)},
		ENGINE_WIRES(WIRE_)
#undef WIRE_
	};

	for (size_t i = 0; i < sizeof wires / sizeof wires[0]; i++)
		if (wires[i].dialect == dialect)
			return wires[i].wire;
	return NULL;
}

const struct text_dialect *engine_text_dialect(enum dialect dialect)
{
	static const struct {
		enum dialect dialect;
		const struct text_dialect *text;
	} texts[] = {
#define TEXT_(D, TEXT) {DIALECT_##D, &(TEXT)},
		ENGINE_TEXTS(TEXT_)
#undef TEXT_
	};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		if (texts[i].dialect == dialect)
			return texts[i].text;
	return NULL;
}

enum trouble engine_trouble(const uint8_t *why, size_t n)
{
	enum trouble trouble = openai_trouble(why, n);

	if (unreachable_told((const char *)why, n))
		return TROUBLE_UNREACHABLE;
	return trouble ? trouble : eleven_trouble(why, n);
}
