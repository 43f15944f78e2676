/* Files that are looked at: fetched past the guard, quoted or refused. Decoding is a test of imaged
 * (tests/picture), descriptions are tested with the whole (tests/scenarios/attachments.sh). */
#include "control/attachments/viewer.h"

#include <string.h>

#include "control/attachments/captions.h"
#include "control/attachments/fetch.h"
#include "control/engine/roles.h"
#include "control/settings/settings.h"
#include "tests/test.h"
#include "tests/unit/control/fake_http.h"

static struct {
	struct fake_http fake;
	struct settings *settings;
	struct fetcher *fetcher;
	struct captions *captions;
	struct viewer *viewer;
	enum seen_kind kind;
	char text[600];
	bool over, cut;
} fx;

static void server(struct fake_http *f, struct evhttp_request *req)
{
	static char large[VIEWER_TEXT_BYTES + 100];

	if (strstr(f->path, "/long")) {
		memset(large, 'a', sizeof large);
		fake_http_answer(req, 200, "text/plain", large, sizeof large);
	} else if (strstr(f->path, "/binary")) {
		fake_http_answer(req, 200, "text/plain", "a\0b", 3);
	} else if (strstr(f->path, "/moved")) {
		evhttp_add_header(evhttp_request_get_output_headers(req), "Location", "/a.txt");
		fake_http_answer(req, 302, "text/plain", "", 0);
	} else if (strstr(f->path, "/gone")) {
		fake_http_answer(req, 404, "text/plain", "", 0);
	} else {
		fake_http_answer(req, 200, "text/plain", "h\xc3\xa9llo\xff", 7);
	}
}

static void on_spent(const struct roles_event *ev, void *arg)
{
	(void)ev;
	(void)arg;
}

static bool may_spend(void *arg)
{
	(void)arg;
	return true;
}

static bool begin(void)
{
	struct viewer_conf conf = {.spendh = on_spent, .mayh = may_spend, .guild = 7};
	char api[128];

	memset(&fx, 0, sizeof fx);
	if (!fake_http_begin(&fx.fake, server, NULL) || settings_alloc(&fx.settings))
		return false;
	snprintf(api, sizeof api, "%s/api/v10", fx.fake.base);
	if (settings_set(fx.settings, "discord_api", api) ||
	    fetcher_alloc(&fx.fetcher, fx.fake.env, fx.settings) || captions_alloc(&fx.captions))
		return false;
	conf.env = fx.fake.env;
	conf.http = fx.fake.http;
	conf.settings = fx.settings;
	conf.shared = (struct viewer_shared){.fetcher = fx.fetcher, .captions = fx.captions};
	return !viewer_alloc(&fx.viewer, &conf);
}

static void end(void)
{
	viewer_free(fx.viewer);
	fetcher_free(fx.fetcher);
	captions_free(fx.captions);
	settings_free(fx.settings);
	fake_http_end(&fx.fake);
}

static void on_view(const struct view_result *got, void *arg)
{
	(void)arg;
	fx.kind = got->kind;
	fx.cut = got->cut;
	snprintf(fx.text, sizeof fx.text, "%s", got->text ? got->text : "");
	fx.over = true;
	env_stop(fx.fake.env);
}

/* path: of the server, or a whole address. */
static int look(enum attached_kind kind, const char *path, uint64_t size, struct view **view)
{
	struct attached file = {.kind = kind, .id = 1, .size = size, .name = "f"};

	snprintf(file.url, sizeof file.url, "%s%s", *path == '/' ? fx.fake.base : "", path);
	fx.over = false;
	return viewer_look(view, fx.viewer, &(struct view_wish){.file = &file, .question = ""},
			   on_view, NULL);
}

static const char *seen(enum attached_kind kind, const char *path, uint64_t size)
{
	struct view *view;

	if (look(kind, path, size, &view))
		return "not looked at";
	while (!fx.over && !fx.fake.timed_out)
		env_run(fx.fake.env);
	return fx.text;
}

TEST(a_text_file_is_read_up_to_its_cap)
{
	CHECK(begin());
	CHECK_STR(seen(ATTACHED_TEXT, "/a.txt", 7), "h\xc3\xa9llo");
	CHECK(fx.kind == SEEN_FILE && !fx.cut);
	seen(ATTACHED_TEXT, "/long", 1);
	CHECK(fx.kind == SEEN_FILE && fx.cut);
	CHECK_STR(seen(ATTACHED_TEXT, "/binary", 3), "it is no text");
	CHECK_INT(fx.kind, SEEN_NOT);
	end();
}

