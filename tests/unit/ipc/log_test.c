#include "ipc/log.h"
#include "ipc/log_pairs.h"
#include "tests/test.h"

#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char out[65536];

/* What `say` writes to stderr, in out. The process's own settings are put back. */
static bool capture(void (*say)(void))
{
	int saved = dup(STDERR_FILENO), fd[2];
	ssize_t n;

	out[0] = '\0';
	if (saved < 0 || pipe(fd))
		return false;
	fcntl(fd[0], F_SETFL, O_NONBLOCK);
	fflush(stderr);
	dup2(fd[1], STDERR_FILENO);
	log_init("tester", LOG_INFO_);
	say();
	dup2(saved, STDERR_FILENO);
	log_init("parley", LOG_INFO_);
	close(saved);
	close(fd[1]);
	n = read(fd[0], out, sizeof out - 1);
	close(fd[0]);
	out[n > 0 ? n : 0] = '\0';
	return true;
}

static void say_plain(void)
{
	log_info("call_up", "call=%u text=%s", 7u, "two words");
	log_debug("hidden", "x=%d", 1);
	log_warn("bare", "%s", "");
}

TEST(a_line_names_level_process_event_and_pairs)
{
	CHECK(capture(say_plain));
	CHECK(strstr(out, "Z info tester call_up call=7 text=\"two words\"\n"));
	CHECK(!strstr(out, "hidden"));
	CHECK(strstr(out, "Z warn tester bare\n"));
	CHECK(!strchr(out, '\033')); /* no terminal, no colour */
	/* 2026-01-02T03:04:05.678Z */
	CHECK(out[4] == '-' && out[10] == 'T' && out[19] == '.' && out[23] == 'Z');
}

static void say_keys(void)
{
	char text[32];

	for (unsigned i = 0; i < 20; i++) {
		snprintf(text, sizeof text, "key-of-provider-%02u", i);
		log_info("failed", "answer=%s", text);
	}
}

/* As many leases as a long life brings. */
static void say_json(void)
{
	log_set_json(true);
	log_info("call_up", "call=%u text=\"%s\" bare %s", 7u, "a=\"b\" c\\\n\x7f", "word=x");
	log_warn("name", "name=%s", "J\xc3\xb6rg \xc2\x85 \xff \xc3");
	log_warn("bare", "%s", "");
	log_set_json(false);
}

/* The line of that number, or NULL. */
static json_t *line_json(unsigned i)
{
	const char *at = out;

	while (i-- && at)
		at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
	return at ? json_loads(at, JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, NULL) : NULL;
}

static const char *field(const json_t *line, const char *name)
{
	return json_string_value(json_object_get(json_object_get(line, "fields"), name));
}

TEST(lines_are_json_on_demand)
{
	json_t *line;

	CHECK(capture(say_json));
	line = line_json(0);
	CHECK_STR(json_string_value(json_object_get(line, "event")), "call_up");
	CHECK_STR(json_string_value(json_object_get(line, "level")), "info");
	CHECK_STR(json_string_value(json_object_get(line, "process")), "tester");
	CHECK_INT(strlen(json_string_value(json_object_get(line, "time"))), 24);
	CHECK_STR(field(line, "call"), "7");
	CHECK_STR(field(line, "text"), "a=\"b\" c\\\n\x7f bare word=x");
	json_decref(line);
	line = line_json(1);
	CHECK_STR(field(line, "name"), "J\xc3\xb6rg \xc2\x85  ");
	json_decref(line);
	line = line_json(2);
	CHECK_INT(json_object_size(json_object_get(line, "fields")), 0);
	json_decref(line);
}

static void say_pairs(void)
{
	log_set_json(true);
	log_write_pairs(
		LOG_INFO_, "turn",
		"turn=3 heard=\"so \\\"reason=answered\\\" a\\\\b\" said=\"\" reason=noise=x");
	log_set_json(false);
	log_write_pairs(LOG_INFO_, "turn", "turn=3 heard=\"a b\"");
}

