#include "tests/chaos/cluster.h"

#include "ipc/frame.h"
#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/chaos/children.h"
#include "tests/chaos/music.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	RESTART_MS = 40,
	START_MS = 15000,
	ASK_MS = 8000,
	REPLY_MAX = 1 << 20,
	/* mediad replaces a decoder that has decoded a second of sound, which takes much less. */
	REPLACED_AFTER_MS = 1000,
};

uint64_t chaos_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ns_of_timespec(&ts);
}

void chaos_sleep(unsigned ms)
{
	struct timespec ts = {ms / 1000, (long)(ms % MS_PER_S * NS_PER_MS)};

	nanosleep(&ts, NULL);
}

unsigned cluster_index(enum cluster_program what, enum chaos_who who)
{
	return what == CLUSTER_SERVER	? 0
	       : what == CLUSTER_MEDIAD ? 1u + who
					: 1u + CHAOS_PEOPLE + who;
}

static const char *name_of(unsigned at)
{
	static const char *const names[CLUSTER_PROCESSES] = {
		"guildd",      "mediad-bot",	"mediad-alice", "mediad-bob",
		"control-bot", "control-alice", "control-bob"};

	return names[at];
}

static void trouble(struct cluster *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void trouble(struct cluster *h, const char *fmt, ...)
{
	va_list ap;

	if (h->trouble[0])
		return;
	va_start(ap, fmt);
	vsnprintf(h->trouble, sizeof h->trouble, fmt, ap);
	va_end(ap);
}

/* ---- what /proc knows ---- */

unsigned cluster_count_fds(pid_t pid)
{
	char path[64];
	unsigned n = 0;
	DIR *d;

	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));)
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

const char *cluster_fd_names(pid_t pid)
{
	static char text[600];
	char path[64], link[80];
	size_t n = 0;

	text[0] = '\0';
	for (unsigned fd = 0; fd < 64; fd++) {
		ssize_t k;

		snprintf(path, sizeof path, "/proc/%d/fd/%u", (int)pid, fd);
		k = readlink(path, link, sizeof link - 1);
		if (k > 0 && n < sizeof text)
			n += (size_t)snprintf(text + n, sizeof text - n, " %u=%.*s", fd, (int)k,
					      link);
	}
	return text;
}

unsigned cluster_status(pid_t pid, const char *field)
{
	char path[64], line[256];
	unsigned value = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, field, strlen(field)) && line[strlen(field)] == ':')
			value = (unsigned)strtoul(line + strlen(field) + 1, NULL, 10);
	if (f)
		fclose(f);
	return value;
}

/* ---- starting ---- */

static void socket_of(const struct cluster *h, enum chaos_who who, char *buf, size_t size)
{
	snprintf(buf, size, "%s/%s.sock", h->folder, chaos_who_name(who));
}

bool cluster_log_has(const struct cluster *h, const char *word)
{
	char path[128], line[512];
	bool last = false;
	FILE *f;

	snprintf(path, sizeof path, "%s/%s.log", h->folder,
		 name_of(cluster_index(CLUSTER_CONTROL, CHAOS_BOT)));
	f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		if (strstr(line, " call_state "))
			last = strstr(line, word);
	if (f)
		fclose(f);
	return last;
}

/* The child's side up to the program: it ends with us, and its words go to its log. */
static void become(const struct cluster *h, unsigned at)
{
	char path[128];
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(path, sizeof path, "%s/%s.log", h->folder, name_of(at));
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	dup2(fd, STDERR_FILENO);
	dup2(fd, STDOUT_FILENO);
	fd = open("/dev/null", O_RDONLY);
	dup2(fd, STDIN_FILENO);
	for (int i = 3; i < 256; i++)
		close(i);
}

/* argv[0] is the program, the rest its arguments. A folder made by `make chaos-kit` has the loader
 * and the shared libraries as well, for machines that lack them. */
static void run_program(const struct cluster *h, char *const *argv)
{
	char loader[400], lib[350];
	char *with[32] = {loader, "--library-path", lib};

	/* Nothing here is signed by a public authority, and to read all of those at each start was
	 * a quarter of the CPU time of a run. */
	setenv("SSL_CERT_FILE", "/dev/null", 1);
	snprintf(lib, sizeof lib, "%s/lib", h->bin);
	snprintf(loader, sizeof loader, "%s/loader", lib);
	for (unsigned i = 0; argv[i] && i + 4 < sizeof with / sizeof with[0]; i++)
		with[3 + i] = argv[i];
	if (access(loader, X_OK) == 0)
		execv(loader, with);
	else
		execv(argv[0], argv);
}

