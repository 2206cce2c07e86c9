package timezone_test

import (
	"archive/zip"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/timezone"
)

func TestZonesAreThoseOfTheRelease(t *testing.T) {
	t.Parallel()
	names := timezone.Names()
	if !slices.IsSorted(names) || len(names) < 590 {
		t.Errorf("%d names, sorted: %v", len(names), slices.IsSorted(names))
	}
	for _, name := range names {
		if zone, err := timezone.Load(name); err != nil || zone.String() != name {
			t.Errorf("%s: %v, %v", name, zone, err)
		}
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("the zones of the release are not compared:", err)
	}
	if missing := notIn(t, strings.TrimSpace(string(root))+"/lib/time/zoneinfo.zip", names); len(missing) > 0 {
		t.Errorf("zones.txt lacks %v", missing)
	}
}

// notIn returns the files of an archive that are not among names.
func notIn(t *testing.T, archive string, names []string) (missing []string) {
	t.Helper()
	all, err := zip.OpenReader(archive)
	if err != nil {
		t.Skip("the zones of the release are not compared:", err)
	}
	defer all.Close()
	for _, file := range all.File {
		if !strings.HasSuffix(file.Name, "/") && file.Name != "Factory" && !slices.Contains(names, file.Name) {
			missing = append(missing, file.Name)
		}
	}
	return missing
}

func TestWhatIsNoZoneIsRefusedAndMeantForTheNearest(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"athens": "Europe/Athens", "europe/athens": "Europe/Athens", "Europe/Athen": "Europe/Athens", "UTC+2": "Etc/GMT-2", "GMT-05:00": "Etc/GMT+5",
		"Local": "", "": "", "../../passwd": "", "localtime": "", "UTC+99": "",
	} {
		if zone, err := timezone.Load(name); err == nil {
			t.Errorf("%q is the zone %v", name, zone)
		}
		if got := timezone.Nearest(name); got != want {
			t.Errorf("%q is meant for %q, want %q", name, got, want)
		}
	}
}

func TestAnInstantIsTheFirstThatShowsATimeOrTheEndOfTheGap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, shown, want string }{
		{"UTC", "2026-03-29 03:30", "2026-03-29 03:30"},
		{"Europe/Nicosia", "2026-03-29 02:59", "2026-03-29 00:59"},
		{"Europe/Nicosia", "2026-03-29 03:30", "2026-03-29 01:00"}, // from 3:00 to 4:00
		{"Europe/Nicosia", "2026-03-29 04:00", "2026-03-29 01:00"},
		{"Europe/Nicosia", "2026-10-25 03:30", "2026-10-25 00:30"}, // from 4:00 back to 3:00
		{"Europe/Nicosia", "2026-10-25 04:00", "2026-10-25 02:00"},
		{"America/Sao_Paulo", "2018-11-04 00:30", "2018-11-04 03:00"}, // from 0:00 to 1:00
		{"America/Sao_Paulo", "2018-02-17 23:30", "2018-02-18 01:30"}, // from 24:00 back to 23:00
		{"Australia/Lord_Howe", "2026-10-04 02:10", "2026-10-03 15:30"},
		{"Pacific/Apia", "2011-12-30 08:00", "2011-12-30 10:00"}, // a day that is left out
	} {
		zone, err := timezone.Load(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		shown, err := time.Parse("2006-01-02 15:04", c.shown)
		if err != nil {
			t.Fatal(err)
		}
		if got := timezone.Instant(shown, zone).UTC().Format("2006-01-02 15:04"); got != c.want {
			t.Errorf("%s in %s: %s, want %s", c.shown, c.zone, got, c.want)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			_, _ = timezone.Load("Europe/Nicosia")
		}
	})
	b.Run("of the library", func(b *testing.B) {
		for b.Loop() {
			_, _ = time.LoadLocation("Europe/Nicosia")
		}
	})
}