TEST(pairs_that_are_written_already_are_fields_of_json)
{
	json_t *line;

	CHECK(capture(say_pairs));
	line = line_json(0);
	CHECK_INT(json_object_size(json_object_get(line, "fields")), 4);
	CHECK_STR(field(line, "turn"), "3");
	CHECK_STR(field(line, "heard"), "so \"reason=answered\" a\\b");
	CHECK_STR(field(line, "said"), "");
	CHECK_STR(field(line, "reason"), "noise=x");
	json_decref(line);
	CHECK(strstr(out, "turn turn=3 heard=\"a b\"\n") != NULL);
}

static void say_long_json(void)
{
	static char long_text[6000];

	memset(long_text, '"', sizeof long_text - 1);
	log_set_json(true);
	log_info("long", "a=%s b=1", long_text);
	long_text[2990] = '\0';
	log_info("long", "a=%s b=1", long_text);
	memset(long_text, '\1', 2990);
	log_info("long", "a=%s b=1", long_text);
	log_set_json(false);
}

TEST(a_json_line_that_is_cut_is_json)
{
	CHECK(capture(say_long_json));
	for (unsigned i = 0; i < 3; i++) {
		json_t *line = line_json(i);

		CHECK(field(line, "a"));
		json_decref(line);
	}
}

static void say_louder(void)
{
	log_debug("hidden", "x=%d", 1);
	log_set_level(LOG_DEBUG_);
	log_debug("shown", "x=%d", 1);
	log_set_level(LOG_WARN_);
	log_info("hidden", "x=%d", 2);
}

TEST(the_level_can_change)
{
	CHECK(capture(say_louder));
	CHECK(strstr(out, "shown") && !strstr(out, "hidden"));
}

TEST(leases_take_no_place_of_a_key)
{
	char text[32];

	for (unsigned i = 0; i < 20; i++) {
		snprintf(text, sizeof text, "key-of-provider-%02u", i);
		log_secret(text);
	}
	for (unsigned i = 0; i < 100; i++) {
		snprintf(text, sizeof text, "lease-of-a-session-%02u", i);
		log_lease(text);
	}
	CHECK(capture(say_keys));
	CHECK(strstr(out, "answer=***") && !strstr(out, "key-of-provider"));
}

/* In a process that was started with its standard descriptors closed: what of them is open now, or
 * a file that is opened next gets a number of theirs. */
static int start_closed(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		close(fd);
	log_init("tester", LOG_INFO_);
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return fd <= STDERR_FILENO;
}

TEST(log_goes_to_no_descriptor_of_somebody_else)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(start_closed());
	CHECK(pid > 0);
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
}

static void say_control(void)
{
	log_info("x", "text=%s", "a\nfatal forged=1\033[31m\x7f\r end\"q\"");
}

TEST(control_bytes_and_quotes_cannot_forge_a_line)
{
	char *nl;

	CHECK(capture(say_control));
	nl = strchr(out, '\n');
	CHECK(nl && !nl[1]);
	for (char *p = out; p < nl; p++)
		CHECK((unsigned char)*p >= 0x20 && *p != 0x7f);
	CHECK(strstr(out, "\\n"));
	CHECK(strstr(out, "\\\"q\\\""));
}

static void say_forged(void)
{
	log_info("x", "text=%s n=%d",
		 "a\x1f"
		 "forged=1",
		 1);
	log_info("x", "text=%s", "\"a\" forged=\"1\"");
	log_info("x", "text=\"%s\" n=%d", "a\" forged=1 b=\"", 2);
	log_info("x", "text=\"%s\"", "\x1d\x1e\x1c\x1a");
	log_info("x", "why=\"set a=b now\" dir=%s", "\\");
	log_info("x", "text=%s %s n=%d", "one", "two=2", 3);
}

/* A reader that knows quotes and backslashes sees the format's pairs, and no other. */
static void say_c1(void)
{
	log_info("named", "name=%s city=%s",
		 "a\xc2\x9b"
		 "2Jb",
		 "Z\xc3\xbcrich");
}

