package control_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/fsck"
)

// fsckOf returns what a check finds.
func fsckOf(t *testing.T, s *control.Store, repair bool) (found []fsck.Finding) {
	t.Helper()
	ok(t, s.Check(t.Context(), repair, func(f fsck.Finding) { found = append(found, f) }))
	return found
}

// filled makes a store with some of everything, and returns its path.
func filled(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "control.db")
	s := openAt(t, path)
	all := randomURDs(rand.New(rand.NewPCG(3, 4)), 30)
	put(t, s, all...)
	ok(t, s.Delete(t.Context(), "u7"))
	ok(t, s.CheckNow(t.Context(), "u3"))
	for n := range 30 {
		a := aci(n)
		a.UpdateTime = a.UpdateTime.Add(123456789)
		putACIs(t, s, a)
	}
	_, err := s.Take(t.Context(), "andreas")
	ok(t, err)
	_, err = s.Trim(t.Context(), time.Now().Add(time.Hour))
	ok(t, err)
	_, err = s.Expire(t.Context(), time.Unix(1e9+10, 0))
	ok(t, err)
	ok(t, s.SetQuota(t.Context(), "eleni", 4))
	ok(t, s.Close())
	return path
}

func TestASoundStoreHasNoFindings(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"new": filepath.Join(t.TempDir(), "new.db"), "filled": filled(t), "of the first version": golden(t, 1)} {
		s := openAt(t, path)
		before := now(t, s)
		for _, repair := range []bool{false, true} {
			if found := fsckOf(t, s, repair); len(found) > 0 {
				t.Errorf("%s: %v", name, found)
			}
		}
		if now(t, s) != before {
			t.Errorf("%s: the check changed it", name)
		}
	}
}

