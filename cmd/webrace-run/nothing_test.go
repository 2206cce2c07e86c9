package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/storecmd"
	"github.com/webrace/webrace/storage/objects"
)

// underDamage is how a command of webrace-store is called on a data directory whose index of documents is damaged, and
// the status that it is to end with. SITE stands for the site's address and OUT for a name that is not taken yet.
type underDamage struct {
	args   string
	status int
}

// storeCommands has every command of webrace-store, in no order that matters: each finds the directory as it was
// damaged. fsck --repair comes in the end, and is no entry.
var storeCommands = map[string]underDamage{
	"account add":     {"zoe", cli.OK},
	"account export":  {"zoe OUT.zip", cli.OK},
	"account link":    {"zoe", cli.OK},
	"account list":    {"", cli.OK},
	"account lock":    {"zoe", cli.OK},
	"account rm":      {"zoe --yes", cli.OK},
	"account unlock":  {"zoe", cli.Failed}, // it is erased
	"aci list":        {"", cli.OK},
	"aci query":       {"/aci", cli.OK},
	"aci take":        {"--owner ann", cli.OK},
	"backup":          {"OUT", cli.Environment},
	"cache cat":       {"SITE/", cli.Environment},
	"cache diff":      {"SITE/", cli.Environment},
	"cache export":    {"--warc OUT", cli.Environment},
	"cache import":    {"WARC", cli.Environment},
	"cache ls":        {"", cli.Environment},
	"cache meta":      {"SITE/", cli.Environment},
	"cache stats":     {"", cli.Environment},
	"cache versions":  {"SITE/", cli.Environment},
	"cluster create":  {"", cli.Usage}, // there is no database
	"cluster import":  {"nowhere", cli.Usage},
	"cluster move":    {"1 --to 0", cli.Usage},
	"cluster skip":    {"1 1", cli.Usage},
	"cluster status":  {"", cli.Usage},
	"control copy":    {"--to OUT-control", cli.OK},
	"dlq list":        {"", cli.OK},
	"dlq purge":       {"--all", cli.OK},
	"dlq replay":      {"--all", cli.OK},
	"dlq show":        {"d1", cli.Failed}, // there is none
	"explain":         {"SITE/ ann", cli.Environment},
	"frontier drop":   {"127.0.0.1", cli.OK},
	"frontier failed": {"", cli.OK},
	"frontier pause":  {"127.0.0.1", cli.OK},
	"frontier resume": {"127.0.0.1", cli.OK},
	"frontier rules":  {"", cli.OK},
	"frontier stats":  {"", cli.OK},
	"fsck":            {"--deep", cli.Failed},
	"gc":              {"--retention 1h --set-aside", cli.Environment},
	"mcp":             {`--call {"tool":"read","arguments":{"url":"SITE/"}}`, cli.Environment},
	"outbox again":    {"--dead", cli.OK},
	"outbox list":     {"", cli.OK},
	"owner budget":    {"ann --alerts 5", cli.OK},
	"owner list":      {"", cli.OK},
	"owner quota":     {"ann 1000", cli.OK},
	"rematch":         {"ann", cli.Environment},
	"restore":         {"nowhere --only objects", cli.Failed},
	"scope add":       {"deny path /x", cli.OK},
	"scope list":      {"", cli.OK},
	"scope rm":        {"deny path /y", cli.Failed}, // there is none
	"search":          {"tea", cli.Environment},
	"secret generate": {"key --kind ed25519", cli.OK},
	"secret grant":    {"bank zoe", cli.Failed}, // there is none
	"secret list":     {"", cli.OK},
	"secret revoke":   {"bank zoe", cli.Failed}, // it is not granted
	"secret rm":       {"bank", cli.Failed},     // there is none
	"secret rotate":   {"", cli.OK},
	"secret set":      {"bank --kind bearer", cli.OK},
	"urd add":         {"--url SITE/other --owner bob", cli.OK},
	"urd check":       {"ann", cli.OK},
	"urd export":      {"", cli.OK},
	"urd import":      {"URDS", cli.OK},
	"urd lint":        {"URDS", cli.OK},
	"urd list":        {"", cli.OK},
	"urd pause":       {"none", cli.Failed}, // there is none
	"urd query":       {"/urd", cli.OK},
	"urd resume":      {"ann", cli.OK},
	"urd rm":          {"none", cli.Failed}, // there is none
	"why":             {"SITE/", cli.Environment},

	"cache screenshot": {"SITE/", cli.Environment},
	"secret directory": {"bank", cli.Failed}, // there is none

	"quads contexts": {"", cli.OK},
	"quads export":   {"", cli.OK},
	"quads import":   {"QUADS", cli.OK},
	"quads query":    {"ASK{}", cli.OK},
	"quads rm":       {"SITE/none", cli.Failed}, // it prints nothing
	"quads search":   {"tea", cli.OK},
	"quads show":     {"SITE/", cli.OK},
	"quads stats":    {"", cli.OK},
}