/* A terminal takes U+009B for ESC [. */
TEST(control_characters_of_two_bytes_are_escaped_too)
{
	CHECK(capture(say_c1));
	CHECK(strstr(out, "name=a\\xc2\\x9b2Jb city=Z\xc3\xbcrich\n"));
}

TEST(values_cannot_look_like_another_pair)
{
	CHECK(capture(say_forged));
	CHECK(strstr(out, "x text=a\\x1aforged=1 n=1\n"));
	CHECK(strstr(out, "x text=\"\\\"a\\\" forged=\\\"1\\\"\"\n"));
	CHECK(strstr(out, "x text=\"a\\\" forged=1 b=\\\"\" n=2\n"));
	CHECK(strstr(out, "x text=\"\\x1a\\x1a\\x1c\\x1a\"\n"));
	CHECK(strstr(out, "x why=\"set a=b now\" dir=\\\n"));
	CHECK(strstr(out, "x text=\"one two=2\" n=3\n"));
}

#define SECRET "sk-hush-0123456789"

static void say_secret(void)
{
	log_secret(SECRET);
	log_secret(SECRET);
	log_secret("five5"); /* too short to be one */
	log_secret(NULL);
	log_info("x", "a=%s b=%s%s", SECRET, "Bearer " SECRET, SECRET);
	log_info("y", "word=five5");
}

TEST(a_secret_prints_as_stars)
{
	CHECK(capture(say_secret));
	CHECK(!strstr(out, SECRET) && !strstr(out, "hush"));
	CHECK(strstr(out, "a=*** b=\"Bearer ******\""));
	CHECK(strstr(out, "word=five5"));
}

static void say_cut_secret(void)
{
	log_secret(SECRET);
	log_info("said", "why=\"%.*s\" n=1", (int)strlen(SECRET) - 1, SECRET);
	log_secret("sk-hush-01234-a");
	log_info("said", "twins=\"%s %s\"", "sk-hush-01234-a", SECRET);
}

/* A provider that quotes a key, in an error that is cut to its first bytes. */
TEST(a_cut_value_shows_no_part_of_a_secret)
{
	CHECK(strlen(SECRET) > 12);
	CHECK(capture(say_cut_secret));
	CHECK(strstr(out, "why=\"***\" n=1"));
	CHECK(strstr(out, "twins=\"*** ***\""));
}

/* Where in a line that is too long the secret begins. */
static size_t place;

static void say_long_at(void)
{
	static char text[8192];

	memset(text, 'x', sizeof text - 1);
	memcpy(text + place, SECRET, sizeof SECRET - 1);
	log_info("z", "text=%s", text);
}

TEST(a_cut_line_shows_no_part_of_a_secret)
{
	log_secret(SECRET);
	for (place = 1900; place < 3200; place++) {
		CHECK(capture(say_long_at));
		CHECK(!strstr(out, "sk-"));
		CHECK(out[0] && strlen(out) <= 4096 && strchr(out, '\n') == out + strlen(out) - 1);
	}
}

static char long_token[4001];

static void say_token_at(void)
{
	static char text[8192];

	memset(text, 'x', sizeof text - 1);
	memcpy(text + place, long_token, sizeof long_token - 1);
	log_info("z", "text=%s", text);
}

/* An access token may be longer than a line. */
TEST(a_cut_line_shows_no_part_of_a_long_lease)
{
	for (size_t i = 0; i < sizeof long_token - 1; i++)
		long_token[i] = "tokenTOKEN0123456789"[i * 7 % 20];
	log_lease(long_token);
	for (place = 0; place < 3200; place += 37) {
		char part[9] = "";

		CHECK(capture(say_token_at));
		memcpy(part, long_token + 40, 8);
		CHECK(!strstr(out, part));
		CHECK(out[0] && strlen(out) <= 4096);
	}
}

static void say_many(void)
{
	char s[64];

	for (int i = 0; i < 300; i++) {
		snprintf(s, sizeof s, "lease-number-%02d-end", i);
		log_lease(s);
	}
	log_info("x", "v=%s", s);
}

