#include "tests/talk/person.h"

#include "ipc/http.h"
#include "tests/guildd/httpd.h"
#include "tests/unit/ipc/loop.h"

/* A guildd that answers the n-th request with the n-th of these, and notes what it was asked. */
static struct fixture {
	struct loop l;
	struct httpd *server;
	struct http *http;
	struct person *person;
	const char *answers[4];
	unsigned asked;
	char paths[256], name[64], url[64];
} fx;

static void on_request(struct httpd_req *r, void *arg)
{
	const char *body = fx.asked < 4 ? fx.answers[fx.asked] : NULL;
	const char *name = json_string_value(json_object_get(r->body, "name"));
	size_t at;

	(void)arg;
	fx.asked++;
	if (name)
		snprintf(fx.name, sizeof fx.name, "%s", name);
	for (unsigned i = 0; i < r->n_seg; i++) {
		at = strlen(fx.paths);
		snprintf(fx.paths + at, sizeof fx.paths - at, "/%s", r->seg[i]);
	}
	at = strlen(fx.paths);
	snprintf(fx.paths + at, sizeof fx.paths - at, " ");
	httpd_reply(r, body ? 200 : 404, body ? json_loads(body, 0, NULL) : NULL);
	if (strstr(fx.paths, "/leave"))
		env_stop(fx.l.env);
}

static void on_changed(void *arg)
{
	(void)arg;
	if (fx.person && person_phase(fx.person) == PERSON_FAILED)
		env_stop(fx.l.env);
}

static void on_heard(uint64_t user, const uint8_t *pcm, size_t n, void *arg)
{
	(void)user;
	(void)pcm;
	(void)n;
	(void)arg;
}

static int begin(const char *first, const char *second)
{
	struct person_conf pc = {.api = fx.url,
				 .mediad = "no-such-mediad",
				 .run_dir = "/tmp",
				 .guild = 7,
				 .channel = 8,
				 .name = "Ann",
				 .rate = 48000,
				 .changedh = on_changed,
				 .heardh = on_heard};
	int err;

	memset(&fx, 0, sizeof fx);
	fx.answers[0] = first;
	fx.answers[1] = second;
	err = loop_open(&fx.l, NULL);
	if (!err)
		err = httpd_alloc(&fx.server, fx.l.env, "127.0.0.1", 0, on_request, NULL);
	if (!err)
		err = http_alloc(&fx.http, fx.l.env, NULL, "Tester");
	if (err)
		return err;
	snprintf(fx.url, sizeof fx.url, "http://127.0.0.1:%u", httpd_port(fx.server));
	pc.env = fx.l.env;
	pc.http = fx.http;
	return person_alloc(&fx.person, &pc);
}

static void end(void)
{
	fx.person = person_free(fx.person);
	http_free(fx.http);
	httpd_free(fx.server);
	loop_close(&fx.l);
}

TEST(person_is_made_a_user_and_a_member_before_its_mediad_starts)
{
	CHECK_INT(begin("{\"id\":\"501501501501501501\"}", "{}"), 0);
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.paths, "/users /guilds/7/members ");
	CHECK_STR(fx.name, "Ann");
	CHECK(person_user(fx.person) == 501501501501501501);
	CHECK_STR(person_trouble(fx.person),
		  "Your mediad could not be started: No such file or directory.");
	/* Whoever came in leaves. */
	fx.person = person_free(fx.person);
	CHECK(loop_run(&fx.l));
	CHECK(strstr(fx.paths, "/users/501501501501501501/leave "));
	end();
}

TEST(person_that_is_not_let_in_is_told_so)
{
	CHECK_INT(begin(NULL, NULL), 0);
	CHECK(loop_run(&fx.l));
	CHECK_STR(person_trouble(fx.person), "The local room did not let you in (HTTP 404 ).");
	end();
	CHECK_INT(begin("{\"id\":\"x\"}", NULL), 0);
	CHECK(loop_run(&fx.l));
	CHECK_STR(person_trouble(fx.person), "The local room's answer made no sense.");
	CHECK(!person_user(fx.person));
	end();
}

TEST(person_that_is_not_up_or_muted_takes_sound_and_drops_it)
{
	uint8_t pcm[4001] = {0};

	memset(pcm, 0x30, sizeof pcm);
	CHECK_INT(begin(NULL, NULL), 0);
	person_speak(fx.person, pcm, sizeof pcm);
	person_mute(fx.person, true);
	CHECK(person_muted(fx.person) && !person_speaking(fx.person));
	person_speak(fx.person, pcm, sizeof pcm);
	CHECK(!person_speaking(fx.person));
	end();
}

TEST_OOM(person_survives_no_memory)
{
	int err = begin("{\"id\":\"501501501501501501\"}", "{}");

	if (!err && person_phase(fx.person) != PERSON_FAILED)
		loop_run(&fx.l);
	end();
	CHECK_OOM(err, (void)0);
}