const oneQuad = `<http://a.example/#tea> <http://www.w3.org/2000/01/rdf-schema#label> "tea" <http://a.example/> .` + "\n"

// storeLeaves lists the commands of webrace-store that do something, by their names below it.
func storeLeaves() []string { return leaves(storecmd.New(nil)) }

// leaves lists the commands of a program that do something.
func leaves(root *cobra.Command) (names []string) {
	var walk func(c *cobra.Command, path string)
	walk = func(c *cobra.Command, path string) {
		if !c.HasSubCommands() {
			names = append(names, strings.TrimSpace(path))
			return
		}
		for _, sub := range c.Commands() {
			walk(sub, path+" "+sub.Name())
		}
	}
	walk(root, "")
	slices.Sort(names)
	return names
}

// indexDamages are what can become of the index of the documents, by what is left of the one that was.
var indexDamages = map[string]func(index, older string) error{
	"lost": func(index, _ string) error { return os.RemoveAll(index) },
	"emptied": func(index, _ string) error {
		if err := os.RemoveAll(index); err != nil {
			return err
		}
		return os.Mkdir(index, 0o700)
	},
	"older": func(index, older string) error {
		if err := os.RemoveAll(index); err != nil {
			return err
		}
		return os.CopyFS(index, os.DirFS(older))
	},
}

// TestNothingIsRemovedByAnyCommand damages the index of the documents, and runs every command of webrace-store and
// a pipeline, as built: those that need documents end with status 3, and every byte of every segment stays. Then
// fsck names the damage, its repair brings all documents back, and the next run goes on.
func TestNothingIsRemovedByAnyCommand(t *testing.T) {
	t.Parallel()
	for _, name := range storeLeaves() {
		if _, known := storeCommands[name]; !known {
			t.Errorf("webrace-store %s is not tried: give it arguments and a status in storeCommands", name)
		}
	}
	sound := newWorld(t)
	links := []string{"all about tea"}
	for n := range 8 {
		path := fmt.Sprint("/", n)
		sound.page(path, "page "+path+" speaks of tea")
		links = append(links, path)
	}
	sound.page("/", links...)
	asked := these(sound.asks("ann", "/", depth(2), about("tea")))
	sound.run(asked)
	older := filepath.Join(t.TempDir(), "older")
	if err := os.CopyFS(older, os.DirFS(filepath.Join(sound.data, "objects", "index"))); err != nil {
		t.Fatal(err)
	}
	sound.page("/3", "page 3 speaks of green tea")
	sound.page("/4", "page 4 speaks of black tea")
	sound.run(asked, askAll...)
	warc := filepath.Join(t.TempDir(), "all.warc.gz")
	urds := filepath.Join(t.TempDir(), "urds.xml")
	sound.mustStore(cli.OK, "cache", "export", "--warc", warc)
	writeFile(t, urds, sound.mustStore(cli.OK, "urd", "export"))
	quads := filepath.Join(t.TempDir(), "quads.nq")
	writeFile(t, quads, oneQuad)
	documents := sound.mustStore(cli.OK, "cache", "ls")
	if strings.Count(documents, "\n") != 9 {
		t.Fatalf("stored:\n%s", documents)
	}
	for name, damage := range indexDamages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &world{site: sound.site, t: t, data: filepath.Join(t.TempDir(), "data")}
			if err := os.CopyFS(w.data, os.DirFS(sound.data)); err != nil {
				t.Fatal(err)
			}
			if err := damage(filepath.Join(w.data, "objects", "index"), older); err != nil {
				t.Fatal(err)
			}
			w.mustStayUnderEveryCommand(name == "older", strings.NewReplacer("SITE", w.URL, "WARC", warc, "URDS", urds, "QUADS", quads, "OUT", filepath.Join(t.TempDir(), "out")))
			w.mustComeBack(documents)
		})
	}
}