func TestEveryDamageIsFoundAndRepaired(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	for name, c := range map[string]struct {
		damage string // statements
		kind   string
		urds   int // that are lost
		acis   int
	}{
		"owner column":            {"UPDATE urd SET owner = 'x' WHERE id = 'u3'", "URD other than its XML", 0, 0},
		"id column":               {"UPDATE urd SET id = 'x' WHERE id = 'u3'", "URD other than its XML", 0, 0},
		"host column":             {"UPDATE urd SET host = 'x' WHERE id = 'u3'", "URD other than its XML", 0, 0},
		"node table":              {"UPDATE urd SET nodes = x'00' WHERE n = 5", "URD other than its XML", 0, 0},
		"another's node table":    {"UPDATE urd SET nodes = (SELECT nodes FROM urd WHERE n = 6) WHERE n = 5", "URD other than its XML", 0, 0},
		"no node tables":          {"UPDATE urd SET nodes = x''", "URD other than its XML", 0, 0},
		"a keyword too many":      {"INSERT INTO keyword VALUES ('nothing', 3)", "URD other than its XML", 0, 0},
		"no keywords":             {"DELETE FROM keyword", "URD other than its XML", 0, 0},
		"damaged XML":             {"UPDATE urd_xml SET xml = x'3c75' WHERE n = 4", "unreadable URD", 0, 0},
		"no XML":                  {"DELETE FROM urd_xml", "unreadable URD", 0, 0},
		"damaged in both forms":   {"UPDATE urd_xml SET xml = x'3c75' WHERE n = 4; UPDATE urd SET nodes = x'' WHERE n = 4", "unreadable URD", 1, 0},
		"an id that is another":   {"UPDATE urd_xml SET xml = (SELECT xml FROM urd_xml WHERE n = 5) WHERE n = 4", "URD other than its XML", 1, 0},
		"orphan XML":              {"INSERT INTO urd_xml VALUES (999, x'')", "orphan XML", 0, 0},
		"orphan keyword":          {"INSERT INTO keyword VALUES ('ibm', 999)", "orphan keyword", 0, 0},
		"removed and there":       {"INSERT INTO removed VALUES ('u3', 1000)", "URD both stored and removed", 0, 0},
		"revision behind":         {"UPDATE counter SET value = 2 WHERE name = 'revision'", "counter behind", 0, 0},
		"checks behind":           {"UPDATE counter SET value = 0 WHERE name = 'checks'", "counter behind", 0, 0},
		"no counters":             {"DELETE FROM counter", "missing counter", 0, 0},
		"revision twice":          {"UPDATE urd SET revision = 5, interest = 1", "repeated revision", 0, 0},
		"interest ahead":          {"UPDATE urd SET interest = 999 WHERE id = 'u3'", "interest newer than its URD", 0, 0},
		"ACI column":              {"UPDATE aci SET version = 9 WHERE id = 'aci11'", "ACI other than its XML", 0, 0},
		"ACI nodes":               {"UPDATE aci SET nodes = x'' WHERE id = 'aci11'", "ACI other than its XML", 0, 0},
		"expired and waiting":     {"UPDATE aci SET retrieved = 0 WHERE id = 'aci1'", "ACI other than its XML", 0, 0},
		"damaged ACI":             {"UPDATE aci SET xml = x'' WHERE id = 'aci11'", "unreadable ACI", 0, 1},
		"trimmed and there":       {"INSERT INTO trimmed (id) VALUES ('aci11')", "ACI both stored and trimmed", 0, 0},
		"fingerprints of nothing": {"INSERT INTO shown VALUES (999, 1, 1, 1, 1)", "orphan fingerprints", 0, 0},
		"a mirror of nothing":     {"INSERT INTO mirror VALUES (1, 'x', 999, 'http://a.example/', 1)", "orphan mirror", 0, 0},
		"a mirror of its own":     {"INSERT INTO mirror VALUES (1, 'aci11', 11, 'http://a.example/', 1)", "ACI both stored and listed as a mirror", 0, 0},
		"sequence":                {"UPDATE sqlite_sequence SET seq = 1 WHERE name = 'aci'", "sequence behind", 0, 0},
		"follower too far":        {"INSERT INTO cursor VALUES ('mail/acis', 31)", "follower beyond the end", 0, 0},
		"no index":                {"DROP INDEX urd_owner", "half-applied migration", 0, 0},
		"another index":           {"DROP INDEX urd_owner; CREATE INDEX urd_owner ON urd (uri)", "half-applied migration", 0, 0},
		"no table":                {"DROP TABLE urd_xml", "half-applied migration", 0, 0},
		"a table left over": {"CREATE TABLE urd_1 (id TEXT, xml BLOB); INSERT INTO urd_1 SELECT id, xml FROM urd JOIN urd_xml USING (n); DELETE FROM urd WHERE id = 'u3'; DELETE FROM urd_xml WHERE n = 4; DELETE FROM keyword WHERE urd = 4",
			"half-applied migration", 0, 0},
		"an index without its rows": {"DROP INDEX urd_owner; CREATE INDEX urd_owner ON urd (owner) WHERE n < 0; PRAGMA writable_schema = ON; " +
			"UPDATE sqlite_schema SET sql = 'CREATE INDEX urd_owner    ON urd (owner)' WHERE name = 'urd_owner'; PRAGMA writable_schema = RESET",
			"damaged database", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filled(t)
			execute(t, path, c.damage)
			s := openAt(t, path)
			for _, repair := range []bool{false, true} {
				found := fsckOf(t, s, repair)
				if !slices.ContainsFunc(found, func(f fsck.Finding) bool { return f.Kind == c.kind && f.Store == "control" }) {
					t.Errorf("repair %v: found %v, want %s", repair, found, c.kind)
				}
				for _, f := range found {
					if f.Repaired != repair {
						t.Errorf("repair %v: %v", repair, f)
					}
				}
			}
			if found := fsckOf(t, s, false); len(found) > 0 {
				t.Errorf("after the repair: %v", found)
			}
			if got := len(gather(t, s.All(t.Context()))); got != 29-c.urds {
				t.Errorf("%d URDs are left", got)
			}
			if got := len(gather(t, s.ACIs(t.Context(), control.Filter{}))); got != 20-c.acis {
				t.Errorf("%d ACIs are left", got)
			}
			if got := len(gather(t, s.DeadLetters(t.Context()))); got != c.urds+c.acis {
				t.Errorf("%d are set aside", got)
			}
			var seen []int64
			for r, err := range s.Revised(t.Context(), 0) {
				ok(t, err)
				seen = append(seen, r.Number)
			}
			if len(slices.Compact(seen)) != len(seen) {
				t.Errorf("revisions %v", seen)
			}
		})
	}
}

func TestAMigrationThatWasAppliedInPartIsFinished(t *testing.T) {
	t.Parallel()
	// The tables are of the last version, and the database claims that they are of the first.
	path := filled(t)
	execute(t, path, "PRAGMA user_version = 1")
	s := openAt(t, path)
	if found := fsckOf(t, s, false); len(found) > 0 || len(gather(t, s.All(t.Context()))) != 29 {
		t.Errorf("found %v", found)
	}
	// And the other way round.
	path = golden(t, 1)
	execute(t, path, "PRAGMA user_version = 8")
	s = openAt(t, path)
	found := fsckOf(t, s, true)
	if len(found) != 1 || !found[0].Repaired || found[0].Kind != "half-applied migration" {
		t.Errorf("found %v", found)
	}
	if found := fsckOf(t, s, false); len(found) > 0 || len(gather(t, s.All(t.Context()))) == 0 {
		t.Errorf("after the repair: %v", found)
	}
}

func TestAReadOnlyStoreIsCheckedAndNotRepaired(t *testing.T) {
	t.Parallel()
	path := filled(t)
	execute(t, path, "DELETE FROM keyword")
	s, err := control.Open(path, control.Options{ReadOnly: true})
	ok(t, err)
	defer s.Close()
	if found := fsckOf(t, s, false); len(found) == 0 {
		t.Error("nothing was found")
	}
	if err := s.Check(t.Context(), true, func(fsck.Finding) {}); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "repair") {
		t.Errorf("repairing: %v", err)
	}
}
