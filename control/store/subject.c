#include "control/store/subject.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "control/store/ours.h"

enum { PATH_SIZE = 640 };

void subject_key_text(const struct subject_key *key, char out[SUBJECT_KEY_TEXT])
{
	sodium_bin2hex(out, SUBJECT_KEY_TEXT, key->bytes, sizeof key->bytes);
}

int subject_key_parse(const char *text, struct subject_key *out)
{
	struct subject_key key;
	size_t n = 0;

	if (!text || strlen(text) != SUBJECT_KEY_TEXT - 1 ||
	    sodium_hex2bin(key.bytes, sizeof key.bytes, text, strlen(text), NULL, &n, NULL) ||
	    n != sizeof key.bytes)
		return EINVAL;
	*out = key;
	return 0;
}

static int read_key(int fd, struct subject_key *out)
{
	char text[SUBJECT_KEY_TEXT + 1];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st))
		return errno;
	if (!ours_is_private(fd, &st) && !(geteuid() == 0 && S_ISREG(st.st_mode)))
		return EPERM;
	n = read(fd, text, sizeof text - 1);
	if (n < 0)
		return errno;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return subject_key_parse(text, out);
}

/* Another process may make it at the same time: the file that is there first counts. */
static int make_key(const char *path)
{
	char text[SUBJECT_KEY_TEXT], tmp[PATH_SIZE + 16];
	struct subject_key key;
	int fd, err = 0;

	if (getrandom(key.bytes, sizeof key.bytes, 0) != (ssize_t)sizeof key.bytes)
		return EIO;
	subject_key_text(&key, text);
	snprintf(tmp, sizeof tmp, "%s.%ld", path, (long)getpid());
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return errno;
	if (write(fd, text, SUBJECT_KEY_TEXT - 1) != SUBJECT_KEY_TEXT - 1)
		err = errno ? errno : ENOSPC;
	else if (fsync(fd))
		err = errno;
	close(fd);
	if (!err && link(tmp, path) && errno != EEXIST)
		err = errno;
	unlink(tmp);
	return err;
}

int subject_key_find(const char *dir, struct subject_key *out)
{
	char path[PATH_SIZE];
	int fd, err;

	if ((size_t)snprintf(path, sizeof path, "%s/subject-key", dir) >= sizeof path)
		return ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno;
	err = read_key(fd, out);
	close(fd);
	return err;
}

int subject_key_read(const char *dir, struct subject_key *out)
{
	char path[PATH_SIZE];
	int err = subject_key_find(dir, out);

	if (err != ENOENT)
		return err;
	snprintf(path, sizeof path, "%s/subject-key", dir);
	err = make_key(path);
	return err ? err : subject_key_find(dir, out);
}

static void put_id(uint8_t to[8], uint64_t id)
{
	for (unsigned i = 0; i < 8; i++)
		to[i] = (uint8_t)(id >> (56 - 8 * i));
}

void subject_mac_text(const struct subject_key *key, const uint64_t *ids, size_t n,
		      const char *text, char out[SUBJECT_MAC])
{
	uint8_t id[8], mac[crypto_auth_hmacsha256_BYTES];
	crypto_auth_hmacsha256_state state;

	crypto_auth_hmacsha256_init(&state, key->bytes, sizeof key->bytes);
	for (size_t i = 0; i < n; i++) {
		put_id(id, ids[i]);
		crypto_auth_hmacsha256_update(&state, id, sizeof id);
	}
	crypto_auth_hmacsha256_update(&state, (const uint8_t *)text, strlen(text));
	crypto_auth_hmacsha256_final(&state, mac);
	sodium_memzero(&state, sizeof state);
	sodium_bin2hex(out, SUBJECT_MAC, mac, (SUBJECT_MAC - 1) / 2);
}

void subject_mac(const struct subject_key *key, uint64_t user, char out[SUBJECT_MAC])
{
	subject_mac_text(key, &user, 1, "", out);
}
