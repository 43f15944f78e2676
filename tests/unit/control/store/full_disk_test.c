/* A full disk: what takes something away gets the room of the reserve (control/store/reserve.h). */
#include <sys/wait.h>
#include <unistd.h>

#include "control/store/db.h"
#include "control/store/reserve.h"
#include "control/store_commands.h"
#include "tests/unit/control/store/small_disk.h"
#include "tests/unit/control/store/store_scene.h"

enum { SKIPPED = 77, RESERVE = 2 << 20 };
#define ANA UINT64_C(501000000000000000)

static struct store_scene *const s = &store_scene;

static void on_document(int err, const struct store_document *document, void *arg)
{
	(void)arg;
	s->err = err;
	snprintf(s->document, sizeof s->document, "%s", document->document);
	env_stop(s->l.env);
}

static void on_list(int err, const struct store_document *list, size_t n, void *arg)
{
	(void)list;
	(void)n;
	(void)arg;
	s->err = err;
	env_stop(s->l.env);
}

static void on_done(int err, void *arg)
{
	(void)arg;
	s->err = err;
	env_stop(s->l.env);
}

static struct store_facts by_ana(const char *request)
{
	return (struct store_facts){
		.guild = 7, .user = ANA, .name = "Ana", .since_ms = 1, .request = request};
}

/* Of every job; err: of asking. */
static bool went_well(int err)
{
	return !err && loop_run(&s->l) && !s->err;
}

static bool write_fact(void)
{
	struct store_facts f = by_ana("[{\"text\":\"my bike is red\",\"tags\":[]}]");

	return went_well(store_write_facts(s->store, &f, on_document, NULL));
}

static bool forget_fact(void)
{
	struct store_facts f = by_ana("{\"words\":\"my bike\"}");

	return went_well(store_forget_facts(s->store, &f, on_document, NULL)) &&
	       strstr(s->document, "\"id\":1");
}

static bool refuse(void)
{
	const struct store_consent c = {
		.guild = 7, .user = ANA, .before = "default", .after = "neither", .via = "test"};

	return went_well(store_put_consent(s->store, &c, on_done, NULL));
}

static bool erase(void)
{
	return went_well(store_begin_erasure(s->store, ANA, false, on_list, NULL)) &&
	       went_well(store_erase_person(s->store, ANA, "test", false, on_document, NULL));
}

static bool fill_disk(void)
{
	static const char block[512];
	char path[64];
	FILE *f;

	snprintf(path, sizeof path, "%s/filler", s->dir);
	f = fopen(path, "a");
	if (!f)
		return false;
	setbuf(f, NULL);
	while (fwrite(block, 1, sizeof block, f) == sizeof block)
		;
	fclose(f);
	return true;
}

/* Runs on a full file system of 12 MiB. Exit status: 0 well, SKIPPED: it cannot be mounted here. */
static int run_full(bool restarts, bool (*run)(void))
{
	if (!small_disk_mount(s->dir, "12m"))
		return SKIPPED;
	reserve_make(s->dir, RESERVE);
	store_scene_open(NULL);
	if (!write_fact())
		return 1;
	if (restarts)
		store_scene_close();
	if (!fill_disk())
		return 2;
	if (restarts)
		store_scene_open(NULL);
	if (!run())
		return 3;
	return reserve_drop(s->dir) ? 4 : 0;
}

static void check_full(bool restarts, bool (*run)(void))
{
	int status = 0;
	pid_t pid;

	store_scene_begin();
	pid = fork();
	if (pid == 0)
		_exit(run_full(restarts, run));
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	store_scene_end();
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
		test_skip("a full disk needs root, or user namespaces, to mount one");
		return;
	}
	CHECK(WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 0);
}

TEST(a_fact_is_forgotten_on_a_full_disk)
{
	check_full(false, forget_fact);
}

TEST(a_refusal_is_saved_on_a_full_disk)
{
	check_full(false, refuse);
}

/* Without a control that runs. */
static bool erase_by_command(void)
{
	store_scene_close();
	return fill_disk() && store_command_erase(s->dir, "501000000000000000", NULL) == 0;
}

TEST(a_command_erases_on_a_full_disk)
{
	check_full(false, erase_by_command);
}

TEST(a_person_is_erased_after_a_start_on_a_full_disk)
{
	check_full(true, erase);
}