// segmentDamages are what can become of a segment, or of a file of the index, without an index being lost.
var segmentDamages = map[string]func(content []byte) []byte{
	"cut":     func(content []byte) []byte { return content[:len(content)*2/3] },
	"emptied": func([]byte) []byte { return nil },
	"flipped": func(content []byte) []byte {
		content[len(content)/2] ^= 0x40
		return content
	},
}

// TestNoCommandRemovesBytesOfADamagedFile damages the last segment and the largest file of the index, each in turn,
// and runs every command of webrace-store and a pipeline: every byte that the damage has left stays, or is set
// aside.
func TestNoCommandRemovesBytesOfADamagedFile(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs every command many times: not in short mode")
	}
	sound := newWorld(t)
	for n := range 8 {
		sound.page(fmt.Sprint("/", n), fmt.Sprint("page ", n, " speaks of tea"))
	}
	sound.page("/", "all about tea", "/0", "/1", "/2", "/3", "/4", "/5", "/6", "/7")
	asked := these(sound.asks("ann", "/", depth(2), about("tea")))
	sound.run(asked)
	warc := filepath.Join(t.TempDir(), "all.warc.gz")
	urds := filepath.Join(t.TempDir(), "urds.xml")
	sound.mustStore(cli.OK, "cache", "export", "--warc", warc)
	writeFile(t, urds, sound.mustStore(cli.OK, "urd", "export"))
	quads := filepath.Join(t.TempDir(), "quads.nq")
	writeFile(t, quads, oneQuad)
	for _, pattern := range []string{"seg-*", filepath.Join("index", "*")} {
		for name, damage := range segmentDamages {
			t.Run(filepath.ToSlash(pattern)+" "+name, func(t *testing.T) {
				t.Parallel()
				w := &world{site: sound.site, t: t, data: filepath.Join(t.TempDir(), "data")}
				if err := os.CopyFS(w.data, os.DirFS(sound.data)); err != nil {
					t.Fatal(err)
				}
				path := largest(t, filepath.Join(w.data, "objects", pattern))
				content, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				writeFile(t, path, string(damage(content)))
				w.mustKeepSegments(strings.NewReplacer("SITE", w.URL, "WARC", warc, "URDS", urds, "QUADS", quads, "OUT", filepath.Join(t.TempDir(), "out")))
			})
		}
	}
}

// largest returns the largest file of a pattern.
func largest(t *testing.T, pattern string) (path string) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no %s: %v", pattern, err)
	}
	size := func(path string) int64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	return slices.MaxFunc(paths, func(x, y string) int { return cmp.Compare(size(x), size(y)) })
}