static void start_server(const struct cluster *h)
{
	char program[300];
	char *argv[] = {program,
			"--ready-file",
			(char *)h->ready,
			"--set",
			"voice_heartbeat_ms=500",
			"--set",
			"voice_grace_ms=2500",
			"--set",
			"voice_identify_ms=3000",
			"--set",
			"voice_resume_ms=4000",
			"--set",
			"dave_ready_ms=600",
			"--set",
			"dave_commit_ms=2000",
			"--set",
			"dave_verify_first=1",
			NULL};

	snprintf(program, sizeof program, "%s/guildd", h->bin);
	run_program(h, argv);
}

/* A disk that is full after so many bytes: EFBIG where a real one says ENOSPC. */
static void fill_disk(unsigned kb)
{
	struct rlimit lim = {(rlim_t)kb * 1024, (rlim_t)kb * 1024};

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &lim);
}

static void start_mediad(const struct cluster *h, enum chaos_who who)
{
	char program[300], sock[128], lib[300], music[160];
	char *argv[20] = {program, "--listen", sock, "--ca", (char *)h->ca, "--threads", "1"};
	unsigned n = 7;

	snprintf(program, sizeof program, "%s/mediad", h->bin);
	socket_of(h, who, sock, sizeof sock);
	if (getenv("CHAOS_MEDIAD_ARG"))
		argv[n++] = getenv("CHAOS_MEDIAD_ARG");
	if (getenv("CHAOS_LOG")) {
		argv[n++] = "--log";
		argv[n++] = getenv("CHAOS_LOG");
	}
	if (h->music) {
		snprintf(music, sizeof music, "%s/music%s", h->folder,
			 h->real && who == CHAOS_BOT ? "/bot" : "");
		argv[n++] = "--music-root";
		argv[n++] = music;
	}
	if (who == CHAOS_BOT && h->journal_kb) {
		argv[n++] = "--journal";
		argv[n++] = (char *)h->journal;
		fill_disk(h->journal_kb);
	}
	if (h->clocked) {
		snprintf(lib, sizeof lib, "%s/chaos_clock.so", h->bin);
		setenv("LD_PRELOAD", lib, 1);
		setenv("CHAOS_CLOCK", h->clock, 1);
	}
	run_program(h, argv);
}

static void start_control(const struct cluster *h, enum chaos_who who)
{
	char program[300], sock[128], state[128], music[160];
	char *argv[] = {program,
			"--media-sock",
			sock,
			"--state-dir",
			state,
			"--ca",
			(char *)h->ca,
			"--guild",
			"41771983423143937",
			"--channel",
			"127121515262115840",
			NULL};

	socket_of(h, who, sock, sizeof sock);
	if (!h->real || who != CHAOS_BOT) {
		struct agent_conf conf = {.who = who,
					  .api = h->api,
					  .socket = sock,
					  .epoch = h->epoch,
					  .music = h->music,
					  .state = &h->state[who]};

		_exit(agent_run(&conf));
	}
	snprintf(program, sizeof program, "%s/control", h->bin);
	snprintf(state, sizeof state, "%s/state", h->folder);
	setenv("DISCORD_TOKEN", "guildd.bot.token", 1);
	setenv("PARLEY_DISCORD_API", h->rest, 1);
	if (h->music) {
		snprintf(music, sizeof music, "%s/music/bot", h->folder);
		setenv("PARLEY_MUSIC_FOLDERS", music, 1);
		setenv("PARLEY_MUSIC_CONTROL", "everyone", 1);
	}
	setenv("PARLEY_BRAIN_URL", "ws://127.0.0.1:9/",
	       1); /* nobody is there: this is not about answers */
	run_program(h, argv);
}

static void start(struct cluster *h, enum cluster_program what, enum chaos_who who)
{
	unsigned at = cluster_index(what, who);
	pid_t parent = getpid(), pid;

	h->epoch++;
	if (what == CLUSTER_MEDIAD && who == CHAOS_BOT && h->journal_kb)
		snprintf(h->journal, sizeof h->journal, "%s/journal-%llu", h->folder,
			 (unsigned long long)h->epoch);
	pid = fork();
	if (pid < 0)
		trouble(h, "fork: %s", strerror(errno));
	if (pid) {
		h->proc[at].pid = pid > 0 ? pid : 0;
		h->proc[at].frozen = false;
		h->proc[at].restart_at = 0;
		return;
	}
	become(h, at);
	if (getppid() != parent)
		_exit(126);
	if (what == CLUSTER_SERVER)
		start_server(h);
	else if (what == CLUSTER_MEDIAD)
		start_mediad(h, who);
	else
		start_control(h, who);
	fprintf(stderr, "%s cannot be started from %s: %s\n", name_of(at), h->bin, strerror(errno));
	_exit(127);
}

