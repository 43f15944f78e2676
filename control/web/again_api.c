/* Asks the room again, with other settings, how it would have taken a turn: POST
 * /api/voice/history/sessions/:session/again. One at a time; nothing is kept or changed. */
#include <errno.h>
#include <string.h>

#include "control/web/inside.h"

enum { SETTINGS_MAX = 16 };

static void lose(struct http_exchange *x, void *arg)
{
	(void)x;
	web_set_asking(arg, NULL);
}

static void tell_error(struct http_exchange *x, const json_t *answer)
{
	const char *error = json_string_value(json_object_get(answer, "error"));
	json_t *setting = json_object_get(answer, "setting");

	if (strcmp(error, "no_journal") == 0)
		web_refuse(x, WEB_NO_JOURNAL);
	else if (strcmp(error, "no_turn") == 0)
		web_refuse(x, WEB_NOT_IN_JOURNAL);
	else if (json_is_string(setting))
		web_refuse_with(x, WEB_BAD_SETTING,
				json_pack("{s:[{s:o,s:s}]}", "errors", "pointer",
					  json_sprintf("/settings/%s", json_string_value(setting)),
					  "detail", error));
	else
		web_refuse(x, WEB_TOO_LONG_AGO);
}

static void on_answer(json_t *answer, void *arg)
{
	struct http_exchange *x = web_asking(arg);

	web_set_asking(arg, NULL);
	if (x)
		http_on_gone(x, NULL, NULL);
	if (x && !answer)
		web_refuse(x, WEB_TOO_LONG_AGO);
	else if (x && json_is_string(json_object_get(answer, "error")))
		tell_error(x, answer);
	else if (x)
		web_json(x, 200, json_incref(answer));
	json_decref(answer);
}

static bool are_values(const json_t *settings)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)settings, name, value)
	{
		if (!json_is_string(value) && !json_is_integer(value) && !json_is_boolean(value))
			return false;
	}
	return json_object_size(settings) > 0 && json_object_size(settings) <= SETTINGS_MAX;
}

void web_again_post(struct web *w, const struct web_request *r)
{
	const struct web_conf *c = web_shown(w);
	json_int_t turn = json_integer_value(json_object_get(r->body, "turn"));
	const struct web_again what = {.guild = r->id,
				       .session = r->id2,
				       .turn = (uint32_t)turn,
				       .settings = json_object_get(r->body, "settings")};
	int err;

	if (!are_values(what.settings) || turn < 1 || turn > UINT32_MAX) {
		web_refuse(r->x, WEB_BAD_CHANGES);
		return;
	}
	err = c->againh ? c->againh(&what, on_answer, w, c->arg) : ENOENT;
	if (err) {
		web_refuse(r->x, err == ENOENT ? WEB_NO_JOURNAL : WEB_BUSY);
		return;
	}
	web_set_asking(w, r->x);
	http_on_gone(r->x, lose, w);
}