// mustKeepSegments runs all commands and a pipeline, however they end.
func (w *world) mustKeepSegments(fill *strings.Replacer) {
	w.t.Helper()
	segments := w.segments()
	for _, name := range append(slices.Sorted(maps.Keys(storeCommands)), "fsck --repair") {
		args := append(strings.Fields(name), strings.Fields(fill.Replace(storeCommands[name].args))...)
		said, status := w.store(args...)
		if status < cli.OK || status > cli.Environment || strings.Contains(said, "panic") {
			w.t.Errorf("webrace-store %s: status %d: %s", name, status, said)
		}
		w.mustStillHave("webrace-store "+name, segments)
	}
	run := newCommand(w.t, append([]string{"webrace", "--data", w.data, "--set", "fetch.allow_networks=loopback"}, askAll...)...)
	run.begin()
	run.mustExit(cli.OK)
	w.mustStillHave("webrace-run webrace", segments)
	w.mustStore(cli.OK, "fsck", "--deep")
}

// mustStayUnderEveryCommand runs all commands and a pipeline on the damaged directory.
func (w *world) mustStayUnderEveryCommand(indexThere bool, fill *strings.Replacer) {
	w.t.Helper()
	before := w.objectFiles(indexThere)
	mustHold := func(command string) {
		w.t.Helper()
		if now := w.objectFiles(indexThere); !maps.Equal(now, before) {
			w.t.Fatalf("%s has changed the damaged object cache: it held %q, and holds %q", command, slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(now)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(storeCommands)) {
		c := storeCommands[name]
		args := append(strings.Fields(name), strings.Fields(fill.Replace(c.args))...)
		w.mustStore(c.status, args...)
		mustHold("webrace-store " + name)
	}
	run := newCommand(w.t, "webrace", "--data", w.data, "--set", "fetch.allow_networks=loopback")
	run.begin()
	run.mustExit(cli.Environment)
	mustSay(w.t, run.said(), "webrace-store fsck --repair")
	mustHold("webrace-run webrace")
}

// mustComeBack repairs the directory, and goes on with it.
func (w *world) mustComeBack(documents string) {
	w.t.Helper()
	segments := w.segments()
	mustSay(w.t, w.mustStore(cli.Failed, "fsck"), "objects: ")
	w.mustStore(cli.OK, "fsck", "--repair")
	w.mustStillHave("fsck --repair", segments)
	if got := w.mustStore(cli.OK, "cache", "ls"); got != documents {
		w.t.Errorf("after the repair:\n%swant\n%s", got, documents)
	}
	w.mustStore(cli.OK, "fsck", "--deep")
	run := newCommand(w.t, append([]string{"webrace", "--data", w.data, "--set", "fetch.allow_networks=loopback"}, askAll...)...)
	run.begin()
	run.mustExit(cli.OK)
	w.mustStillHave("the run after it", segments)
	w.mustStore(cli.OK, "fsck", "--deep")
	if got := w.mustStore(cli.OK, "cache", "ls"); got != documents {
		w.t.Errorf("after the run that went on:\n%swant\n%s", got, documents)
	}
}

// mustStore runs webrace-store, and returns what it writes to its standard output.
func (w *world) mustStore(status int, args ...string) string {
	w.t.Helper()
	var said, complaints strings.Builder
	if got := w.runStore(&said, &complaints, args...); got != status {
		w.t.Errorf("webrace-store %s: status %d, want %d\n%s%s", strings.Join(args, " "), got, status, &said, &complaints)
	}
	if status == cli.Environment && !strings.Contains(complaints.String(), "webrace-store fsck --repair") {
		w.t.Errorf("webrace-store %s does not say what mends the index:\n%s", strings.Join(args, " "), &complaints)
	}
	return said.String()
}

// objectFiles returns the sums of all files of the object cache, but of those of an index that is there: its database
// moves its own log to other files when it is opened, before it can be known to be older.
func (w *world) objectFiles(indexThere bool) map[string][sha256.Size]byte {
	w.t.Helper()
	sums := sumsOf(w.t, filepath.Join(w.data, "objects"))
	if indexThere {
		maps.DeleteFunc(sums, func(name string, _ [sha256.Size]byte) bool {
			return strings.HasPrefix(filepath.ToSlash(name), "/index/")
		})
	}
	return sums
}

// segments returns the content of all segments, and of what was set aside of them.
func (w *world) segments() map[string]string {
	w.t.Helper()
	paths, err := filepath.Glob(filepath.Join(w.data, "objects", "seg-*"))
	if err != nil || len(paths) == 0 {
		w.t.Fatalf("no segments: %v", err)
	}
	all := map[string]string{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			w.t.Fatal(err)
		}
		all[filepath.Base(path)] = string(content)
	}
	return all
}

// mustStillHave wants each segment to begin with what it was, or to be set aside as it was, whole or from some byte on.
func (w *world) mustStillHave(command string, before map[string]string) {
	w.t.Helper()
	now := w.segments()
	for name, content := range before {
		kept := strings.HasPrefix(now[name], content) || now[name+".set-aside"] == content
		for other, end := range now {
			var at int
			if n, _ := fmt.Sscanf(other, name+".at-%d.set-aside", &at); n == 1 && at <= len(content) {
				kept = kept || strings.HasPrefix(now[name], content[:at]) && end == content[at:]
			}
		}
		if !kept {
			w.t.Fatalf("%s: bytes of %s are gone", command, name)
		}
	}
}

// sumsOf returns the sums of all files below a directory, but of the locks.
func sumsOf(t *testing.T, dir string) map[string][sha256.Size]byte {
	t.Helper()
	sums := map[string][sha256.Size]byte{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.EqualFold(e.Name(), "lock") {
			return err
		}
		content, err := os.ReadFile(path)
		sums[strings.TrimPrefix(path, dir)] = sha256.Sum256(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

// TestSearchAndRematchWriteNothing wants a search and a rematch to leave every file of the data directory as it was.
func TestSearchAndRematchWriteNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "all about tea")
	w.run(these(w.asks("ann", "/", about("tea"))))
	if _, complaints, err := webraceRun("search", "--data", w.data); err != nil {
		t.Fatal(err, complaints)
	}
	before := sumsOf(t, w.data)
	mustSay(t, w.mustStore(cli.OK, "search", "tea"), w.URL)
	w.mustStore(cli.OK, "search", "coffee")
	mustSay(t, w.mustStore(cli.OK, "rematch", "ann"), w.URL)
	if now := sumsOf(t, w.data); !maps.Equal(now, before) {
		for name := range now {
			if now[name] != before[name] {
				t.Errorf("%s is new, or changed", name)
			}
		}
		t.Errorf("there were %d files, and are %d", len(before), len(now))
	}
}

// TestASearchAfterAKilledCollectionFindsNothingThatWasRemoved ends a collection between the removal of versions and
// that of their words, as kill -9 would: the search brings the index up to date, and reports that, once.
func TestASearchAfterAKilledCollectionFindsNothingThatWasRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "all about tea")
	w.run(these(w.asks("ann", "/", about("tea"))))
	if _, complaints, err := webraceRun("search", "--data", w.data); err != nil {
		t.Fatal(err, complaints)
	}
	dir := w.open()
	_, documents := stores(t, dir)
	killed := errors.New("killed")
	_, err := documents.Collect(t.Context(), objects.CollectOptions{
		Verdict: func(_ context.Context, versions []objects.Version) ([]objects.Verdict, error) {
			return slices.Repeat([]objects.Verdict{objects.Remove}, len(versions)), nil
		},
		Removed: func([]string) error { return killed },
	})
	if !errors.Is(err, killed) {
		t.Fatalf("collected: %v", err)
	}
	if err := dir.Close(); err != nil {
		t.Fatal(err)
	}
	const notice = "the full-text index is brought up to date first"
	said, status := w.store("search", "tea")
	if mustSay(t, said, notice); status != cli.OK || strings.Contains(said, w.URL) {
		t.Errorf("status %d: %s", status, said)
	}
	if said, status = w.store("search", "tea"); status != cli.OK || strings.Contains(said, notice) {
		t.Errorf("the second time, status %d: %s", status, said)
	}
}