TEST(what_cannot_be_fetched_is_said_to_be_so)
{
	CHECK(begin());
	CHECK_STR(seen(ATTACHED_TEXT, "/gone", 1),
		  "it could not be fetched: the server answers with the status 404");
	CHECK_STR(seen(ATTACHED_TEXT, "/moved", 1),
		  "it could not be fetched: the server answers with the status 302");
	CHECK_STR(seen(ATTACHED_TEXT, "http://127.0.0.1:9/a", 1), "it does not come from Discord");
	CHECK_STR(seen(ATTACHED_TEXT, "https://cdn.discordapp.com@127.0.0.1/", 1),
		  "it does not come from Discord");
	CHECK_STR(seen(ATTACHED_OTHER, "/a.txt", 1), "files of this kind are not read");
	CHECK_INT(fx.fake.requests, 2);
	end();
}

TEST(an_image_that_is_too_large_is_not_fetched)
{
	CHECK(begin());
	CHECK_STR(seen(ATTACHED_IMAGE, "/a.png", VIEWER_IMAGE_BYTES + 1), "it is too large");
	CHECK_INT(fx.fake.requests, 0);
	/* Without a jail nothing is decoded. */
	CHECK_STR(seen(ATTACHED_IMAGE, "/a.png", 7),
		  "The process that decodes pictures could not be started.");
	end();
}

/* Others are paid for with one question. */
TEST(images_for_a_session_count_as_described_ones)
{
	const struct attached file = {
		.kind = ATTACHED_IMAGE, .id = 1, .size = VIEWER_IMAGE_BYTES, .name = "f"};
	static const char refused[] =
		"as many images were looked at in this hour as the settings allow";
	struct view *view;

	CHECK(begin());
	CHECK(!settings_set(fx.settings, "captions_per_hour", "1"));
	for (unsigned i = 0; i < 4; i++) {
		const struct view_wish wish = {
			.file = &file, .images = i < 3, .counted = i != 1, .question = ""};

		fx.over = false;
		CHECK_INT(viewer_look(&view, fx.viewer, &wish, on_view, NULL), 0);
		CHECK_INT(fx.over && strcmp(fx.text, refused) == 0, i == 2);
		viewer_cancel(view);
	}
	end();
}

TEST(a_view_that_is_cancelled_tells_nothing)
{
	struct view *view;

	CHECK(begin());
	CHECK_INT(look(ATTACHED_TEXT, "/a.txt", 1, &view), 0);
	CHECK(view);
	viewer_cancel(view);
	CHECK(!fx.over);
	/* Those that are under way when it goes tell nothing either. */
	CHECK_INT(look(ATTACHED_TEXT, "/a.txt", 1, &view), 0);
	end();
	CHECK(!fx.over);
}

TEST(what_is_taken_back_is_looked_at_no_more)
{
	struct attached file = {.kind = ATTACHED_TEXT, .id = 1, .size = 1, .name = "f"};
	const struct view_wish wish = {.file = &file, .question = "", .message = 9, .user = 4};
	struct view *view;

	CHECK(begin());
	snprintf(file.url, sizeof file.url, "%s/a.txt", fx.fake.base);
	for (unsigned i = 0; i < 2; i++) {
		fx.over = false;
		CHECK_INT(viewer_look(&view, fx.viewer, &wish, on_view, NULL), 0);
		viewer_drop(fx.viewer, i ? 0 : 8, i ? 5 : 4);
		CHECK(!fx.over);
		viewer_drop(fx.viewer, i ? 0 : 9, i ? 4 : 5);
		CHECK(fx.over);
		CHECK_STR(fx.text, "it was taken back");
	}
	end();
}

TEST(so_many_files_are_looked_at_at_once)
{
	struct view *view;

	CHECK(begin());
	for (unsigned i = 0; i < VIEWER_AT_ONCE; i++)
		CHECK_INT(look(ATTACHED_TEXT, "/a.txt", 1, &view), 0);
	CHECK_INT(look(ATTACHED_TEXT, "/a.txt", 1, &view), EBUSY);
	end();
}