static bool read_ready(struct cluster *h)
{
	json_t *o = json_load_file(h->ready, 0, NULL);
	const char *ca = json_string_value(json_object_get(o, "ca")),
		   *rest = json_string_value(json_object_get(o, "rest"));
	const char *api = json_string_value(json_object_get(o, "control"));
	bool ok = ca && rest && api && strrchr(api, ':');

	if (ok) {
		snprintf(h->ca, sizeof h->ca, "%s", ca);
		snprintf(h->rest, sizeof h->rest, "%s", rest);
		snprintf(h->api, sizeof h->api, "%s", api);
		h->port = (unsigned)strtoul(strrchr(api, ':') + 1, NULL, 10);
	}
	json_decref(o);
	return ok;
}

/* Waits until mediad has closed its end as well: what it holds is measured soon. */
static bool listens(const struct cluster *h, enum chaos_who who)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct timeval limit = {START_MS / MS_PER_S, 0};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char byte;
	bool ok;

	socket_of(h, who, a.sun_path, sizeof a.sun_path);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	ok = connect(fd, (struct sockaddr *)&a, sizeof a) == 0 && shutdown(fd, SHUT_WR) == 0 &&
	     recv(fd, &byte, sizeof byte, 0) == 0;
	close(fd);
	return ok;
}

static bool wait_for(struct cluster *h, bool (*done)(struct cluster *h))
{
	uint64_t until = chaos_now() + START_MS * NS_PER_MS;

	while (!done(h)) {
		cluster_tick(h);
		if (h->trouble[0])
			return false;
		if (chaos_now() > until) {
			trouble(h, "the programs did not start in time");
			return false;
		}
		chaos_sleep(5);
	}
	return true;
}

static bool all_listen(struct cluster *h)
{
	for (unsigned w = 0; w < CHAOS_PEOPLE; w++)
		if (!listens(h, (enum chaos_who)w))
			return false;
	return true;
}

/* What an idle mediad holds. Its threads are there when it listens; our own health checks end soon.
 */
static void take_baseline(struct cluster *h)
{
	for (unsigned w = 0; w < CHAOS_PEOPLE; w++) {
		struct cluster_process *p =
			&h->proc[cluster_index(CLUSTER_MEDIAD, (enum chaos_who)w)];

		for (unsigned same = 0, tries = 0; same < 4 && tries < 100; tries++) {
			unsigned fds = cluster_count_fds(p->pid);

			same = fds == p->fds ? same + 1 : 0;
			p->fds = fds;
			chaos_sleep(5);
		}
		p->threads = cluster_status(p->pid, "Threads");
	}
}

