/* scan KEYWORDS TEXT ROUNDS: finds the keywords, one a line of a file, that stand in a text as whole words.
 * It prints the nanoseconds of compiling and the bytes of the database; the keywords found, one a line; and an
 * empty line. For each line that it then reads it scans the text so many times, and prints the least CPU and
 * wall time of a scan in nanoseconds. */
#include <hs/hs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char *text;
static size_t text_length;
static size_t *lengths; /* of the keywords */
static char *found;     /* by keyword */

static void fail(const char *what) {
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static char *read_file(const char *path, size_t *length) {
	FILE *file = fopen(path, "rb");
	if (!file || fseek(file, 0, SEEK_END)) fail(path);
	*length = ftell(file);
	rewind(file);
	char *content = malloc(*length + 1);
	if (!content || fread(content, 1, *length, file) != *length) fail(path);
	content[*length] = 0;
	fclose(file);
	return content;
}

static long long now(clockid_t clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int in_word(char c) {
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}

static int on_match(unsigned keyword, unsigned long long from, unsigned long long to, unsigned flags, void *context) {
	size_t start = to - lengths[keyword];
	if ((start == 0 || !in_word(text[start - 1])) && (to == text_length || !in_word(text[to]))) found[keyword] = 1;
	return 0;
}

int main(int argc, char **argv) {
	if (argc != 4) fail("usage: scan KEYWORDS TEXT ROUNDS");
	size_t size, count = 0;
	char *keywords = read_file(argv[1], &size);
	text = read_file(argv[2], &text_length);
	for (size_t i = 0; i < size; i++) count += keywords[i] == '\n';
	const char **expressions = calloc(count, sizeof *expressions);
	unsigned *flags = calloc(count, sizeof *flags), *ids = calloc(count, sizeof *ids);
	lengths = calloc(count, sizeof *lengths);
	found = calloc(count, 1);
	size_t n = 0;
	for (char *line = strtok(keywords, "\n"); line; line = strtok(NULL, "\n"), n++) {
		expressions[n] = line;
		lengths[n] = strlen(line);
		ids[n] = n;
	}
	hs_database_t *database = NULL;
	hs_compile_error_t *error = NULL;
	hs_scratch_t *scratch = NULL;
	long long began = now(CLOCK_MONOTONIC);
	if (hs_compile_lit_multi(expressions, flags, ids, lengths, n, HS_MODE_BLOCK, NULL, &database, &error)) fail(error->message);
	long long compiled = now(CLOCK_MONOTONIC) - began;
	size_t bytes;
	if (hs_database_size(database, &bytes) || hs_alloc_scratch(database, &scratch)) fail("no database");
	if (hs_scan(database, text, text_length, 0, scratch, on_match, NULL)) fail("scan");
	printf("%lld %zu\n", compiled, bytes);
	for (size_t i = 0; i < n; i++)
		if (found[i]) puts(expressions[i]);
	puts("");
	fflush(stdout);
	while (getchar() == '\n') {
		long long cpu = 0, wall = 0;
		for (int round = atoi(argv[3]); round > 0; round--) {
			memset(found, 0, n);
			long long cpu_began = now(CLOCK_THREAD_CPUTIME_ID), wall_began = now(CLOCK_MONOTONIC);
			if (hs_scan(database, text, text_length, 0, scratch, on_match, NULL)) fail("scan");
			long long cpu_took = now(CLOCK_THREAD_CPUTIME_ID) - cpu_began, wall_took = now(CLOCK_MONOTONIC) - wall_began;
			if (!cpu || cpu_took < cpu) cpu = cpu_took;
			if (!wall || wall_took < wall) wall = wall_took;
		}
		printf("%lld %lld\n", cpu, wall);
		fflush(stdout);
	}
	return 0;
}