TEST(the_newest_secret_always_counts)
{
	CHECK(capture(say_many));
	CHECK(strstr(out, "v=***"));
}

static void renew_many(void)
{
	char s[2][64] = {"", "token-of-a-server-000"};

	log_lease("token-of-a-voice-session");
	for (int i = 0; i < 300; i++) {
		snprintf(s[i % 2], sizeof s[0], "token-of-a-server-%03d", i);
		log_lease_again(s[(i + 1) % 2], s[i % 2]);
	}
	log_info("x", "v=%s w=%s", "token-of-a-voice-session", s[1]);
}

/* A server that renews its tokens all the time crowds out none of the others. */
TEST(a_renewed_lease_takes_the_place_of_the_old_one)
{
	CHECK(capture(renew_many));
	CHECK(strstr(out, "v=*** w=***"));
}

TEST(levels_are_known_by_name)
{
	enum log_level l = LOG_INFO_;

	CHECK(log_level_parse("trace", &l) && l == LOG_TRACE_);
	CHECK(log_level_parse("fatal", &l) && l == LOG_FATAL_);
	CHECK(!log_level_parse("loud", &l) && !log_level_parse("", &l) &&
	      !log_level_parse(NULL, &l));
	CHECK(l == LOG_FATAL_);
}

static void say_by_writer(void)
{
	log_start_writer(NULL);
	for (unsigned i = 0; i < 200; i++)
		log_info("line", "n=%u", i);
	log_stop_writer();
	log_info("line", "n=after");
}

TEST(a_thread_writes_all_lines_in_their_order)
{
	const char *at = out;

	CHECK(capture(say_by_writer));
	for (unsigned i = 0; i < 200; i++) {
		char want[24];

		snprintf(want, sizeof want, " line n=%u\n", i);
		at = strstr(at, want);
		CHECK(at);
	}
	CHECK(strstr(at, " line n=after\n"));
}

static bool has_begun;

static void note_begin(void)
{
	log_info("begin", "n=1"); /* as a thread that cannot lock itself down */
	has_begun = true;
}

static void say_after_begin(void)
{
	log_start_writer(note_begin);
	if (has_begun)
		log_info("line", "n=2");
	log_stop_writer();
}

TEST(a_writer_begins_with_a_step_of_its_owner)
{
	CHECK(capture(say_after_begin));
	CHECK(strstr(out, " begin n=1\n") && strstr(out, " line n=2\n"));
}

static void say_to_nobody(void)
{
	int fd[2];

	if (pipe(fd) || dup2(fd[1], STDERR_FILENO) < 0 || log_start_writer(NULL))
		_exit(2);
	for (unsigned i = 0; i < 200; i++)
		log_warn("line", "text=%0900d", i);
	log_stop_writer();
	_exit(0);
}

/* Whoever reads stderr has stopped for good. */
TEST(a_writer_that_stalls_does_not_keep_the_process)
{
	pid_t child = fork();
	int status = -1;

	if (!child)
		say_to_nobody();
	for (unsigned i = 0; i < 100 && waitpid(child, &status, WNOHANG) == 0; i++)
		usleep(100000);
	if (status == -1)
		kill(child, SIGKILL);
	CHECK_INT(status, 0);
}

/* Whoever reads stderr has stopped: those who log go on, and the lines that did not fit are
 * counted. */
TEST(a_writer_that_stalls_delays_nobody_and_counts_what_it_drops)
{
	int saved = dup(STDERR_FILENO), fd[2], null = open("/dev/null", O_WRONLY);

	CHECK(saved >= 0 && null >= 0 && pipe(fd) == 0);
	dup2(fd[1], STDERR_FILENO);
	CHECK_INT(log_start_writer(NULL), 0);
	for (unsigned i = 0; i < 1000; i++)
		log_warn("line", "text=%0900d", i);
	dup2(null, STDERR_FILENO); /* later lines go there */
	while (read(fd[0], out, sizeof out) == sizeof out)
		;
	log_stop_writer();
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(null);
	close(fd[0]);
	close(fd[1]);
}