static bool make_clock(struct cluster *h)
{
	int64_t zero = 0;
	int fd = open(h->clock, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	bool ok = fd >= 0 && write(fd, &zero, sizeof zero) == sizeof zero;

	if (fd >= 0)
		close(fd);
	return ok;
}

static bool make_music(const struct cluster *h)
{
	char folder[160];

	snprintf(folder, sizeof folder, "%s/music", h->folder);
	errno = chaos_music_write(folder);
	return !errno;
}

bool cluster_open(struct cluster *h, const char *bin, const struct chaos_script *s)
{
	*h = (struct cluster){.real = s->real,
			      .journal_kb = s->journal_kb,
			      .music = s->music,
			      .supervised = true,
			      .epoch = 1};
	snprintf(h->bin, sizeof h->bin, "%s", bin);
	snprintf(h->folder, sizeof h->folder, "/tmp/parley-chaos.XXXXXX");
	h->state = mmap(NULL, sizeof *h->state * CHAOS_PEOPLE, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (h->state == MAP_FAILED || !mkdtemp(h->folder)) {
		trouble(h, "%s: %s", h->folder, strerror(errno));
		h->folder[0] = '\0';
		return false;
	}
	snprintf(h->ready, sizeof h->ready, "%s/ready", h->folder);
	snprintf(h->clock, sizeof h->clock, "%s/clock", h->folder);
	for (unsigned i = 0; i < s->n; i++)
		h->clocked |= s->step[i].verb == CHAOS_WALL;
	if (h->clocked && !make_clock(h)) {
		trouble(h, "%s: %s", h->clock, strerror(errno));
		return false;
	}
	if (h->music && !make_music(h)) {
		trouble(h, "no files of music: %s", strerror(errno));
		return false;
	}
	start(h, CLUSTER_SERVER, CHAOS_ALL);
	if (!wait_for(h, read_ready))
		return false;
	for (unsigned w = 0; w < CHAOS_PEOPLE; w++)
		start(h, CLUSTER_MEDIAD, (enum chaos_who)w);
	if (!wait_for(h, all_listen))
		return false;
	take_baseline(h);
	for (unsigned w = 0; w < CHAOS_PEOPLE; w++)
		start(h, CLUSTER_CONTROL, (enum chaos_who)w);
	return true;
}

/* ---- life and death ---- */

void cluster_tick(struct cluster *h)
{
	uint64_t now = chaos_now();

	for (unsigned at = 0; at < CLUSTER_PROCESSES; at++) {
		struct cluster_process *p = &h->proc[at];
		int status;

		if (p->pid && waitpid(p->pid, &status, WNOHANG) == p->pid) {
			p->pid = 0;
			if (WIFSIGNALED(status))
				trouble(h, "%s died of signal %d", name_of(at), WTERMSIG(status));
			else
				trouble(h, "%s ended with status %d", name_of(at),
					WEXITSTATUS(status));
		}
		if (!p->pid && p->restart_at && now >= p->restart_at && h->supervised)
			start(h, at <= CHAOS_PEOPLE ? CLUSTER_MEDIAD : CLUSTER_CONTROL,
			      (enum chaos_who)((at - 1) % CHAOS_PEOPLE));
	}
}

void cluster_kill(struct cluster *h, enum cluster_program what, enum chaos_who who)
{
	struct cluster_process *p = &h->proc[cluster_index(what, who)];

	if (!p->pid)
		return;
	kill(p->pid, SIGKILL);
	waitpid(p->pid, NULL, 0);
	p->pid = 0;
	p->frozen = false;
	p->restart_at = chaos_now() + RESTART_MS * NS_PER_MS;
}

bool cluster_kill_decoder(struct cluster *h, enum chaos_who who, bool all)
{
	pid_t mediad = h->proc[cluster_index(CLUSTER_MEDIAD, who)].pid;
	pid_t decoderd = mediad ? children_oldest(mediad, 0) : 0;
	pid_t parent = decoderd ? children_oldest(decoderd, 0) : 0;
	pid_t victim = parent && !all ? children_oldest(parent, REPLACED_AFTER_MS) : parent;

	return victim && kill(victim, SIGKILL) == 0;
}

void cluster_freeze(struct cluster *h, enum cluster_program what, enum chaos_who who, bool on)
{
	struct cluster_process *p = &h->proc[cluster_index(what, who)];

	if (p->pid && p->frozen != on)
		kill(p->pid, on ? SIGSTOP : SIGCONT);
	p->frozen = p->pid && on;
}

void cluster_set_wall_clock(struct cluster *h, long long seconds)
{
	int64_t offset = seconds;
	int fd = open(h->clock, O_WRONLY);

	if (fd < 0 || pwrite(fd, &offset, sizeof offset, 0) != sizeof offset)
		trouble(h, "%s: %s", h->clock, strerror(errno));
	if (fd >= 0)
		close(fd);
}

int cluster_wait(struct cluster *h, enum cluster_program what, enum chaos_who who, unsigned ms)
{
	struct cluster_process *p = &h->proc[cluster_index(what, who)];
	uint64_t until = chaos_now() + ms * NS_PER_MS;
	int status = 0;
	pid_t pid = p->pid;

	p->pid = 0;
	p->restart_at = 0;
	if (!pid)
		return -1;
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (chaos_now() > until) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
			return -1;
		}
		chaos_sleep(5);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int cluster_end(struct cluster *h, enum cluster_program what, enum chaos_who who, unsigned ms)
{
	const struct cluster_process *p = &h->proc[cluster_index(what, who)];

	if (p->pid)
		kill(p->pid, SIGTERM);
	return cluster_wait(h, what, who, ms);
}

bool cluster_journal_full(const struct cluster *h)
{
	struct stat st;

	return stat(h->journal, &st) == 0 && (uint64_t)st.st_size >= (uint64_t)h->journal_kb * 1024;
}

void cluster_remove_folder(const char *folder)
{
	struct dirent *e;
	char path[400];
	DIR *d = opendir(folder);

	while (d && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
		if (unlink(path) && errno == EISDIR)
			cluster_remove_folder(path);
	}
	if (d)
		closedir(d);
	rmdir(folder);
}

void cluster_close(struct cluster *h, bool keep)
{
	for (unsigned at = CLUSTER_PROCESSES; at-- > 0;) {
		struct cluster_process *p = &h->proc[at];

		p->restart_at = 0;
		if (!p->pid)
			continue;
		/* guildd removes its certificates itself. */
		if (at == 0) {
			kill(p->pid, SIGCONT);
			cluster_end(h, CLUSTER_SERVER, CHAOS_ALL, 2000);
			continue;
		}
		kill(p->pid, SIGKILL);
		waitpid(p->pid, NULL, 0);
		p->pid = 0;
	}
	if (h->folder[0] && !keep)
		cluster_remove_folder(h->folder);
	if (h->state && h->state != MAP_FAILED)
		munmap(h->state, sizeof *h->state * CHAOS_PEOPLE);
}

/* ---- guildd's control API ---- */

static bool write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t k = send(fd, p, n, MSG_NOSIGNAL);

		if (k <= 0)
			return false;
		p += k;
		n -= (size_t)k;
	}
	return true;
}

