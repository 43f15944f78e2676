/* GET /api/llm/models: the models that the settings name. */
#include "control/configure/live_settings.h"
#include "control/settings/view.h"
#include "control/web/inside.h"

static bool same_text(const json_t *a, const json_t *b, const char *name)
{
	return json_equal(json_object_get(a, name), json_object_get(b, name));
}

/* The row of this provider and model; a new one when there is none. Borrowed. */
static json_t *find_model(json_t *models, const json_t *served)
{
	json_t *row;
	size_t i;

	json_array_foreach(models, i, row)
	{
		if (same_text(row, served, "provider") && same_text(row, served, "model"))
			return row;
	}
	row = json_pack("{s:O?,s:O?,s:O?,s:[]}", "provider", json_object_get(served, "provider"),
			"dialect", json_object_get(served, "dialect"), "model",
			json_object_get(served, "model"), "roles");
	json_array_append_new(models, row);
	return row;
}

void web_models_get(struct web *w, const struct web_request *r)
{
	json_t *bindings = settings_bindings_json(live_settings_wanted(web_live(w)));
	json_t *models = json_array(), *list, *served;
	const char *role;
	size_t i;

	json_object_foreach(json_object_get(bindings, "roles"), role, list)
	{
		json_array_foreach(list, i, served) json_array_append_new(
			json_object_get(find_model(models, served), "roles"), json_string(role));
	}
	json_decref(bindings);
	web_json(r->x, 200, json_pack("{s:o}", "models", models));
}