static char *exchange(const struct cluster *h, const char *request, size_t len)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)h->port),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct timeval limit = {ASK_MS / 1000, 0};
	char *reply = malloc(REPLY_MAX);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t n = 0;
	ssize_t k = -1;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
	if (reply && connect(fd, (struct sockaddr *)&a, sizeof a) == 0 &&
	    write_all(fd, request, len))
		while (n + 1 < REPLY_MAX && (k = recv(fd, reply + n, REPLY_MAX - 1 - n, 0)) > 0)
			n += (size_t)k;
	close(fd);
	if (k != 0) {
		free(reply);
		return NULL;
	}
	reply[n] = '\0';
	return reply;
}

bool cluster_request(struct cluster *h, json_t **out, const char *path, const char *fmt, ...)
{
	char body[512] = "", request[1024], *reply, *at;
	va_list ap;
	int n, status = 0;

	if (fmt) {
		va_start(ap, fmt);
		vsnprintf(body, sizeof body, fmt, ap);
		va_end(ap);
	}
	n = snprintf(request, sizeof request,
		     "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: "
		     "application/json\r\n"
		     "Content-Length: %zu\r\n\r\n%s",
		     fmt ? "POST" : "GET", path, strlen(body), body);
	reply = exchange(h, request, (size_t)n);
	at = reply ? strstr(reply, "\r\n\r\n") : NULL;
	if (at)
		sscanf(reply, "HTTP/1.1 %d", &status);
	if (out)
		*out = at ? json_loads(at + 4, JSON_DECODE_ANY, NULL) : NULL;
	free(reply);
	return status >= 200 && status < 300;
}

/* ---- as another control ---- */

static bool put_hello(int fd, uint64_t user, uint64_t epoch)
{
	struct media_msg msg = {.type = MEDIA_HELLO};
	uint8_t buf[FRAME_HEAD + 512];
	size_t len;

	msg.hello = (struct media_hello){.major = MEDIA_MAJOR,
					 .minor = MEDIA_MINOR,
					 .build = slice_str("chaos"),
					 .instance = 1,
					 .epoch = epoch,
					 .user = user};
	if (media_pack(&msg, MEDIA_MINOR, buf + FRAME_HEAD, sizeof buf - FRAME_HEAD, &len))
		return false;
	frame_head(buf, len);
	return write_all(fd, (char *)buf, FRAME_HEAD + len);
}

static int read_synced(int fd)
{
	static uint8_t buf[1 << 17];
	size_t n = 0, len;
	const uint8_t *body;
	struct media_msg msg;
	ssize_t k;
	long used;

	while (n < sizeof buf && (k = recv(fd, buf + n, sizeof buf - n, 0)) > 0) {
		n += (size_t)k;
		while ((used = frame_cut(buf, n, MEDIA_MAX_FRAME, &body, &len)) > 0) {
			if (media_unpack(&msg, MEDIA_SIDE_MEDIAD, body, len) == 0 &&
			    msg.type == MEDIA_SYNCED)
				return (int)msg.synced.calls;
			memmove(buf, buf + used, n - (size_t)used);
			n -= (size_t)used;
		}
	}
	return -1;
}

int cluster_count_calls(struct cluster *h, enum chaos_who who)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct timeval limit = {3, 0};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), calls = -1;

	socket_of(h, who, a.sun_path, sizeof a.sun_path);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	/* An epoch that no control of the cluster will ever have, nor a real one: those count from
	 * the wall clock. */
	if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0 &&
	    put_hello(fd, chaos_user[who], UINT64_MAX - 1))
		calls = read_synced(fd);
	close(fd);
	return calls;
}
